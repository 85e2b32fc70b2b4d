package control

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// asking is a site whose nodes are asked by commands, which take their time; node
// a never answers one.
type asking struct {
	*site
	mu    sync.Mutex
	nodes []string // that were asked
}

func (a *asking) Observe(ctx context.Context, group string, n failover.NodeConfig, settings map[string]string) failover.Observation {
	a.mu.Lock()
	a.nodes = append(a.nodes, n.ID)
	a.mu.Unlock()
	pause := time.Second
	if n.ID == "a" {
		pause = time.Hour
	}
	_ = a.clock.Sleep(ctx, pause) // the end of its time is an answer, too
	return a.site.Observe(ctx, group, n, settings)
}

func (a *asking) asked(node string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.nodes, node)
}

// standing is a lease that is read.
type standing struct{ lease failover.Lease }

func (l standing) ReadLease(context.Context, string) (failover.Lease, error) { return l.lease, nil }

func (standing) SealSeen(context.Context, string, failover.Lease, string) (bool, string, error) {
	return true, "", nil
}

func (standing) Unseal(context.Context, string, string) error { return nil }

// byAgent is what the agent of standby b wrote of a view that began at a time.
func byAgent(c clock.Clock, age time.Duration) failover.Observation {
	now := c.Now()
	return failover.Observation{
		Node: "b", Source: "agent", ReadAt: now, HostTime: now, ViewedAt: now.Add(-age), ClockOffsetAt: now.Add(-time.Minute),
		Answer: failover.Answered, Database: failover.DatabaseActive, Role: failover.RoleStandby, State: "PEER",
		Fitness: failover.Fit, PromoteUntil: now.Add(200 * time.Second), PartnerSilence: 7 * time.Second,
	}
}

// TestHeard: which view of an agent stands for the answer to a command.
func TestHeard(t *testing.T) {
	primary := func(o *failover.Observation) { o.Node, o.Role = "a", failover.RolePrimary }
	tests := []struct {
		name   string
		node   string
		age    time.Duration
		change func(*failover.Observation)
		heard  bool
	}{
		{"the standby's, of a second ago", "b", time.Second, nil, true},
		{"of four seconds ago", "b", 4 * time.Second, nil, false},
		{"a new record of an old view: the status command hangs", "b", time.Minute, nil, false},
		{"of a time to come: a clock is wrong", "b", -4 * time.Second, nil, false},
		{"of four seconds ago, on a clock that is two seconds behind", "b", 6 * time.Second, func(o *failover.Observation) { o.ClockOffset = -2 * time.Second }, false},
		{"of a second ago, on a clock that is five seconds behind", "b", 6 * time.Second, func(o *failover.Observation) { o.ClockOffset = -5 * time.Second }, true},
		{"of nobody knows when: its clock was never measured", "b", time.Second, func(o *failover.Observation) { o.ClockOffsetAt = time.Time{} }, false},
		{"its clock was measured long ago", "b", time.Second, func(o *failover.Observation) { o.ClockOffsetAt = o.HostTime.Add(-time.Hour) }, false},
		{"written by watch", "b", time.Second, func(o *failover.Observation) { o.Source = "watch" }, false},
		{"the agent got no answer", "b", time.Second, func(o *failover.Observation) { o.Answer = failover.Silent }, false},
		{"a primary that is well: it may have failed since", "a", time.Second, primary, false},
		{"a primary whose server is down", "a", time.Second, func(o *failover.Observation) { primary(o); o.Database = failover.DatabaseDown }, true},
		{"a primary that waits for its standby (R4)", "a", time.Second, func(o *failover.Observation) { primary(o); o.WaitsForStandby = true }, true},
		{"a primary that somebody stopped (R6)", "a", time.Second, func(o *failover.Observation) { primary(o); o.StoppedInOrder = "patch" }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, st, si := setup()
				nodes := &asking{site: si}
				r.Engine = nodes
				o := byAgent(r.Clock, tt.age)
				if tt.change != nil {
					tt.change(&o)
				}
				st.agents[tt.node] = o
				w := &work{Runner: r, group: group, log: r.Log}
				if err := w.load(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.gather(t.Context(), failover.Gather{Nodes: []string{"a", "b"}, Suspect: "a", Timeout: 3 * time.Second})
				if nodes.asked(tt.node) == tt.heard {
					t.Errorf("node %s was asked: %v", tt.node, !tt.heard)
				}
			})
		})
	}
}

