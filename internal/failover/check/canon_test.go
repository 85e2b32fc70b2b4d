package check

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// disturb changes what canonical drops: texts, names, and how long ago things
// were that are over.
func disturb(s failover.State) failover.State {
	hour := now.Add(-time.Hour)
	s.Version, s.Maintenance.Reason = 7, "patches"
	if s.Pending != nil {
		p := *s.Pending
		p.Trigger, p.Since = "an alarm", hour
		s.Pending = &p
	}
	for id, f := range s.Fenced {
		f.At, f.Method = hour, "by hand"
		s.Fenced[id] = f
	}
	if a := s.Attempt; a != nil {
		a.Trigger = "a person"
		a.Evidence = []failover.Evidence{{Node: "a", Signal: failover.SignalAlarm}}
	}
	op := s.Operation
	if op == nil {
		return s
	}
	op.Trigger, op.LastResult, op.CommandID, op.Starts = "an alarm", "SQL1770N", "c9", op.Starts*5
	op.Replaced = &failover.Replaced{ID: "op0", Kind: failover.Rejoin}
	if op.Isolated != "" {
		op.Isolated = "it is cut off"
	}
	op.Phases = []failover.PhaseTime{{Step: failover.StepFence, Start: hour, End: now}}
	if op.Force == failover.WithinWindow {
		op.Started = hour
	}
	if op.Force == failover.WithinWindow && op.Step != failover.StepRestart {
		op.StepSince = hour
	}
	if op.Deadline.Before(now) {
		op.Deadline = hour
	}
	if op.Blocked != "" {
		op.Blocked, op.Next = "its machine does not stop", "wait"
	}
	for table, r := range op.Routes {
		r.Tries = 9
		op.Routes[table] = r
	}
	return s
}

// TestWhatIsDroppedDecidesNothing: states that count as equal get equal answers,
// so that no state is left out of the search because it looks like another one.
func TestWhatIsDroppedDecidesNothing(t *testing.T) {
	denied := Setup{Fencing: failover.Strict, Runners: 1, Tables: 2, Begin: PrimaryLost, Swift: true, Faults: 1, Persons: Only(deedCount), Allowed: Just(MoveDenied, NodeSilent)}
	approval := denied.with(Approves)
	approval.Policy = failover.Approval
	late := alone(1, RunnerDies).from(TooLate).with(Cancels, AsksLate).twice()
	cut := guarded(1, GroupsFailed).from(CutOff).with(Rejoins)
	cut.Cuts = true
	asked := 0
	for _, s := range []Setup{denied, approval, late, cut} {
		asked += undisturbed(t, s)
	}
	if asked < 2000 {
		t.Errorf("only %d questions were asked", asked)
	}
}

// undisturbed asks every question of a search again, of states that are
// disturbed, and returns how many there were.
func undisturbed(t *testing.T, setup Setup) int {
	t.Helper()
	x := newSearch(Search{Setup: setup, Limit: 20_000})
	x.run()
	for q, want := range x.cores.replies {
		next, effects := x.cores.step(disturb(clone(x.cores.state(q.core))), x.cores.event(q))
		if got := key(canonical(next)); got != key(x.cores.states[want.core]) {
			t.Fatalf("%T: the answer depends on what is dropped:\n got %s\nwant %s", x.cores.event(q), got, key(x.cores.states[want.core]))
		}
		n := 0
		for _, e := range effects {
			if task, _ := taskOf(e); task != nothing {
				if task != want.work[n] {
					t.Fatalf("%T: effect %T depends on what is dropped", x.cores.event(q), e)
				}
				n++
			}
		}
	}
	return len(x.cores.replies)
}

// clone gives a state pointers and maps of its own.
func clone(s failover.State) failover.State { return shift(s, 0) }
