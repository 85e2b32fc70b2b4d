package failover

import (
	"slices"
	"testing"
	"time"
)

// stopsOf counts the stops of a node in the log of a world.
func stopsOf(w *fakeWorld, node string) (n int) {
	for _, l := range w.log {
		if l == "stop "+node {
			n++
		}
	}
	return n
}

// TestStartedWhileItIsStopped (R18): a person or automatic recovery starts the
// old primary, while an operation waits for its stop. It is stopped again, and
// the takeover ends well.
func TestStartedWhileItIsStopped(t *testing.T) {
	for _, fencing := range []Fencing{Strict, PeerWindow} {
		t.Run(string(fencing), func(t *testing.T) {
			w := newWorld()
			s := steadyState()
			s.Config.Fencing = fencing
			w.onGather = gatherOf(func(o *Observation) { o.DeadManUntil = now.Add(time.Hour) }, nil)
			accepted := false
			w.onStop = func(w *fakeWorld, e Stop) StopRequested {
				if w.machine[e.Node] = InstanceStopping; accepted {
					w.stops = true
				}
				return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
			}
			w.onSettle = func() {
				if w.machine["a"] == InstanceStopping && !accepted {
					accepted, w.machine["a"] = true, InstanceRunning
				}
			}
			s = w.run(s, alarmed(), 500)
			if s.Phase != Steady || s.Primary != "b" || len(w.bad) > 0 {
				t.Errorf("phase %s, primary %s, bad %q, blocked %+v", s.Phase, s.Primary, w.bad, s.Operation)
			}
			if n := stopsOf(w, "a"); n != 2 || !slices.Contains([]InstanceState{InstanceStopped, InstanceTerminated}, w.machine["a"]) {
				t.Errorf("%d stops, machine %s; want 2 and stopped", n, w.machine["a"])
			}
		})
	}
}
