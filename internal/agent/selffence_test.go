package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// fencing is a host whose primary fences itself.
type fencing struct {
	*host
	fenced   []time.Time
	fenceErr error
	limit    time.Duration
	vows     []string
	kept     *Promise
	due      []time.Time // of each vow that was kept
	forgoes  bool        // self-fencing is not declared any more
}

func (f *fencing) Keep(p Promise) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vowed("kept")
	f.kept, f.due = &p, append(f.due, time.Now().Add(p.Left))
	return nil
}

func (f *fencing) Lift() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vowed("lifted")
	f.kept = nil
	return nil
}

func (f *fencing) Kept() (*Promise, error) { return f.kept, nil }

// vowed notes what became of the vow, where that is new.
func (f *fencing) vowed(what string) {
	if n := len(f.vows); n == 0 || f.vows[n-1] != what {
		f.vows = append(f.vows, what)
	}
}

func (f *fencing) ReadProbe(ctx context.Context, group, node string) (statetable.Probe, error) {
	if f.reach(ctx); ctx.Err() != nil {
		return statetable.Probe{}, context.Cause(ctx)
	}
	p, err := f.host.ReadProbe(ctx, group, node)
	p.SelfFencing = !f.forgoes
	return p, err
}

func (f *fencing) Fence(_ context.Context, _ map[string]string, limit time.Duration) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fenced, f.limit = append(f.fenced, time.Now()), limit
	if f.fenceErr != nil {
		return "", f.fenceErr
	}
	f.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown, Role: failover.RolePrimary}
	return "stopped in order", nil
}

func (f *fencing) agent() *Agent {
	a := f.host.agent("a")
	a.Record, a.Database, a.Vow, a.Watchdog = f, f, f, 0
	return a
}

// TestFencesItself: a lease of 6 s that is not renewed any more ends the
// database before another node may take it, and nothing else does.
func TestFencesItself(t *testing.T) {
	const failsAt = 31 * time.Second
	none := failover.Observation{Answer: failover.Answered, Database: failover.DatabaseActive, Role: failover.RoleStandby}
	tests := []struct {
		name   string
		change func(*fencing)
		fences bool
		gives  bool // its vow up, with no fence
	}{
		{"healthy", func(*fencing) {}, false, false},
		{"the record can't be reached", func(f *fencing) { f.recordErr = errors.New("no route") }, true, false},
		{"a takeover sealed the lease", func(f *fencing) { f.lease.Sealed = true }, true, false},
		{"the database hangs", func(f *fencing) {
			f.probe = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		}, true, false},
		{"it is fenced by the control plane", func(f *fencing) { f.host.fenced = true }, true, false},
		{"its log waits for its standby (R4)", func(f *fencing) { f.view.WaitsForStandby = true }, false, false},
		{"it was stopped in order (R6)", func(f *fencing) {
			f.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown, StoppedInOrder: "patch"}
		}, false, true},
		{"its agent can't measure (R6)", func(f *fencing) {
			f.probe = func(context.Context) error { return setupError{"no table", "create it"} }
		}, false, true},
		{"it became a standby", func(f *fencing) { f.view, f.lease.Sealed = none, true }, false, true},
		{"its role is moved in order", func(f *fencing) {
			f.lease.Sealed, f.operation = true, &failover.Operation{ID: "op", Kind: failover.Switchover}
		}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fencing{host: leasedHost()}
				f.after(failsAt, func() { tt.change(f) })
				run(t, f.agent(), 90*time.Second)
				wants := "kept"
				if tt.fences || tt.gives {
					wants = "kept lifted"
				}
				if vows := strings.Join(f.vows, " "); vows != wants {
					t.Errorf("vows %s, want %s", vows, wants)
				}
				if !tt.fences {
					if len(f.fenced) > 0 {
						t.Errorf("fenced at %v", f.fenced)
					}
					return
				}
				if len(f.fenced) != 1 {
					t.Fatalf("fenced %d times, want once", len(f.fenced))
				}
				last := f.renewals[len(f.renewals)-1].at
				if took := f.fenced[0].Sub(last) + f.limit; took >= f.duration-failover.DefaultDrift {
					t.Errorf("fenced %s after the last renewal at the latest, and the lease lasts %s", took, f.duration)
				}
			})
		})
	}
}

// An agent that starts knows nothing of an earlier lease: a primary that gets
// none is fenced, too.
func TestFencesItselfAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fencing{host: leasedHost()}
		f.lease = failover.Lease{Holder: "a", Epoch: 7, Counter: 9, Sealed: true}
		began := time.Now()
		run(t, f.agent(), time.Minute)
		if len(f.fenced) != 1 || f.fenced[0].Sub(began) > f.duration {
			t.Errorf("fenced at %v, begun at %s", f.fenced, began)
		}
	})
}

func TestFenceIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fencing{host: leasedHost(), fenceErr: errors.New("process 7 is still there")}
		f.after(20*time.Second, func() { f.recordErr = errors.New("no route") })
		a := f.agent()
		run(t, a, time.Minute)
		if len(f.fenced) < 10 {
			t.Errorf("tried %d times", len(f.fenced))
		}
	})
}

// TestUnsafeSelfFence: what could leave two writers does not start.
func TestUnsafeSelfFence(t *testing.T) {
	tests := []struct {
		name   string
		change func(*fencing, *Agent)
		says   string
	}{
		{"a hung agent would be killed too late", func(_ *fencing, a *Agent) { a.Watchdog = 30 * time.Second }, "WatchdogSec of its unit, which is 30s"},
		{"no time for two renewals", func(f *fencing, _ *Agent) { f.duration = 5 * time.Second }, "one lost renewal would stop a healthy database"},
		{"an engine that can't", func(f *fencing, a *Agent) { a.Database = f.host }, "self_fencing = false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fencing{host: leasedHost()}
				a := f.agent()
				tt.change(f, a)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := a.Run(ctx); err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("Run = %v, want %q", err, tt.says)
				}
			})
		})
	}
}

func TestChoosesTheDatabaseOfTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		a := h.agent("a")
		a.Database = nil
		asked := []string{}
		a.Open = func(engine string) (Database, error) {
			asked = append(asked, engine)
			return h, nil
		}
		run(t, a, 30*time.Second)
		if len(asked) != 1 || h.probes == 0 {
			t.Errorf("opened %q, %d probes", asked, h.probes)
		}
		b := h.agent("a")
		b.Database, b.Open = nil, func(engine string) (Database, error) { return nil, errors.New("no engine \"mysql\"") }
		if err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "mysql") {
			t.Errorf("an unknown engine: %v", err)
		}
	})
}
