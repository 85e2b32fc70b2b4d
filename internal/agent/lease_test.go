package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// leasedHost is a primary with a lease of 6 s that is renewed every 2 s.
func leasedHost() *host {
	h := primaryHost()
	h.duration, h.interval = 6*time.Second, 2*time.Second
	return h
}

// TestKeepsLease: the lease lives by the database, not by the agent.
func TestKeepsLease(t *testing.T) {
	const failsAt = 30 * time.Second
	hang := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	tests := []struct {
		name   string
		change func(*host)
		// until when it is renewed after the change; -1 = on and on
		until   time.Duration
		waiting bool   // R4, in the end
		slow    bool   // commits take long, or come late
		suspend string // R6, in the end
	}{
		{name: "healthy", change: func(*host) {}, until: -1},
		{name: "SQL answers never: an agent that is well keeps no hung database alive", change: func(h *host) { h.probe = hang }, until: 20 * time.Second, slow: true},
		{name: "SQL fails", change: func(h *host) { h.probe = func(context.Context) error { return errors.New("SQL1224N") } }, until: 2 * time.Second},
		{name: "SQL takes longer than the threshold", change: func(h *host) {
			h.probe = func(context.Context) error { time.Sleep(18 * time.Second); return errors.New("slow") }
		}, until: 20 * time.Second, slow: true},
		{name: "SQL is slow, but below the threshold", change: func(h *host) {
			h.probe = func(context.Context) error { time.Sleep(9 * time.Second); return nil }
		}, until: -1, slow: true},
		{name: "SQL takes as long as usual on a busy day", change: func(h *host) {
			h.probe = func(context.Context) error { time.Sleep(900 * time.Millisecond); return nil }
		}, until: -1},
		{name: "db2pd takes 4 s, so that commits come seldom", change: func(h *host) { h.viewTakes = 4 * time.Second }, until: -1, slow: true},
		{name: "db2pd takes as long as usual on a busy day", change: func(h *host) { h.viewTakes = 700 * time.Millisecond }, until: -1},
		{name: "db2pd hangs and SQL works: no view, no probe", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Silent}
		}, until: 2 * time.Second},
		{name: "its log waits for its standby (R4)", change: func(h *host) { h.view.WaitsForStandby, h.probe = true, hang }, until: -1, waiting: true},
		{name: "the database server crashed", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown}
		}, until: 2 * time.Second},
		{name: "it was stopped in order (R6)", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown, StoppedInOrder: "patch"}
		}, until: 4 * time.Second, suspend: "patch"},
		{name: "the probe's table is missing: that proves nothing", change: func(h *host) {
			h.probe = func(context.Context) error { return setupError{"no table HAPROBE.BEAT", "create it"} }
		}, until: 4 * time.Second, suspend: "no table HAPROBE.BEAT"},
		{name: "the view is not understood: that proves nothing", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Unreadable, AnswerError: "version 13"}
		}, until: 4 * time.Second, suspend: "version 13"},
		{name: "another node is the recorded primary", change: func(h *host) {
			h.primary, h.epoch = "b", 8
			h.lease = failover.Lease{Holder: "b", Epoch: 8, Counter: 1}
		}, until: 2 * time.Second},
		{name: "it became a standby", change: func(h *host) { h.view.Role = failover.RoleStandby }, until: 20 * time.Second, slow: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := leasedHost()
				began := time.Now()
				h.after(failsAt+time.Millisecond, func() { tt.change(h) })
				measure(t, h, 2*time.Minute)
				if len(h.renewals) < 14 {
					t.Fatalf("%d renewals before the failure", len(h.renewals))
				}
				for i, r := range h.renewals {
					if r.lease.Holder != "a" || r.lease.Epoch != 7 || r.lease.Counter != uint64(i+1) {
						t.Fatalf("renewal %d: %+v", i, r.lease)
					}
				}
				last := h.renewals[len(h.renewals)-1]
				after := last.at.Sub(began) - failsAt
				switch {
				case tt.until < 0 && after < 88*time.Second:
					t.Errorf("renewed until %s after the change only", after)
				case tt.until >= 0 && after > tt.until:
					t.Errorf("renewed until %s after the change, want at most %s", after, tt.until)
				}
				slow := slices.ContainsFunc(h.renewals[14:], func(r renewal) bool { return r.lease.Slow })
				if last.lease.WaitingForStandby != tt.waiting || slow != tt.slow {
					t.Errorf("waiting for the standby: %v, slow: %v", last.lease.WaitingForStandby, slow)
				}
				if !strings.Contains(last.lease.Suspended, tt.suspend) || (last.lease.Suspended != "") != (tt.suspend != "") {
					t.Errorf("suspended %q, want %q", last.lease.Suspended, tt.suspend)
				}
			})
		})
	}
}

