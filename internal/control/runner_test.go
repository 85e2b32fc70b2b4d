package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func checkTakenOver(t *testing.T, st *store, si *site) {
	t.Helper()
	if st.state.Primary != "b" || st.state.Phase != failover.Steady || st.state.Operation != nil || st.state.Epoch != 8 {
		t.Errorf("record: primary %s, phase %s, epoch %d, operation %+v", st.state.Primary, st.state.Phase, st.state.Epoch, st.state.Operation)
	}
	if want := map[string]string{"rtb-1": nodeB.ENI, "rtb-2": nodeB.ENI}; !cmp.Equal(want, si.owner) {
		t.Errorf("routes: %v", si.owner)
	}
}

func ended(st *store) int {
	n := 0
	for _, e := range st.history {
		if e.Event == "ended" {
			n++
		}
	}
	return n
}

func TestTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		checkTakenOver(t, st, si)
		slices.Sort(si.calls[2:]) // the routes move side by side
		if diff := cmp.Diff([]string{"stop a", "promote b epoch 8", "move rtb-1", "move rtb-2"}, si.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if st.sealed != "op1" {
			t.Error("R10: the lease was not sealed")
		}
		if first := st.history[0]; first.Event != "started" || len(first.Evidence) < 2 {
			t.Errorf("history begins with %s and %d pieces of evidence", first.Event, len(first.Evidence))
		}
	})
}

// TestLastWord: the end of an operation is saved together with the word of it,
// and told afterwards: by this runner, or by the next one that reads the record.
func TestLastWord(t *testing.T) {
	t.Run("told once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			early := false
			st.appends = func() error { early = early || st.state.Operation != nil && st.state.Word != nil; return nil }
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
				t.Fatal(err)
			}
			if ended(st) != 1 || st.state.Word != nil || st.state.Operation != nil || early {
				t.Errorf("%d ends, word %+v, told before it was saved: %v", ended(st), st.state.Word, early)
			}
		})
	})
	t.Run("its runner dies before it tells", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			st.appends = func() error {
				if st.state.Word != nil {
					return errors.New("this runner tells nothing any more")
				}
				return nil
			}
			_, _ = r.Run(t.Context(), group, event(r.Clock))
			if st.state.Operation != nil || st.state.Word == nil || ended(st) != 0 {
				t.Fatalf("operation %+v, word %+v, %d ends", st.state.Operation, st.state.Word, ended(st))
			}
			st.appends = nil
			if _, err := r.Watch(t.Context(), group, "op2"); err != nil {
				t.Fatal(err)
			}
			if ended(st) != 1 || st.state.Word != nil {
				t.Errorf("after a look: %d ends, word %+v", ended(st), st.state.Word)
			}
		})
	})
	t.Run("its start could not be told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			st.appends = func() error {
				if op := st.state.Operation; op != nil {
					return errors.New("no answer while the operation runs")
				}
				return nil
			}
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, e := range st.history {
				if e.Event != "step" {
					told = append(told, e.Event)
				}
			}
			if !slices.Equal(told, []string{"started", "ended"}) || st.state.Start != nil || st.state.Word != nil {
				t.Errorf("told %v, start %+v, word %+v", told, st.state.Start, st.state.Word)
			}
		})
	})
	t.Run("another operation takes its place before its start is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			now := r.Clock.Now()
			st.state.Phase = failover.Rejoining
			st.state.Operation = &failover.Operation{
				ID: "op0", Kind: failover.Rejoin, From: "b", To: "a", Step: failover.StepPeer, Attempt: 1,
				Started: now, StepSince: now, Deadline: now.Add(time.Hour), Config: st.state.Config,
			}
			st.state.Start = &failover.Entry{At: now, OperationID: "op0", Event: "started", Kind: failover.Rejoin}
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, e := range st.history {
				if e.OperationID == "op0" {
					told = append(told, e.Event)
				}
			}
			if !slices.Equal(told, []string{"started", "ended"}) || st.state.Operation != nil {
				t.Errorf("told of the rejoin: %v; running %+v", told, st.state.Operation)
			}
		})
	})
	t.Run("cancelled by somebody who dies before he tells", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			st.state.Phase = failover.Blocked
			st.state.Operation = &failover.Operation{
				ID: "op1", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepRecheck,
				Blocked: "node b can't be read", Next: "hadr resume orders", Config: st.state.Config,
			}
			st.appends = func() error { return errors.New("this runner tells nothing any more") }
			_, _ = r.Run(t.Context(), group, failover.Cancelled{At: r.Clock.Now(), Actor: "ann"})
			if st.state.Operation != nil || ended(st) != 0 {
				t.Fatalf("operation %+v, %d ends", st.state.Operation, ended(st))
			}
			st.appends = nil
			if _, err := r.Watch(t.Context(), group, "op2"); err != nil {
				t.Fatal(err)
			}
			if first := st.history[0]; first.OperationID != "op1" || first.Event != "ended" || first.Outcome != "cancelled" || st.state.Word != nil {
				t.Errorf("after a look: first %+v, word %+v", first, st.state.Word)
			}
		})
	})
	t.Run("somebody else was faster", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, st, _ := setup()
			st.saveErr = func() error {
				if st.state.Primary == "b" && st.state.Operation != nil && st.state.Operation.Step == failover.StepRedirect {
					st.saveErr = nil
					op := *st.state.Operation
					op.Blocked, op.Next = "by another runner", "hadr resume orders"
					st.state.Operation, st.state.Phase = &op, failover.Blocked
					st.state.Version++
				}
				return nil
			}
			_, _ = r.Run(t.Context(), group, event(r.Clock))
			if ended(st) != 0 || st.state.Phase != failover.Blocked {
				t.Errorf("%d ends of an operation that is blocked, phase %s", ended(st), st.state.Phase)
			}
		})
	})
}

