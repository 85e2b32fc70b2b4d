package failover

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

const alarmARN = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a"

func testConfig() Config {
	return Config{
		Engine: "db2", Preferred: "a", VIP: "10.99.0.1", Port: 50000,
		Nodes: []NodeConfig{
			{ID: "a", Instance: "i-0000000000000000a", ENI: "eni-0000000000000000a", Zone: "eu-central-1a"},
			{ID: "b", Instance: "i-0000000000000000b", ENI: "eni-0000000000000000b", Zone: "eu-central-1b"},
		},
		Routes:   []string{"rtb-1", "rtb-2"},
		Checkers: map[string]string{"rtb-1": "i-0000000000000000c"},
		Policy:   Automatic, Fencing: Strict,
	}.WithDefaults()
}

func steadyState() State {
	return State{
		Group: "orders", Config: testConfig(), Epoch: 7, Primary: "a", Phase: Steady,
		Changed: now.Add(-24 * time.Hour), Version: 40,
	}
}

// vanished is what is gathered 100 s after the host of node a disappeared.
func vanished() Gathered {
	return Gathered{
		At: now,
		Nodes: map[string]Observation{
			"a": {
				Node: "a", ReadAt: now, Instance: InstanceRunning, InstanceCheck: "impaired", Answer: Silent, AnswerError: "no answer in 3s",
				LastGoodProbe: now.Add(-105 * time.Second), ClockOffset: 100 * time.Millisecond, ClockOffsetAt: now.Add(-105 * time.Second),
			},
			"b": {
				Node: "b", ReadAt: now, Instance: InstanceRunning, InstanceCheck: "ok", Answer: Answered, HostTime: now,
				Database: DatabaseActive, Role: RoleStandby, State: "PEER", PartnerStatus: "CONNECTED", SyncMode: "NEARSYNC",
				PartnerSilence: 100 * time.Second, PartnerLost: true, Fitness: Fit, PromoteUntil: now.Add(200 * time.Second),
				ClockOffsetAt: now, ConnectedSince: now.Add(-24 * time.Hour),
			},
		},
		Evidence: []Evidence{
			{Node: "a", Signal: SignalAlarm, Detail: "orders-a is in ALARM", At: now, Source: alarmARN},
			{Node: "a", Signal: SignalStandbyView, Detail: "silent for 100 s", At: now},
			{Node: "a", Signal: SignalSilent, Detail: "no answer in 3s", At: now},
		},
	}
}