// TestSealedLease (R10): a sealed lease is not renewed in its epoch; a new
// epoch has a new one.
func TestSealedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		began := time.Now()
		h.after(31*time.Second, func() { h.lease.Sealed, h.lease.SealedBy = true, "op" })
		h.after(61*time.Second, func() { h.epoch = 8 }) // the takeover was given up
		measure(t, h, 90*time.Second)
		for _, r := range h.renewals {
			if at := r.at.Sub(began); at > 31*time.Second && at < 61*time.Second {
				t.Errorf("renewed %s after the start, %+v", at, r.lease)
			}
		}
		if last := h.renewals[len(h.renewals)-1].lease; last.Epoch != 8 || last.Counter < 10 {
			t.Errorf("in the end %+v", last)
		}
	})
}

// TestSealTakenOff (R10): a seal that led to nothing is taken off, and the lease
// is renewed again where it stood.
func TestSealTakenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		began := time.Now()
		h.after(31*time.Second, func() { h.lease.Sealed, h.lease.SealedBy = true, "op" })
		h.after(61*time.Second, func() { h.lease.Sealed, h.lease.SealedBy = false, "" })
		measure(t, h, 90*time.Second)
		again := 0
		for i, r := range h.renewals {
			switch at := r.at.Sub(began); {
			case at > 31*time.Second && at < 61*time.Second:
				t.Errorf("renewed %s after the start, %+v", at, r.lease)
			case at >= 61*time.Second:
				if again++; again == 1 && (at > 66*time.Second || r.lease.Counter != h.renewals[i-1].lease.Counter+1) {
					t.Errorf("renewed again %s after the start, %+v", at, r.lease)
				}
			}
		}
		if again < 10 {
			t.Errorf("renewed %d times after the seal was taken off", again)
		}
	})
}

// TestFencedPrimary: who is about to be stopped renews nothing, in whatever
// epoch.
func TestFencedPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		h.fenced = true
		measure(t, h, time.Minute)
		if len(h.renewals) != 0 {
			t.Errorf("%d renewals", len(h.renewals))
		}
	})
}

// TestLeaseSurvivesARecordThatIsAway: renewals go on where they stopped,
// whatever became of the last one.
func TestLeaseSurvivesARecordThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		h.after(21*time.Second, func() { h.recordErr = errors.New("no route to host") })
		h.after(50*time.Second, func() { h.lease.Counter++; h.recordErr = nil }) // the last one had worked
		measure(t, h, time.Minute)
		if last := h.renewals[len(h.renewals)-1].lease; last.Counter < 15 {
			t.Errorf("in the end %+v", last)
		}
	})
}

// TestAgentStartsAgain: a new agent goes on with the lease of the old one.
func TestAgentStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		measure(t, h, 20*time.Second)
		before := h.lease.Counter
		measure(t, h, 20*time.Second)
		if h.lease.Counter < before+8 {
			t.Errorf("counter %d, then %d", before, h.lease.Counter)
		}
	})
}

// TestUnsafeLease: an agent refuses a timing that would let a lease expire by
// one lost renewal.
func TestUnsafeLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		h.interval = 3 * time.Second
		if err := h.agent("a").Run(t.Context()); err == nil || !strings.Contains(err.Error(), "one lost renewal") {
			t.Errorf("error %v", err)
		}
	})
}

