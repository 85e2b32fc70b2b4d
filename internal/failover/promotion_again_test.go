package failover

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPromotionIsTriedAgainBehindTheFence: between two tries the old primary is
// started and connects to its standby, which is fit again. It is stopped again
// before the second try (R15, R18).
func TestPromotionIsTriedAgainBehindTheFence(t *testing.T) {
	for _, fencing := range []Fencing{Strict, PeerWindow} {
		s, w := steadyState(), newWorld()
		s.Config.Fencing = fencing
		tries := 0
		w.onPromote = func(w *fakeWorld, e Promote) Promoted {
			if tries++; tries == 1 {
				w.machine["a"] = InstanceRunning // automatic recovery
				return Promoted{At: w.at, Node: e.Node, Outcome: Failed}
			}
			w.role["b"] = RolePrimary
			return Promoted{At: w.at, Node: e.Node, Outcome: OK}
		}
		s = w.run(s, alarmed(), 500)
		want := []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1", "stop a", "promote b epoch 8 attempt 2"}
		if diff := cmp.Diff(want, slices.DeleteFunc(w.log, func(l string) bool { return l[0] == 'm' || l[0] == 'c' && l[1] == 'h' })); diff != "" {
			t.Errorf("%s: effects (-want +got):\n%s", fencing, diff)
		}
		if s.Primary != "b" || s.Phase != Steady || len(w.bad) > 0 {
			t.Errorf("%s: primary %s, phase %s, bad %q", fencing, s.Primary, s.Phase, w.bad)
		}
	}
}