// TestRunnerDies ends the runner with each of its calls to the outside on its
// way, and lets another one go on.
func TestRunnerDies(t *testing.T) {
	for _, victim := range []string{"stop a", "promote b epoch 8", "move rtb-1", "move rtb-2"} {
		t.Run(victim, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, st, si := setup()
				ctx, die := context.WithCancel(t.Context())
				dead := false
				si.onCall = func(call string) {
					if call != victim || dead {
						return
					}
					dead = true
					die()
				}
				_, err := r.Run(ctx, group, event(r.Clock))
				if !errors.Is(err, ErrUnfinished) {
					t.Fatalf("error %v, want ErrUnfinished", err)
				}
				if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil { // Lambda delivers again
					t.Fatal(err)
				}
				checkTakenOver(t, st, si)
				if ended(st) != 1 {
					t.Errorf("the history has %d ends", ended(st))
				}
			})
		})
	}
}

// TestTwoRunners: the same event delivered twice at once makes one takeover.
func TestTwoRunners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		checkTakenOver(t, st, si)
		if st.state.Epoch != 8 {
			t.Errorf("epoch %d, want 8", st.state.Epoch)
		}
		for i, c := range si.calls {
			if strings.HasPrefix(c, "stop") && slices.Contains(si.calls[:i], "move rtb-1") {
				t.Errorf("a stop after the redirect: %v", si.calls)
			}
		}
	})
}

// TestTwoAlarms: two different alarms at once make one takeover.
func TestTwoAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		var wg sync.WaitGroup
		for _, id := range []string{"op1", "op2"} {
			wg.Go(func() {
				e := event(r.Clock)
				e.OperationID = id
				if _, err := r.Run(t.Context(), group, e); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		checkTakenOver(t, st, si)
		if si.promoted != 1 {
			t.Errorf("promoted %d times", si.promoted)
		}
	})
}

func TestLostAnswersOfTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		lost := false
		st.loseAck = func() bool { first := !lost; lost = true; return first }
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		checkTakenOver(t, st, si) // R2: the claim was won
	})
}

func TestMaintenanceAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		st.state.Maintenance = failover.Maintenance{On: true, Until: r.Clock.Now().Add(-time.Second)} // expired for the core, set again for the table
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		if len(si.calls) > 0 || st.state.Epoch != 7 || st.state.Operation != nil {
			t.Errorf("R11: acted in maintenance: %v", si.calls)
		}
		if last := st.history[len(st.history)-1]; last.Event != "ignored" || !strings.Contains(last.Reason, "maintenance") {
			t.Errorf("last entry %s %q", last.Event, last.Reason)
		}
	})
}

// TestRecordUnreachableAfterPromotion: the redirects of this epoch are finished
// (R27).
func TestRecordUnreachableAfterPromotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		st.saveErr = func() error {
			si.mu.Lock()
			defer si.mu.Unlock()
			if si.promoted > 0 && si.owner["rtb-2"] == nodeA.ENI {
				return errors.New("no route to host")
			}
			return nil
		}
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil && si.owner["rtb-1"] == nodeA.ENI {
			t.Fatal(err)
		}
		if want := map[string]string{"rtb-1": nodeB.ENI, "rtb-2": nodeB.ENI}; !cmp.Equal(want, si.owner) {
			t.Errorf("routes: %v", si.owner)
		}
	})
}