// TestHangWithLease: the published values keep their rhythm, and show the hang.
func TestHangWithLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		h.after(time.Minute+time.Millisecond, func() {
			h.probe = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		})
		measure(t, h, 3*time.Minute-time.Millisecond)
		if len(h.values) != 9 {
			t.Fatalf("%d samples in three minutes, want 9", len(h.values))
		}
		for i, v := range h.values {
			if i <= 3 && v != 30 || i >= 5 && v < 18000 {
				t.Errorf("sample %d = %v ms", i, v)
			}
		}
		if last := h.nodes[len(h.nodes)-1]; !last.LastBadProbe.After(last.LastGoodProbe) {
			t.Error("the node's record hides the hang")
		}
	})
}

// TestCommitsWithoutAWS: an agent that is cut off from AWS commits a row at every
// tick all the same. A standby that hears of them knows that its primary lives.
func TestCommitsWithoutAWS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := windowedHost()
		before := 0
		h.after(31*time.Second, func() { h.cutOff, h.recordErr, before = true, errors.New("no answer"), h.probes })
		measure(t, h, 61*time.Second)
		if n := h.probes - before; n < 14 {
			t.Errorf("%d commits within 30 s, want one every 2 s", n)
		}
	})
}

// TestLeave: an agent that was stopped says so of itself, and suspends its lease;
// it vouches for nothing any more.
func TestLeave(t *testing.T) {
	tests := []struct {
		name     string
		node     string
		change   func(*host)
		suspends bool
	}{
		{name: "of the primary", node: "a", change: func(*host) {}, suspends: true},
		{name: "of a primary whose lease is not renewed: its end has begun", node: "a", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown}
		}},
		{name: "of a primary whose lease was sealed", node: "a", change: func(h *host) { h.lease.Sealed, h.lease.SealedBy = true, "op" }},
		{name: "of a primary whose log waits for its standby (R4)", node: "a", change: func(h *host) { h.view.WaitsForStandby = true }, suspends: true},
		{name: "of the standby", node: "b", change: func(*host) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := leasedHost()
				if tt.node == "b" {
					h = standbyHost()
				}
				h.window, h.hears = 2*time.Minute, true
				h.after(31*time.Second, func() { tt.change(h) })
				a := h.agent(tt.node)
				run(t, a, 70*time.Second)
				before, renewals := h.nodes[len(h.nodes)-1], len(h.renewals)
				a.Leave(t.Context())
				o := h.nodes[len(h.nodes)-1]
				if !strings.Contains(o.Trouble, "was stopped") || o.Fitness != failover.Unfit || !o.DeadManUntil.IsZero() || !o.LogFlows.IsZero() {
					t.Errorf("record %+v", o)
				}
				if o.Role != before.Role || o.LastGoodProbe.Before(before.LastGoodProbe) {
					t.Errorf("role %q, good probe %s; before %q, %s: what was seen is gone", o.Role, o.LastGoodProbe, before.Role, before.LastGoodProbe)
				}
				if last := h.lease; (len(h.renewals) > renewals) != tt.suspends || (last.Suspended == stoppedText) != tt.suspends {
					t.Errorf("%d renewals after %d; lease %+v", len(h.renewals), renewals, last)
				}
			})
		})
	}
}

// TestLeaveUnreached: an agent that can't reach the record ends in time, and
// one that never began says nothing.
func TestLeaveUnreached(t *testing.T) {
	for name, change := range map[string]func(*host){
		"cut off from AWS":     func(h *host) { h.cutOff = true },
		"the record is broken": func(h *host) { h.recordErr = errors.New("throttled") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := leasedHost()
				h.after(31*time.Second, func() { change(h) })
				a := h.agent("a")
				run(t, a, 70*time.Second)
				began := time.Now()
				a.Leave(t.Context())
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
	t.Run("never begun", func(t *testing.T) {
		h := leasedHost()
		h.agent("a").Leave(t.Context())
		if len(h.nodes)+len(h.renewals) > 0 {
			t.Errorf("wrote %+v, %+v", h.nodes, h.renewals)
		}
	})
}
