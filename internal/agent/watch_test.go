package agent

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// standbyHost is the host of standby b; its primary a has a lease that is
// renewed every 2 s until something happens to it.
func standbyHost() *host {
	h := leasedHost()
	h.view = failover.Observation{Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive, State: "PEER", PartnerStatus: "CONNECTED"}
	h.lease = failover.Lease{Holder: "a", Epoch: 7, Counter: 1}
	var renew func()
	renew = func() {
		if h.living {
			h.lease.Counter++
		}
		h.after(2*time.Second, renew)
	}
	h.after(2*time.Second, renew)
	h.living = true
	return h
}

// TestWatcher (R6): a lease has stood still only for the time that was covered
// by answers, on the watcher's own clock.
func TestWatcher(t *testing.T) {
	const s = time.Second
	lease := func(n uint64) failover.Lease { return failover.Lease{Holder: "a", Epoch: 7, Counter: n} }
	type read struct {
		counter        uint64
		sent, answered time.Duration
		stood          time.Duration
	}
	tests := []struct {
		name  string
		reads []read
	}{
		{"renewed all the time", []read{{1, 0, 0, 0}, {2, 2 * s, 2 * s, 0}, {3, 4 * s, 4 * s, 0}}},
		{"stands still", []read{{1, 0, 0, 0}, {1, 2 * s, 2 * s, 2 * s}, {1, 4 * s, 4 * s, 4 * s}}},
		{"counts from the first answer until the last question", []read{{1, 0, 1 * s, 0}, {1, 2 * s, 3 * s, 1 * s}, {1, 4 * s, 5 * s, 3 * s}}},
		{"a slow first answer that overtakes the next question", []read{{1, 0, 3 * s, 0}, {1, 2 * s, 4 * s, 0}}},
		{"a gap begins again", []read{{1, 0, 0, 0}, {1, 2 * s, 2 * s, 2 * s}, {1, 8 * s, 8 * s, 0}, {1, 10 * s, 10 * s, 2 * s}}},
		{"the watcher was frozen", []read{{1, 0, 0, 0}, {1, 3600 * s, 3600 * s, 0}}},
		{"one answer missing is no gap", []read{{1, 0, 0, 0}, {1, 4 * s, 4 * s, 4 * s}}},
		{"another lease with the same counter", []read{{1, 0, 0, 0}, {2, 2 * s, 2 * s, 0}, {1, 4 * s, 4 * s, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := watcher{gap: 5 * s}
			for i, r := range tt.reads {
				if got := w.read(lease(r.counter), r.sent, r.answered); got != r.stood {
					t.Errorf("read %d: stood for %s, want %s", i, got, r.stood)
				}
			}
		})
	}
}

// TestWatcherNeverEarly: whatever is lost, late or missed, a lease that was
// renewed less than its duration ago is never seen to have stood still for it.
func TestWatcherNeverEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const duration = 6 * time.Second
		w := watcher{gap: 5 * time.Second}
		ms := func(most int, name string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Millisecond
		}
		var now, renewed time.Duration
		lease := failover.Lease{Holder: "a", Epoch: 7, Counter: 1}
		renew := func(most time.Duration) { // at some moment before most
			if rapid.Bool().Draw(t, "renewed") {
				renewed = now + time.Duration(rapid.Int64Range(0, int64(most-now)).Draw(t, "at"))
				lease.Counter++
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "reads") {
			next := now + ms(7000, "pause")
			renew(next)
			now = next
			sent := now
			seen := lease // the read takes effect before the answer, and a renewal may follow
			answered := now + ms(3000, "call")
			renew(answered)
			now = answered
			if rapid.IntRange(0, 4).Draw(t, "fate") == 0 {
				continue // lost
			}
			if stood := w.read(seen, sent, answered); stood >= duration && sent-min(renewed, sent) < duration && seen == lease {
				t.Fatalf("stood for %s, renewed %s before the question", stood, sent-renewed)
			}
		}
	})
}

