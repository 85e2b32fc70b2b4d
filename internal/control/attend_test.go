package control

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestOneRunnerIsEnough: while a runner is at work on an operation, whoever is
// told of it looks and leaves.
func TestOneRunnerIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		si.stopTakes = 80 * time.Second // enough for a few looks and reports
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
				t.Error(err)
			}
		})
		var longest time.Duration
		for _, e := range []failover.Event{
			failover.Reported{Node: "a", OperationID: "op2", Reason: "agent b"},
			failover.Watched{OperationID: "op3"},
			event(r.Clock), // delivered again
		} {
			time.Sleep(9 * time.Second)
			began := r.Clock.Now()
			got, err := r.Run(t.Context(), group, e)
			if err != nil || !running(got.State) {
				t.Errorf("%T: operation %+v, %v; want it to go on", e, got.State.Operation, err)
			}
			longest = max(longest, r.Clock.Now().Sub(began))
		}
		if longest > attention+time.Second {
			t.Errorf("somebody stayed for %s", longest)
		}
		wg.Wait()
		checkTakenOver(t, st, si)
		if n := si.reads["a"]; n > 60 {
			t.Errorf("the machine was read %d times in 80 s: more than one runner waited for it", n)
		}
	})
}

// TestDeadRunnerIsReplaced: one that died has said for a while that it is at
// work, and not for longer.
func TestDeadRunnerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		ctx, die := context.WithCancel(t.Context())
		si.onCall = func(string) { die() }
		_, _ = r.Run(ctx, group, event(r.Clock))
		si.onCall = nil
		if !running(st.state) || !st.state.Attended.After(r.Clock.Now()) {
			t.Fatalf("operation %+v, attended until %s", st.state.Operation, st.state.Attended)
		}
		died := r.Clock.Now()
		si.onCall = func(call string) {
			if waited := r.Clock.Now().Sub(died); call != "" && waited > 2*attention {
				t.Errorf("%s only %s after the runner died", call, waited)
			}
		}
		if _, err := r.Watch(t.Context(), group, "op2"); err != nil {
			t.Fatal(err)
		}
		checkTakenOver(t, st, si)
		if !st.state.Attended.IsZero() {
			t.Errorf("nothing runs, and somebody is at work until %s", st.state.Attended)
		}
	})
}

// TestRejoinHidesNoFailure (R30): a runner at work on a rejoin keeps nobody from
// a failure of the primary.
func TestRejoinHidesNoFailure(t *testing.T) {
	s := failover.State{Operation: &failover.Operation{ID: "op1", Kind: failover.Rejoin}}
	red := []failover.RedAlarm{{ARN: alarm, Node: "b"}}
	for _, tt := range []struct {
		name string
		e    failover.Event
		want bool
	}{
		{"a quiet look", failover.Watched{}, true},
		{"a look that finds a red alarm", failover.Watched{Alarms: red}, false},
		{"a look that finds a seal", failover.Watched{Lease: failover.Lease{Sealed: true}}, false},
		{"a report", failover.Reported{Node: "b", OperationID: "op2"}, false},
		{"an alarm", failover.Alarmed{Node: "b", OperationID: "op2"}, false},
		{"the event of the operation, again", failover.Alarmed{OperationID: "op1"}, true},
		{"a person", failover.Asked{OperationID: "op1"}, false},
	} {
		if got := takesUp(s, tt.e); got != tt.want {
			t.Errorf("%s: goes on with the rejoin and nothing else: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTakeoverDuringARejoin (R30): whoever brings the old primary back keeps no
// claim from the record by saying that he is at work.
func TestTakeoverDuringARejoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, _ := setup()
		st.state.Phase, st.state.Operation = failover.Rejoining, &failover.Operation{
			ID: "op1", Kind: failover.Rejoin, From: "a", To: "b", Step: failover.StepPeer, Deadline: r.Clock.Now().Add(15 * time.Minute), Config: st.state.Config.WithDefaults(),
		}
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		before := st.state.Version
		_, _ = r.Run(ctx, group, failover.Resumed{At: r.Clock.Now()})
		if st.state.Version > before+1 {
			t.Errorf("the record was written %d times in two minutes of waiting", st.state.Version-before)
		}
	})
}
