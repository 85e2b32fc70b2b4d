package control

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestRunnersInterfere lets an event, its redelivery and watch run side by side,
// while runners die at random calls and answers of the record get lost. In the
// end there is one primary, the routes lead to it, and nothing was promoted
// before the old primary was down.
func TestRunnersInterfere(t *testing.T) {
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			r, st, si := setup()
			luck := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			chance := func(n int) bool {
				mu.Lock()
				defer mu.Unlock()
				return luck.IntN(n) == 0
			}
			calm := false
			st.loseAck = func() bool { return !calm && chance(8) }
			st.saveErr = func() error {
				if !calm && chance(12) {
					return errors.New("no route to host")
				}
				return nil
			}
			var alive sync.Map // cancels of the runners that live
			si.onCall = func(call string) {
				if strings.HasPrefix(call, "promote") && !si.down("a") {
					t.Errorf("seed %d: promoted while the old primary may write", seed)
				}
				if strings.HasPrefix(call, "stop b") || strings.HasPrefix(call, "start a") {
					t.Errorf("seed %d: %s, although node b is well", seed, call)
				}
				if strings.HasPrefix(call, "stop a") && st.primary() == "b" {
					t.Errorf("seed %d: %s by a runner that the record has left behind", seed, call)
				}
				if !calm && chance(5) {
					alive.Range(func(_, die any) bool { die.(context.CancelFunc)(); return chance(2) })
				}
			}
			var wg sync.WaitGroup
			for n := range 4 {
				wg.Go(func() {
					time.Sleep(time.Duration(n) * time.Duration(seed%7) * time.Second)
					for delivery := range 3 {
						ctx, die := context.WithCancel(t.Context())
						alive.Store(n, die)
						var err error
						if n == 3 {
							_, err = r.Watch(ctx, group, fmt.Sprintf("watch%d", delivery))
						} else {
							e := event(r.Clock)
							e.OperationID = fmt.Sprintf("op%d", n/2) // two deliveries of one event, and another event
							_, err = r.Run(ctx, group, e)
						}
						alive.Delete(n)
						die()
						if err == nil {
							return
						}
						time.Sleep(10 * time.Second)
					}
				})
			}
			wg.Wait()
			calm = true
			for range 5 {
				_, _ = r.Watch(t.Context(), group, "watch")
				time.Sleep(time.Minute)
			}
			s := st.state
			if s.Primary != "b" || s.Phase != failover.Steady || s.Operation != nil {
				t.Errorf("seed %d: primary %s, phase %s, operation %+v; calls %q", seed, s.Primary, s.Phase, s.Operation, si.calls)
			}
			for table, eni := range si.owner {
				if eni != nodeB.ENI {
					t.Errorf("seed %d: %s leads to %s", seed, table, eni)
				}
			}
			if len(si.orders) != 1 {
				t.Errorf("seed %d: more than one promotion: %v", seed, si.orders)
			}
			if s.Epoch != 8 {
				t.Errorf("seed %d: epoch %d after one failure", seed, s.Epoch)
			}
		})
	}
}

func (s *site) down(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine[node].Down()
}

func (s *store) primary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Primary
}