// TestWrittenMeanwhile: what an agent writes while a command is under way ends
// the wait for it.
func TestWrittenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		r.Engine = &asking{site: si}
		began := time.Now()
		time.AfterFunc(600*time.Millisecond, func() {
			o := byAgent(r.Clock, 0)
			o.Node, o.Role, o.Database = "a", failover.RolePrimary, failover.DatabaseDown
			_ = st.PutNode(t.Context(), group, o)
		})
		w := &work{Runner: r, group: group, log: r.Log}
		if err := w.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, _ := w.gather(t.Context(), failover.Gather{Nodes: []string{"a", "b"}, Suspect: "a", Timeout: 3 * time.Second}).(failover.Gathered)
		if took := time.Since(began); took > 1100*time.Millisecond || e.Nodes["a"].Database != failover.DatabaseDown {
			t.Errorf("after %s: %+v", took, e.Nodes["a"])
		}
		w.background.Wait()
	})
}

// TestMute: a primary whose lease stands still, and of which its standby has heard
// nothing for as long, is not waited for. Everybody else has 3 seconds (R4).
func TestMute(t *testing.T) {
	still := failover.Lease{Holder: "a", Epoch: 7, Counter: 41}
	seen := func(c clock.Clock) failover.LeaseSight {
		return failover.LeaseSight{Epoch: 7, Counter: 41, At: c.Now(), Stood: 6 * time.Second}
	}
	tests := []struct {
		name    string
		lease   failover.Lease
		change  func(*failover.Observation)
		waits   bool
		signals []failover.Signal
	}{
		{"its lease stands still, and its standby hears nothing", still, nil, false,
			[]failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"its standby hears it", still, func(o *failover.Observation) { o.PartnerSilence = time.Second }, true, []failover.Signal{failover.SignalLease}},
		{"its commits took long when it was renewed", failover.Lease{Holder: "a", Epoch: 7, Counter: 41, Slow: true}, nil, true,
			[]failover.Signal{failover.SignalLease}},
		{"its lease was renewed since", failover.Lease{Holder: "a", Epoch: 7, Counter: 42}, nil, true, nil},
		{"its lease was suspended: stopped in order (R6)", failover.Lease{Holder: "a", Epoch: 7, Counter: 41, Suspended: "patch"}, nil, true, nil},
		{"nobody saw its lease stand still", still, func(o *failover.Observation) { o.LeaseStill = failover.LeaseSight{} }, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, st, si := setup()
				nodes := &asking{site: si}
				r.Engine, r.Leases = nodes, standing{tt.lease}
				o := byAgent(r.Clock, time.Second)
				o.LeaseStill = seen(r.Clock)
				if tt.change != nil {
					tt.change(&o)
				}
				st.agents["b"] = o
				w := &work{Runner: r, group: group, log: r.Log}
				if err := w.load(t.Context()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				e, _ := w.gather(t.Context(), failover.Gather{Nodes: []string{"a", "b"}, Suspect: "a", Timeout: 3 * time.Second}).(failover.Gathered)
				if took := time.Since(began); (took >= 3*time.Second) != tt.waits {
					t.Errorf("it took %s", took)
				}
				a := e.Nodes["a"]
				if a.Answer != failover.Silent || a.Instance != failover.InstanceRunning || a.LastGoodProbe.IsZero() {
					t.Errorf("node a: %+v", a)
				}
				var signals []failover.Signal
				for _, s := range e.Evidence {
					if s.Signal == failover.SignalLease || s.Signal == failover.SignalStandbyView {
						signals = append(signals, s.Signal)
					}
				}
				if !slices.Equal(signals, tt.signals) {
					t.Errorf("signals %v, want %v", signals, tt.signals)
				}
				w.background.Wait()
			})
		})
	}
}

// TestLastLookAtTheStandby (R20): before the fence a view of its agent of a moment
// ago will do; after the promotion its role is asked for.
func TestLastLookAtTheStandby(t *testing.T) {
	for step, asked := range map[failover.StepName]bool{failover.StepRecheck: false, failover.StepConfirm: true} {
		t.Run(string(step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, st, si := setup()
				nodes := &asking{site: si}
				r.Engine = nodes
				st.agents["b"] = byAgent(r.Clock, time.Second)
				st.state.Operation = &failover.Operation{
					ID: "op1", Kind: failover.Takeover, From: "a", To: "b", Step: step, Deadline: r.Clock.Now().Add(time.Minute), Config: st.state.Config.WithDefaults(),
				}
				w := &work{Runner: r, group: group, log: r.Log}
				if err := w.load(t.Context()); err != nil {
					t.Fatal(err)
				}
				if o := w.readNode(t.Context(), failover.ReadNode{Node: "b", Timeout: 3 * time.Second}); o.Role != failover.RoleStandby || nodes.asked("b") != asked {
					t.Errorf("role %s, asked %v", o.Role, nodes.asked("b"))
				}
			})
		})
	}
}