func TestDecide(t *testing.T) {
	only := func(signals ...Signal) func(*State, *Gathered) {
		return func(_ *State, g *Gathered) {
			g.Evidence = nil
			for _, s := range signals {
				g.Evidence = append(g.Evidence, Evidence{Node: "a", Signal: s, At: now})
			}
		}
	}
	standby := func(change func(*Observation)) func(*State, *Gathered) {
		return func(_ *State, g *Gathered) {
			o := g.Nodes["b"]
			change(&o)
			g.Nodes["b"] = o
		}
	}
	suspect := func(change func(*Observation)) func(*State, *Gathered) {
		return func(_ *State, g *Gathered) {
			o := g.Nodes["a"]
			change(&o)
			g.Nodes["a"] = o
		}
	}
	state := func(change func(*State)) func(*State, *Gathered) {
		return func(s *State, _ *Gathered) { change(s) }
	}
	tests := []struct {
		name    string
		change  func(*State, *Gathered)
		verdict Verdict
		guard   Guard
		says    string
	}{
		{"host vanished: three signals, standby fit, window open", nil, Act, GuardNone, "node a failed"},
		{"R8: alarm alone", only(SignalAlarm), Hold, GuardEvidence, "only CloudWatch"},
		{"R8: no signal at all any more", only(), Hold, GuardEvidence, "no sign of a failure"},
		{"R8: one signal from outside CloudWatch alone", only(SignalStandbyView), Hold, GuardEvidence, "two are needed"},
		{"R8: alarm and the standby's view", only(SignalAlarm, SignalStandbyView), Act, GuardNone, ""},
		{"R8: alarm twice is one signal", only(SignalAlarm, SignalAlarm), Hold, GuardEvidence, "only CloudWatch"},
		{"R8: no alarm, but the lease and the standby's view", only(SignalLease, SignalStandbyView), Act, GuardNone, ""},
		{"R8: a slow status command is no second signal", only(SignalAlarm, SignalSilent), Hold, GuardEvidence, "only CloudWatch"},
		{"R8: alarm and lease, and the node says that it serves: its agent died", func(s *State, g *Gathered) {
			only(SignalAlarm, SignalLease)(s, g)
			suspect(reads(RolePrimary, DatabaseActive))(s, g)
		}, Hold, GuardEvidence, "both hang on its agent"},
		{"R8: alarm and lease, and the node says nothing", only(SignalAlarm, SignalLease), Act, GuardNone, ""},
		{"R8: alarm, lease and the standby's view, and the node says that it serves", func(s *State, g *Gathered) {
			only(SignalAlarm, SignalLease, SignalStandbyView)(s, g)
			suspect(reads(RolePrimary, DatabaseActive))(s, g)
		}, Act, GuardNone, ""},
		{"R8: alarm, lease and the agent's bad probe: a hang", func(s *State, g *Gathered) {
			only(SignalAlarm, SignalLease, SignalProbe)(s, g)
			suspect(reads(RolePrimary, DatabaseActive))(s, g)
		}, Act, GuardNone, ""},
		{"R8: the agent's own record of two minutes ago", func(_ *State, g *Gathered) {
			g.Evidence = []Evidence{{Node: "a", Signal: SignalAlarm, At: now}, {Node: "a", Signal: SignalProbe, At: now.Add(-2 * time.Minute)}}
		}, Act, GuardNone, ""},
		{"R8: the record of an agent that was stopped since", func(_ *State, g *Gathered) {
			g.Evidence = []Evidence{{Node: "a", Signal: SignalAlarm, At: now}, {Node: "a", Signal: SignalProbe, At: now.Add(-2*time.Minute - time.Second)}}
		}, Hold, GuardEvidence, "only CloudWatch"},
		{"a hang: alarm and the agent's own record", only(SignalAlarm, SignalProbe), Act, GuardNone, ""},
		{"R8: a stopped machine is conclusive", func(_ *State, g *Gathered) {
			g.Evidence = []Evidence{{Node: "a", Signal: SignalInstance, Detail: "stopped", Conclusive: true}}
		}, Act, GuardNone, "instance_state (stopped)"},
		{"evidence about the other node does not count", func(_ *State, g *Gathered) {
			for i := range g.Evidence {
				g.Evidence[i].Node = "b"
			}
		}, Hold, GuardEvidence, "no sign"},

		{"maintenance without end", state(func(s *State) { s.Maintenance = Maintenance{On: true, Reason: "patching"} }), Refuse, GuardMaintenance, "patching"},
		{"maintenance that has expired is off", state(func(s *State) { s.Maintenance = Maintenance{On: true, Until: now} }), Act, GuardNone, ""},

		{"R7: the other node reads PRIMARY", standby(func(o *Observation) { o.Role = RolePrimary }), Follow, GuardAdopt, "by hand"},
		{"R4: the primary waits for its standby", suspect(func(o *Observation) {
			o.Answer, o.State, o.WaitsForStandby = Answered, "DISCONNECTED_PEER", true
		}), Refuse, GuardWaits, "DISCONNECTED_PEER"},
		{"R4: only what the primary itself says vetoes", suspect(func(o *Observation) { o.WaitsForStandby = true }), Act, GuardNone, ""},
		{"R5: a fresh committed probe after the last bad one", suspect(func(o *Observation) {
			o.LastBadProbe, o.LastGoodProbe = now.Add(-60*time.Second), now.Add(-10*time.Second)
		}), Hold, GuardAlive, "committed a probe"},
		{"R5: the last bad probe is newer", suspect(func(o *Observation) {
			o.LastBadProbe, o.LastGoodProbe = now.Add(-5*time.Second), now.Add(-10*time.Second)
		}), Act, GuardNone, ""},
		{"R5: an old committed probe proves nothing", suspect(func(o *Observation) {
			o.LastBadProbe, o.LastGoodProbe = time.Time{}, now.Add(-46*time.Second)
		}), Act, GuardNone, ""},
		{"R5: CONNECTED is not positive evidence", suspect(func(o *Observation) {
			o.Answer, o.Role, o.Database, o.State, o.PartnerStatus = Answered, RolePrimary, DatabaseActive, "PEER", "CONNECTED"
		}), Act, GuardNone, ""},

		{"standby silent", standby(func(o *Observation) { o.Answer = Silent }), Hold, GuardStandby, "silent"},
		{"standby unreadable", standby(func(o *Observation) { o.Answer, o.AnswerError = Unreadable, "truncated" }), Hold, GuardStandby, "truncated"},
		{"standby is standalone", standby(func(o *Observation) { o.Role = RoleStandalone }), Refuse, GuardRole, "standalone"},
		{"standby database down", standby(func(o *Observation) { o.Role, o.Database = RoleUnknown, DatabaseInactive }), Refuse, GuardRole, "inactive"},
		{"standby behind", standby(func(o *Observation) { o.Fitness, o.FitnessWhy = Unfit, "REMOTE_CATCHUP_PENDING" }), Refuse, GuardFitness, "REMOTE_CATCHUP_PENDING"},
		{"unknown fitness is not fit", standby(func(o *Observation) { o.Fitness = FitnessUnknown }), Refuse, GuardFitness, ""},
		{"settings differ from what is declared", standby(func(o *Observation) { o.SettingsDiffer = "peer window 0, declared 300" }), Refuse, GuardSettings, "declared 300"},
		{"R8: window just long enough", standby(func(o *Observation) { o.PromoteUntil = now.Add(25 * time.Second) }), Act, GuardNone, ""},
		{"R8: window a second too short", standby(func(o *Observation) { o.PromoteUntil = now.Add(24 * time.Second) }), Refuse, GuardWindow, "24s of the window"},
		{"R8: the window is counted on the standby's clock", standby(func(o *Observation) {
			o.HostTime, o.PromoteUntil = now.Add(time.Hour), now.Add(time.Hour+30*time.Second)
		}), Act, GuardNone, ""},
		{"R8: an old reading has used up its window", standby(func(o *Observation) {
			o.ReadAt, o.HostTime, o.PromoteUntil = now.Add(-10*time.Second), now.Add(-10*time.Second), now.Add(20*time.Second)
		}), Refuse, GuardWindow, ""},
		{"R8: clocks apart", suspect(func(o *Observation) { o.ClockOffset = 2100 * time.Millisecond }), Refuse, GuardClock, "differ by 2.1s"},
		{"R8: clocks measured too long ago", suspect(func(o *Observation) { o.ClockOffsetAt = now.Add(-11 * time.Minute) }), Refuse, GuardClock, "not measured"},
		{"R8: clock never measured", suspect(func(o *Observation) { o.ClockOffsetAt = time.Time{} }), Refuse, GuardClock, "not measured"},
		{"no window to compare: clocks do not matter", func(_ *State, g *Gathered) {
			b, a := g.Nodes["b"], g.Nodes["a"]
			b.PromoteUntil, a.ClockOffsetAt = time.Time{}, time.Time{}
			g.Nodes["a"], g.Nodes["b"] = a, b
		}, Act, GuardNone, ""},

		{"R30: cool-down, standby just back", func(s *State, g *Gathered) {
			s.Cooldown = now.Add(time.Minute)
			o := g.Nodes["b"]
			o.ConnectedSince = now.Add(-59 * time.Second)
			g.Nodes["b"] = o
		}, Refuse, GuardCooldown, "cool-down"},
		{"R30: cool-down ends early once the standby has settled", state(func(s *State) { s.Cooldown = now.Add(time.Minute) }), Act, GuardNone, ""},
		{"R9: policy approval leaves it to a person", state(func(s *State) { s.Config.Policy = Approval }), Ask, GuardPolicy, "policy is approval"},
		{"policy approval, and a human asks", func(s *State, _ *Gathered) {
			s.Config.Policy = Approval
			s.Attempt.Human = "ann"
		}, Act, GuardNone, "human"},
		{"a human does not overrule an unfit standby", func(s *State, g *Gathered) {
			s.Attempt.Human = "ann"
			o := g.Nodes["b"]
			o.Fitness, o.FitnessWhy = Unfit, "window is over"
			g.Nodes["b"] = o
		}, Refuse, GuardFitness, "window is over"},
		{"a human does not overrule R4", func(s *State, g *Gathered) {
			s.Attempt.Human = "ann"
			o := g.Nodes["a"]
			o.Answer, o.WaitsForStandby = Answered, true
			g.Nodes["a"] = o
		}, Refuse, GuardWaits, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := steadyState(), vanished()
			s.Attempt = &Attempt{OperationID: "op1", Suspect: "a", Since: now}
			if tt.change != nil {
				tt.change(&s, &g)
			}
			d := Decide(s, g)
			if d.Verdict != tt.verdict || d.Guard != tt.guard {
				t.Errorf("Decide = %s by %q (%s), want %s by %q", d.Verdict, d.Guard, d.Reason, tt.verdict, tt.guard)
			}
			if !strings.Contains(d.Reason, tt.says) {
				t.Errorf("reason %q does not say %q", d.Reason, tt.says)
			}
			if (d.Verdict == Refuse || d.Verdict == Hold) && d.Next == "" && d.Guard != GuardFitness && d.Guard != GuardWindow {
				t.Errorf("%s by %q names no next command", d.Verdict, d.Guard)
			}
		})
	}
}

func TestFencingFallsBackToStrict(t *testing.T) {
	tests := []struct {
		name     string
		declared Fencing
		deadMan  time.Time
		want     Fencing
	}{
		{"strict stays strict", Strict, now.Add(time.Hour), Strict},
		{"R16: peer_window with a dead-man in force", PeerWindow, now.Add(time.Second), PeerWindow},
		{"R16: peer_window without one", PeerWindow, time.Time{}, Strict},
		{"R16: the dead-man's promise has run out", PeerWindow, now, Strict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := steadyState(), vanished()
			s.Config.Fencing = tt.declared
			s.Attempt = &Attempt{Suspect: "a"}
			o := g.Nodes["a"]
			o.DeadManUntil = tt.deadMan
			g.Nodes["a"] = o
			if d := Decide(s, g); d.Fencing != tt.want {
				t.Errorf("fencing = %s, want %s", d.Fencing, tt.want)
			}
			s.Config.HostApplications = true
			if d := Decide(s, g); d.Fencing != Strict {
				t.Errorf("R25: with applications on the hosts fencing = %s, want strict", d.Fencing)
			}
		})
	}
}
