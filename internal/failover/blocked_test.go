package failover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlockedOperations(t *testing.T) {
	block := func() (State, *fakeWorld) {
		w := newWorld()
		w.onStop = func(w *fakeWorld, e Stop) StopRequested {
			return StopRequested{At: w.at, Node: e.Node, Outcome: Failed, Error: "OperationNotPermitted"}
		}
		s := w.run(steadyState(), alarmed(), 100)
		if s.Phase != Blocked {
			t.Fatalf("phase %s, want blocked", s.Phase)
		}
		return s, w
	}
	t.Run("resume goes on once the cause is gone", func(t *testing.T) {
		s, w := block()
		w.onStop = nil
		s = w.run(s, Retried{At: w.at, Actor: "ann"}, 500)
		if s.Phase != Steady || s.Primary != "b" || len(w.bad) > 0 {
			t.Errorf("phase %s, primary %s, bad %q", s.Phase, s.Primary, w.bad)
		}
	})
	t.Run("cancel leaves the old primary in place", func(t *testing.T) {
		s, w := block()
		s = w.run(s, Cancelled{At: w.at, Actor: "ann"}, 10)
		if s.Phase != Steady || s.Primary != "a" || s.Operation != nil || len(s.Fenced) != 0 {
			t.Errorf("phase %s, primary %s, operation %v, fenced %v", s.Phase, s.Primary, s.Operation, s.Fenced)
		}
	})
	t.Run("cancel is refused where two nodes may write", func(t *testing.T) {
		s, w := block()
		s.Operation.Step = StepConfirm
		s = w.run(s, Cancelled{At: w.at, Actor: "ann"}, 10)
		if s.Phase != Blocked || !strings.Contains(w.entries[len(w.entries)-1].Reason, "not cancelled") {
			t.Errorf("phase %s, entries %v", s.Phase, w.entries)
		}
	})
	t.Run("another alarm does not disturb it", func(t *testing.T) {
		s, w := block()
		e := alarmed()
		e.OperationID = "op2"
		after := w.run(s, e, 10)
		if diff := cmp.Diff(s, after); diff != "" {
			t.Errorf("state changed:\n%s", diff)
		}
	})
	t.Run("R30: whose place is taken has an end, also where the runner dies before it tells", func(t *testing.T) {
		s := steadyState()
		s.Epoch++
		s.Operation = &Operation{ID: "op2", Kind: Takeover, From: "b", To: "a", Step: StepRecheck, Started: now, StepSince: now, Config: s.Config,
			Replaced: &Replaced{ID: "op1", Kind: Takeover, From: "a", To: "b", Step: StepVerify, Blocked: "rtb-1 could not be led"}}
		s.Phase = TakingOver
		for name, e := range map[string]Event{"its own runner": Claimed{At: now, OK: true}, "another one": Resumed{At: now}} {
			_, effects := Step(s, e)
			first, ok := effects[0].(Record)
			if !ok || first.Entry.OperationID != "op1" || first.Entry.Event != "ended" || first.Entry.Outcome != "replaced" || !strings.Contains(first.Entry.Reason, "operation op2 (takeover) takes its place") {
				t.Errorf("%s tells %+v", name, effects[0])
			}
		}
	})
	t.Run("R30: blocked on a route only, the next takeover goes ahead", func(t *testing.T) {
		w := newWorld()
		w.onMove = func(w *fakeWorld, e MoveRoute) RouteMoved {
			return RouteMoved{At: w.at, Table: e.Table, Error: "UnauthorizedOperation"}
		}
		s := w.run(steadyState(), alarmed(), 500)
		if !s.RouteOnly() {
			t.Fatalf("phase %s, operation %+v", s.Phase, s.Operation)
		}
		if reason := s.ignores(Alarmed{At: w.at, Node: "b", Changed: w.at, OperationID: "op2"}); reason != "" {
			t.Errorf("the second failure is ignored: %s", reason)
		}
	})
}
