package failover

import (
	"strings"
	"testing"
	"time"
)

// TestReported: a report is a hint that starts a look, or goes on with what is
// on the record (R32).
func TestReported(t *testing.T) {
	running := func(kind Kind) *Operation {
		return &Operation{ID: "op0", Kind: kind, From: "a", To: "b", Step: StepFenced, Started: now.Add(-time.Minute), StepSince: now, Deadline: now, Config: steadyState().Config}
	}
	tests := []struct {
		name   string
		node   string
		change func(*State)
		want   string // type of the first effect, "" = none
	}{
		{"the primary is suspected", "a", nil, "failover.Gather"},
		{"the standby is suspected: of an older epoch, or nothing to take over", "b", nil, ""},
		{"an operation runs: its runner may be dead", "a", func(s *State) { s.Operation, s.Phase = running(Takeover), TakingOver }, "failover.ReadInstance"},
		{"an operation is blocked: a person knows", "a", func(s *State) {
			s.Operation, s.Phase = running(Takeover), Blocked
			s.Operation.Blocked = "x"
		}, ""},
		{"by force: only a person goes on with it (R19)", "a", func(s *State) {
			s.Operation, s.Phase = running(Takeover), TakingOver
			s.Operation.Force = DataLoss
		}, ""},
		{"while a node is brought back: the second failure of the night (R30)", "a", func(s *State) { s.Operation, s.Phase = running(Rejoin), Rejoining }, "failover.Gather"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := steadyState()
			if tt.change != nil {
				tt.change(&s)
			}
			_, effects := Step(s, Reported{At: now, Node: tt.node, OperationID: "op1", Reason: "agent b says so"})
			got := ""
			if len(effects) > 0 {
				got = typeName(effects[0])
			}
			if got != tt.want {
				t.Errorf("effects %v, want %q first", effects, tt.want)
			}
		})
	}
}

func typeName(e Effect) string {
	switch e.(type) {
	case Gather:
		return "failover.Gather"
	case ReadInstance:
		return "failover.ReadInstance"
	}
	return "another"
}

// TestRepeatedReport: a report comes again until it is answered, and its
// refusal is told once.
func TestRepeatedReport(t *testing.T) {
	s := steadyState()
	g := vanished()
	g.Evidence = nil
	told := 0
	for i := range 5 {
		at := now.Add(time.Duration(i) * time.Minute)
		s, _ = Step(s, Reported{At: at, Node: "a", OperationID: "op1", Reason: "agent b says so"})
		g.At = at.Add(DefaultEvidenceWait)
		next, effects := Step(s, g)
		s = next
		for _, e := range effects {
			if r, ok := e.(Record); ok && r.Entry.Event == "refused" {
				told++
			}
		}
		if s.Attempt != nil || s.Refused.At.IsZero() {
			t.Fatalf("report %d: attempt %+v, refused %+v", i, s.Attempt, s.Refused)
		}
	}
	if told != 1 {
		t.Errorf("the refusal was told %d times", told)
	}
}

// TestLeaseAndProbes (R5): an expired lease is a bad datum, so that a probe
// from before it does not hold a takeover up; one from after it does.
func TestLeaseAndProbes(t *testing.T) {
	tests := []struct {
		name    string
		good    time.Duration // last committed probe, after the lease expired
		verdict Verdict
		guard   Guard
	}{
		{"the last probe committed before the lease expired", -7 * time.Second, Act, GuardNone},
		{"a probe committed after it", time.Second, Hold, GuardAlive},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := steadyState(), vanished()
			s.Attempt = &Attempt{OperationID: "op1", Suspect: "a", Since: now, Watch: true}
			expired := g.At.Add(-2 * time.Second)
			g.Evidence = []Evidence{{Node: "a", Signal: SignalLease, At: expired}, {Node: "a", Signal: SignalStandbyView, At: g.At}}
			o := g.Nodes["a"]
			o.LastGoodProbe, o.LastBadProbe = expired.Add(tt.good), time.Time{}
			g.Nodes["a"] = o
			if d := Decide(s, g); d.Verdict != tt.verdict || d.Guard != tt.guard {
				t.Errorf("Decide = %s by %q (%s), want %s by %q", d.Verdict, d.Guard, d.Reason, tt.verdict, tt.guard)
			}
		})
	}
}

// TestStoppedInOrder (R6): who stopped the database on purpose is not overruled,
// but for a person.
func TestStoppedInOrder(t *testing.T) {
	s, g := steadyState(), vanished()
	s.Attempt = &Attempt{OperationID: "op1", Suspect: "a", Since: now}
	o := g.Nodes["a"]
	o.StoppedInOrder = "patch, by dba"
	g.Nodes["a"] = o
	if d := Decide(s, g); d.Verdict != Refuse || d.Guard != GuardOrderly || !strings.Contains(d.Reason, "patch, by dba") || d.Next == "" {
		t.Errorf("Decide = %s by %q: %s; %s", d.Verdict, d.Guard, d.Reason, d.Next)
	}
	s.Attempt.Human = "dba"
	if d := Decide(s, g); d.Verdict != Act {
		t.Errorf("at a person's word: %s by %q: %s", d.Verdict, d.Guard, d.Reason)
	}
	s.Attempt.Human, s.Off = "", Of(R6)
	if d := Decide(s, g); d.Verdict != Act {
		t.Errorf("without R6: %s by %q: %s", d.Verdict, d.Guard, d.Reason)
	}
}