// TestReports: what a standby's agent tells the takeover function, and when.
func TestReports(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*host)
		first   [2]time.Duration // after the change, between; zero = never
		kinds   []string
		reports int // within a minute, at least
	}{
		{name: "all is well", change: func(*host) {}},
		// Its last renewal came a second before, and is seen a second late at most.
		{name: "the primary's host vanished", change: func(h *host) { h.living = false }, first: [2]time.Duration{5 * time.Second, 6100 * time.Millisecond},
			kinds: []string{"lease_expired", "standby_view"}, reports: 3},
		{name: "the standby does not hear its primary", change: func(h *host) { h.living, h.view.PartnerLost = false, true }, first: [2]time.Duration{0, 1010 * time.Millisecond},
			kinds: []string{"standby_view"}, reports: 3},
		{name: "the lease is suspended: stopped in order (R6)", change: func(h *host) { h.living, h.lease.Suspended = false, "patch" }},
		{name: "the lease was never renewed: a takeover that came to nothing made it", change: func(h *host) {
			h.living, h.lease = false, failover.Lease{Holder: "a", Epoch: 7}
		}},
		{name: "there is no lease and never was", change: func(h *host) { h.living, h.lease = false, failover.Lease{} }},
		{name: "the record can't be read: a blip is no death (R6)", change: func(h *host) { h.living, h.recordErr = false, errors.New("throttled") }},
		{name: "this database is no standby", change: func(h *host) { h.living, h.view.Role = false, failover.RoleStandalone }},
		{name: "the lease belongs to an older epoch than the record's", change: func(h *host) { h.living, h.epoch = false, 8 }},
		{name: "the record shows a claim (R32)", change: func(h *host) { h.living, h.operation = false, &failover.Operation{ID: "op"} }, first: [2]time.Duration{4 * time.Second, 9 * time.Second},
			kinds: []string{"lease_expired", "standby_view"}, reports: 1},
		{name: "the record shows a refusal (R32)", change: func(h *host) { h.living, h.refused = false, time.Now() }, first: [2]time.Duration{4 * time.Second, 9 * time.Second},
			kinds: []string{"lease_expired", "standby_view"}, reports: 1},
		{name: "the record tells of a route: that answers nothing", change: func(h *host) {
			h.living, h.guard, h.refused = false, failover.GuardRoute, time.Now()
		}, first: [2]time.Duration{4 * time.Second, 9 * time.Second},
			kinds: []string{"lease_expired", "standby_view"}, reports: 3},
		{name: "the function can't be invoked: tried again at once", change: func(h *host) { h.living, h.reportErr = false, errors.New("throttled") }, first: [2]time.Duration{4 * time.Second, 9 * time.Second},
			kinds: []string{"lease_expired", "standby_view"}, reports: 20},
		{name: "a recorded step is overdue (R32)", change: func(h *host) {
			h.operation = &failover.Operation{ID: "op", Step: failover.StepPromote, Deadline: time.Now().Add(-time.Second)}
		}, first: [2]time.Duration{9 * time.Second, 70 * time.Second}, kinds: []string{"overdue"}, reports: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := standbyHost()
				changed := time.Now().Add(31 * time.Second)
				h.after(31*time.Second, func() { tt.change(h) })
				run(t, h.agent("b"), 91*time.Second)
				if tt.kinds == nil {
					if len(h.reports) > 0 {
						t.Errorf("%d reports, the first %+v", len(h.reports), h.reports[0])
					}
					return
				}
				if len(h.reports) < tt.reports || tt.reports == 1 && len(h.reports) > 2 {
					t.Fatalf("%d reports, want %d", len(h.reports), tt.reports)
				}
				first := h.reports[0]
				var kinds []string
				for _, e := range first.report.Evidence {
					kinds = append(kinds, e.Kind)
				}
				if after := first.at.Sub(changed); after < tt.first[0] || after > tt.first[1] || !slices.Equal(kinds, tt.kinds) {
					t.Errorf("first report %s after the change, want %s to %s; %+v", after, tt.first[0], tt.first[1], first.report.Evidence)
				}
				if first.report.Node != "a" || first.report.Group != "orders" || first.function != "takeover" {
					t.Errorf("report %+v to %s", first.report, first.function)
				}
			})
		})
	}
}

// TestReportThatFails: it is told once, however often it is tried, and forgotten
// when there is nothing to report any more: nobody would find out that it is
// mended, and the standby would stay unfit.
func TestReportThatFails(t *testing.T) {
	for name, change := range map[string]struct{ begin, end func(*host) }{
		"a suspicion": {func(h *host) { h.living = false }, func(h *host) { h.living = true }},
		"an overdue step": {func(h *host) {
			h.operation = &failover.Operation{ID: "op", Step: failover.StepPromote, Deadline: time.Now().Add(-time.Second)}
		}, func(h *host) { h.operation = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, log := standbyHost(), &journal{}
				a := h.agent("b")
				a.Log = slog.New(log)
				h.after(31*time.Second, func() { h.reportErr = errors.New("throttled"); change.begin(h) })
				h.after(4*time.Minute, func() {
					if len(h.reports) < 3 || !strings.Contains(h.nodes[len(h.nodes)-1].Trouble, "throttled") {
						t.Errorf("%d reports, trouble %q", len(h.reports), h.nodes[len(h.nodes)-1].Trouble)
					}
					change.end(h)
				})
				run(t, a, 6*time.Minute)
				if told := log.warnings(); len(told) != 1 {
					t.Errorf("told %d times:\n%s", len(told), strings.Join(told, "\n"))
				}
				if last := h.nodes[len(h.nodes)-1]; last.Trouble != "" || last.Fitness == failover.Unfit {
					t.Errorf("afterwards: trouble %q, %s", last.Trouble, last.Fitness)
				}
			})
		})
	}
}

