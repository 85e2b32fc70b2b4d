package agent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// windowedHost is a primary whose peer window of 120 s moves on with every
// heartbeat while it hears its standby.
func windowedHost() *host {
	h := leasedHost()
	h.window = 120 * time.Second
	h.hears = true
	return h
}

// loses cuts the link to the standby: the window stays where it is, and
// commits wait.
func (h *host) loses() {
	h.view = h.now(h.view)
	h.hears = false
	h.view.PartnerLost, h.view.WaitsForStandby, h.view.State = true, true, "DISCONNECTED_PEER"
	h.probe = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
}

// dies ends the database server: there is nothing that a view could show.
func (h *host) dies() {
	h.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown}
	h.hears = false
}

// TestDeadMan (R16): a primary that is cut off from everybody is dead before
// its window ends; nothing less kills it.
func TestDeadMan(t *testing.T) {
	const failsAt = 30 * time.Second
	noRecord := errors.New("no route to host")
	tests := []struct {
		name   string
		change func(*host)
		dead   bool
	}{
		{"healthy", func(*host) {}, false},
		{"the standby is gone, the record is there", func(h *host) { h.loses() }, false},
		{"the record is gone, the standby is there: the loss of the control plane stops no database", func(h *host) { h.recordErr = noRecord }, false},
		{"cut off from both", func(h *host) { h.loses(); h.recordErr = noRecord }, true},
		{"cut off from the standby, and the lease is sealed", func(h *host) { h.loses(); h.lease.Sealed = true }, true},
		{"cut off from the standby, and a seal that led to nothing is taken off in time (R10)", func(h *host) {
			h.loses()
			h.lease.Sealed = true
			h.after(60*time.Second, func() { h.lease.Sealed = false })
		}, false},
		{"cut off from the standby, and the record names another primary", func(h *host) {
			h.loses()
			h.primary, h.epoch, h.lease = "b", 8, failover.Lease{Holder: "b", Epoch: 8, Counter: 1}
		}, true},
		{"cut off, and db2pd hangs as well: what was known of the window holds", func(h *host) {
			h.loses()
			h.recordErr, h.viewErr = noRecord, true
		}, true},
		{"cut off for a while: the standby is back before the end", func(h *host) {
			h.loses()
			h.recordErr = noRecord
			h.after(90*time.Second, func() { h.hears, h.view = true, primaryHost().view })
		}, false},
		{"cut off for a while: the record is back before the end", func(h *host) {
			h.loses()
			h.recordErr = noRecord
			h.after(90*time.Second, func() { h.recordErr = nil })
		}, false},
		{"the standby was stopped in order: there is no window, and then the record goes", func(h *host) {
			h.hears = false
			h.view.PartnerLost, h.view.State, h.window = true, "DISCONNECTED", 0
			h.after(10*time.Second, func() { h.recordErr = noRecord })
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := windowedHost()
				began := time.Now()
				h.after(failsAt+time.Millisecond, func() { tt.change(h) })
				measure(t, h, 4*time.Minute)
				if (len(h.killed) > 0) != tt.dead {
					t.Fatalf("killed %d times, want dead: %v", len(h.killed), tt.dead)
				}
				if tt.dead {
					if after := h.killed[0].Sub(began) - failsAt; after < 90*time.Second || after > 115*time.Second {
						t.Errorf("killed %s after the cut; the window ends after 120 s", after)
					}
				}
			})
		})
	}
}

// TestDeadManTriesAgain: a database that can't be killed is tried again, and
// people hear of it.
func TestDeadManTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := windowedHost()
		h.after(31*time.Second, func() { h.loses(); h.recordErr, h.killErr = errors.New("gone"), errors.New("operation not permitted") })
		h.after(140*time.Second, func() { h.killErr = nil })
		measure(t, h, 4*time.Minute)
		if len(h.killed) < 3 {
			t.Fatalf("tried %d times", len(h.killed))
		}
		if last := h.killed[len(h.killed)-1].Sub(h.killed[0]); last > 10*time.Second {
			t.Errorf("went on for %s after it succeeded", last)
		}
	})
}

// TestNewAgentGuardsOn: an agent that is started within the window, as after
// its watchdog killed it, knows enough to guard.
func TestNewAgentGuardsOn(t *testing.T) {
	for _, within := range []time.Duration{10 * time.Second, 60 * time.Second, 95 * time.Second, 108 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := windowedHost()
			h.loses()
			cut := time.Now()
			time.Sleep(within)
			a := h.agent("a")
			h.after(3*time.Second, func() { h.recordErr = errors.New("gone") }) // the declaration could be read once
			if within > 95*time.Second {
				h.lease = failover.Lease{Holder: "a", Epoch: 7, Counter: 3, Sealed: true}
			}
			run(t, a, 3*time.Minute)
			if len(h.killed) == 0 || h.killed[0].Sub(cut) > 120*time.Second {
				t.Errorf("started %s after the cut: killed at %v", within, h.killed)
			}
		})
	}
}

// TestPromise (R16): only a dead-man that can act may be relied upon.
func TestPromise(t *testing.T) {
	tests := []struct {
		name   string
		change func(*host, *Agent)
		force  bool
	}{
		{"in force", func(*host, *Agent) {}, true},
		{"no watchdog behind it", func(_ *host, a *Agent) { a.Watchdog = 0 }, false},
		{"the watchdog is too slow for the window", func(_ *host, a *Agent) { a.Watchdog = 100 * time.Second }, false},
		{"no lease", func(h *host, _ *Agent) { h.duration = 0 }, false},
		{"no window", func(h *host, _ *Agent) { h.window = 0 }, false},
		{"the window is too short", func(h *host, _ *Agent) { h.window = 45 * time.Second }, false},
		{"it does not hear its standby", func(h *host, _ *Agent) { h.loses() }, false},
		{"the lease is sealed", func(h *host, _ *Agent) { h.lease = failover.Lease{Holder: "a", Epoch: 7, Counter: 1, Sealed: true} }, false},
		{"its server has just died: what does not run writes nothing", func(h *host, _ *Agent) { h.after(46*time.Second, h.dies) }, true},
		{"its server died a while ago", func(h *host, _ *Agent) { h.after(30*time.Second, h.dies) }, false},
		{"its database is not active: whatever that means", func(h *host, _ *Agent) {
			h.after(46*time.Second, func() { h.view.Database = failover.DatabaseInactive })
		}, false},
		{"it is a standby", func(h *host, _ *Agent) { h.view.Role = failover.RoleStandby }, false},
		{"the clock is off", func(h *host, _ *Agent) { h.offset = 3 * time.Second }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := windowedHost()
				a := h.agent("a")
				tt.change(h, a)
				run(t, a, 50*time.Second)
				last := h.nodes[len(h.nodes)-1]
				if !last.DeadManUntil.IsZero() != tt.force {
					t.Errorf("in force until %s, want %v", last.DeadManUntil, tt.force)
				}
				if tt.force && last.DeadManUntil.Sub(last.ReadAt) != promiseTime {
					t.Errorf("promised until %s at %s", last.DeadManUntil, last.ReadAt)
				}
			})
		})
	}
}