// TestRedirectAloneIsBounded: no claim is made while a runner that lost the record
// may still lead routes, so that he must have an end (R27). What counts is when he
// saw the record last.
func TestRedirectAloneIsBounded(t *testing.T) {
	limit := failover.Config{PromoteTimeout: time.Minute, RedirectTimeout: time.Minute}.Alone()
	for _, tt := range []struct {
		name   string
		frozen time.Duration
		moves  bool
	}{
		{"a moment ago", 3 * time.Second, true},
		{"just in time", limit - recordLimit - time.Second, true},
		{"too long ago", limit, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, st, si := setup()
				st.state.Epoch, st.state.Primary, st.state.Phase = 8, "b", failover.TakingOver
				st.state.Operation = &failover.Operation{
					ID: "op1", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepRedirect,
					Deadline: r.Clock.Now().Add(time.Hour), Config: st.state.Config.WithDefaults(),
				}
				w := &work{Runner: r, group: group, log: r.Log}
				if err := w.load(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.Store = hanging{Store: st, gone: func() bool { return true }}
				time.Sleep(tt.frozen)
				_, err := w.run(t.Context(), []failover.Effect{failover.MoveRoute{Table: "rtb-1", Node: "b", Epoch: 8}})
				if moved := si.owner["rtb-1"] == nodeB.ENI; moved != tt.moves || (err == nil) != tt.moves {
					t.Errorf("the route leads to %s, error %v", si.owner["rtb-1"], err)
				}
			})
		})
	}
}

// TestFrozenRunner: a runner that slept before a mutation looks at the record
// again, and stops for whoever went on meanwhile (R22).
func TestFrozenRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		w := &work{Runner: r, group: group, log: r.Log}
		if err := w.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		st.state.Version++ // somebody else
		_, err := w.run(t.Context(), []failover.Effect{failover.Stop{Node: "a"}})
		if !errors.Is(err, ErrConflict) || len(si.calls) > 0 {
			t.Errorf("error %v, calls %v; want a conflict and no call", err, si.calls)
		}
	})
}

// TestFrozenRunnerAnnouncesNothing: a runner that slept before the last word of
// its operation tells nobody of an end that somebody else has overtaken.
func TestFrozenRunnerAnnouncesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, _ := setup()
		st.state.Operation = &failover.Operation{ID: "op1", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepVerify}
		w := &work{Runner: r, group: group, log: r.Log}
		if err := w.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		st.state.Version++ // somebody else
		w.state.Operation = nil
		_, err := w.commit(t.Context(), []failover.Effect{failover.Record{Entry: failover.Entry{Event: "ended"}}})
		if !errors.Is(err, ErrConflict) || len(st.history) > 0 {
			t.Errorf("error %v, history %v; want a conflict and no word", err, st.history)
		}
	})
}

func TestOneRouteDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		si.moveErr["rtb-1"] = errors.New("UnauthorizedOperation")
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		if si.owner["rtb-2"] != nodeB.ENI || !st.state.RouteOnly() {
			t.Errorf("R26: routes %v, phase %s", si.owner, st.state.Phase)
		}
		if next := st.state.Operation.Next; !strings.Contains(next, "aws ec2 replace-route --route-table-id rtb-1") {
			t.Errorf("next command %q", next)
		}
	})
}

func TestClockIsBounded(t *testing.T) {
	sent := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	read := sent.Add(time.Second)
	tests := []struct {
		name string
		host time.Time
		want time.Duration
	}{
		{"inside the question's time nothing speaks against it", sent.Add(500 * time.Millisecond), 0},
		{"ahead", read.Add(3 * time.Second), 3 * time.Second},
		{"behind", sent.Add(-4 * time.Second), -4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := failover.Observation{Answer: failover.Answered, HostTime: tt.host, ReadAt: read}
			measureClock(&o, sent)
			if o.ClockOffset != tt.want || !o.ClockOffsetAt.Equal(read) {
				t.Errorf("offset %s at %s, want %s", o.ClockOffset, o.ClockOffsetAt, tt.want)
			}
		})
	}
}

// TestEngineWords: what a person does by hand on a node comes from its engine.
func TestEngineWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		st.state.Primary, si.machine["a"] = "b", failover.InstanceTerminated
		got, err := r.Run(t.Context(), group, failover.RejoinAsked{At: r.Clock.Now(), Node: "a", OperationID: "op2", Actor: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Last == nil || got.Last.Outcome != failover.NeedsReseed || !strings.Contains(got.Last.Next, si.Manual().Reseed) {
			t.Errorf("last word: %+v", got.Last)
		}
	})
}