// TestReportHasAView: the function finds a view of this moment in the record of
// who reports, without asking for one; a status command that hangs delays the
// report by a second, and makes no old view a new one.
func TestReportHasAView(t *testing.T) {
	for name, hangs := range map[string]bool{"a view of this moment": false, "the status command hangs": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := standbyHost()
				failed := time.Now().Add(31 * time.Second)
				h.after(31*time.Second, func() { h.living = false })
				h.after(32500*time.Millisecond, func() { h.viewHangs = hangs })
				run(t, h.agent("b"), 45*time.Second)
				if len(h.reports) == 0 || h.reports[0].at.Sub(failed) > 7200*time.Millisecond {
					t.Fatalf("reports %+v", h.reports)
				}
				i := slices.IndexFunc(h.nodes, func(o failover.Observation) bool { return !o.LeaseStill.At.IsZero() })
				if age := h.reports[0].at.Sub(h.nodes[i].ViewedAt); (age > 500*time.Millisecond) != hangs {
					t.Errorf("the view is %s old", age)
				}
			})
		})
	}
}

// TestExpiredLeaseIsOnRecord: the function finds what the watcher saw in the
// node's record before it hears of it, with the time of the first sight.
func TestExpiredLeaseIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := standbyHost()
		h.after(31*time.Second, func() { h.living = false })
		run(t, h.agent("b"), time.Minute)
		var sights []failover.LeaseSight
		for _, o := range h.nodes {
			if s := o.LeaseStill; !s.At.IsZero() {
				sights = append(sights, s)
			}
		}
		if len(sights) < 2 || sights[0] != sights[len(sights)-1] || sights[0].Epoch != 7 || sights[0].Stood < 6*time.Second {
			t.Fatalf("sights %+v", sights)
		}
		if len(h.reports) == 0 || h.reports[0].at.Before(sights[0].At) {
			t.Errorf("reported at %s, seen at %s", h.reports[0].at, sights[0].At)
		}
	})
}

// TestSealIsNoRenewal: whoever watches a lease goes on counting when a takeover
// seals it, or takes its seal off.
func TestSealIsNoRenewal(t *testing.T) {
	const s = time.Second
	lease := failover.Lease{Holder: "a", Epoch: 7, Counter: 41}
	sealed := lease
	sealed.Sealed, sealed.SealedBy, sealed.SealedAt, sealed.SealID = true, "op", time.Unix(1, 0), "op/1"
	var w watching
	for at, l := range []failover.Lease{lease, lease, sealed, sealed, lease, lease} {
		read := time.Duration(at) * s
		left := w.note(l, read, read, 5*s, 2*s, time.Now())
		if want := 5*s - read; left != want {
			t.Errorf("after %s %s are left, want %s", read, left, want)
		}
	}
	if w.sight().At.IsZero() {
		t.Error("it never expired")
	}
}

// TestLooksEverySecond: what a renewal is seen late is added to the duration, so
// that a long lease is looked at as often as a short one.
func TestLooksEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := standbyHost()
		h.living, h.duration, h.interval = false, 20*time.Second, 5*time.Second
		var last time.Time
		h.after(31200*time.Millisecond, func() { h.lease.Counter, last = h.lease.Counter+1, time.Now() })
		run(t, h.agent("b"), time.Minute)
		var seen time.Time
		for _, o := range h.nodes {
			if s := o.LeaseStill; s.Counter == h.lease.Counter && !s.At.IsZero() {
				seen = s.At
			}
		}
		if after := seen.Sub(last); after < 20*time.Second || after > 21*time.Second {
			t.Errorf("it was seen to stand still %s after its last renewal, want 20 s to 21 s", after)
		}
	})
}

// TestFlowIsToldAtOnce: others weigh whether log comes, so that its end is on
// record before the next tick, and so is that it comes again.
func TestFlowIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := standbyHost()
		h.view.Position = 7
		commits := true
		var commit func()
		commit = func() {
			if commits {
				h.view.Position++
			}
			h.after(2*time.Second, commit)
		}
		h.after(time.Second, commit)
		stops, again := time.Now().Add(22*time.Second), time.Now().Add(42*time.Second)
		h.after(time.Until(stops), func() { commits = false })
		h.after(time.Until(again), func() { commits = true })
		run(t, h.agent("b"), time.Minute)
		for _, change := range []struct {
			at    time.Time
			flows bool
		}{{stops, false}, {again, true}} {
			i := slices.IndexFunc(h.nodes, func(o failover.Observation) bool {
				return o.ReadAt.After(change.at) && o.LogFlows.IsZero() != change.flows
			})
			if i < 0 || h.nodes[i].ReadAt.Sub(change.at) > 10*time.Second {
				t.Errorf("flows: %v, not on record within 10 s", change.flows)
			}
		}
	})
}