// TestStoppedWithoutAnotherLook: a machine that was read when the takeover was
// decided is stopped at once; what it reads afterwards counts (R15).
func TestStoppedWithoutAnotherLook(t *testing.T) {
	tests := []struct {
		name string
		age  time.Duration
		seen failover.InstanceState
		want failover.InstanceState
	}{
		{"read a moment ago", time.Second, failover.InstanceRunning, failover.InstanceRunning},
		{"read long ago", 4 * time.Second, failover.InstanceRunning, failover.InstanceStopped},
		{"not readable then", time.Second, failover.InstanceUnknown, failover.InstanceStopped},
		{"stopping then: is it stopped now?", time.Second, failover.InstanceStopping, failover.InstanceStopped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _, si := setup()
				si.machine["a"] = failover.InstanceStopped
				w := &work{Runner: r, group: group, log: r.Log, machines: map[string]sighting{"a": {tt.seen, r.Clock.Now().Add(-tt.age)}}}
				w.state.Operation = &failover.Operation{Step: failover.StepFence, From: "a", Config: failover.Config{Nodes: []failover.NodeConfig{nodeA, nodeB}}}
				e, _ := w.readInstance(t.Context(), failover.ReadInstance{Node: "a"}).(failover.InstanceRead)
				if e.State != tt.want {
					t.Errorf("first: %s, want %s", e.State, tt.want)
				}
				w.state.Operation.Fence.Tries = 1
				if e, _ := w.readInstance(t.Context(), failover.ReadInstance{Node: "a"}).(failover.InstanceRead); e.State != failover.InstanceStopped {
					t.Errorf("after the stop was sent: %s", e.State)
				}
			})
		})
	}
}

// TestFirstSending (R21): only a run that put the intent on the record itself
// knows that nobody sent the command before.
func TestFirstSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, si := setup()
		sent := &sending{site: si}
		r.Engine = sent
		ctx, die := context.WithCancel(t.Context())
		si.onCall = func(call string) {
			if strings.HasPrefix(call, "promote") {
				si.onCall = nil
				die()
			}
		}
		_, _ = r.Run(ctx, group, event(r.Clock)) // dies with the command on its way
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		if want := []bool{true, false}; !slices.Equal(sent.first, want) {
			t.Errorf("first: %v, want %v", sent.first, want)
		}
	})
}

// sending notes how promotions are asked for; the first one leads to nothing.
type sending struct {
	*site
	first []bool
}

func (s *sending) Promote(ctx context.Context, p Promotion, started func(string)) PromotionResult {
	s.first = append(s.first, p.First)
	result := s.site.Promote(ctx, p, started)
	if len(s.first) == 1 {
		return PromotionResult{Outcome: failover.Unknown}
	}
	return result
}

// TestAnswerWithTheAgentsWord: what a standby's agent saw over some time no
// command can print: an older record of it stays with the answer.
func TestAnswerWithTheAgentsWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		nodes := &asking{site: si}
		r.Engine = nodes
		written := byAgent(r.Clock, 30*time.Second) // its view is too old to stand for an answer
		written.LogFlows = r.Clock.Now().Add(-34 * time.Second)
		written.LeaseStill = failover.LeaseSight{Epoch: 7, Counter: 41, At: r.Clock.Now(), Stood: 6 * time.Second}
		st.agents["b"] = written
		w := &work{Runner: r, group: group, log: r.Log}
		if err := w.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		o := w.observe(t.Context(), "b", 3*time.Second)
		if !nodes.asked("b") || o.Source == "agent" {
			t.Fatalf("the agent's old view was taken: %+v", o)
		}
		if !o.LogFlows.Equal(written.LogFlows) || o.LeaseStill != written.LeaseStill {
			t.Errorf("the log grew %s, the lease %+v; the agent wrote %s, %+v", o.LogFlows, o.LeaseStill, written.LogFlows, written.LeaseStill)
		}
		w.background.Wait()
	})
}

// TestAgentIsSilentAndPrimaryAnswers: where the suspect itself answered that it
// serves, what its standby does not hear is its agent.
func TestAgentIsSilentAndPrimaryAnswers(t *testing.T) {
	r, _, _ := setup()
	r.Leases = standing{failover.Lease{Holder: "a", Epoch: 7, Counter: 41}}
	standby := byAgent(r.Clock, time.Second)
	standby.LeaseStill = failover.LeaseSight{Epoch: 7, Counter: 41, At: r.Clock.Now(), Stood: 6 * time.Second}
	serves := failover.Observation{Node: "a", Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive}
	w := &work{Runner: r, group: group, log: r.Log}
	if err := w.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for signals, nodes := range map[int]map[string]failover.Observation{
		2: {"b": standby},
		1: {"b": standby, "a": serves},
	} {
		if found := w.leaseEvidence(t.Context(), "a", nodes); len(found) != signals {
			t.Errorf("of %d nodes: %+v, want %d signals", len(nodes), found, signals)
		}
	}
}
