package failover

import (
	"slices"
	"testing"
	"time"
)

// TestStartIsToldAgain: whoever claimed the group may have died before it told
// of it. As long as the first step lasts the start is told again; later it is
// on the record for certain.
func TestStartIsToldAgain(t *testing.T) {
	tests := []struct {
		name  string
		event Event
		step  StepName
		told  bool
	}{
		{"a redelivery of the event, in the first step", alarmed(), StepRecheck, true},
		{"the minutely look, in the first step", Watched{At: now, OperationID: "op9"}, StepRecheck, true},
		{"a runner that resumes, in the first step", Resumed{At: now}, StepRecheck, true},
		{"the same runner after a pause", Elapsed{At: now}, StepRecheck, false},
		{"a runner that resumes, in a later step", Resumed{At: now}, StepFenced, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := steadyState()
			start := now.Add(-time.Minute)
			s.Phase, s.Operation = TakingOver, &Operation{
				ID: "op1", Kind: Takeover, From: "a", To: "b", Step: tt.step, Started: start, StepSince: start, Deadline: now.Add(time.Minute),
				Trigger: "alarm", Config: s.Config,
			}
			if tt.step != StepRecheck {
				s.Operation.StepSince = now
			}
			_, effects := Step(s, tt.event)
			r, told := effects[0].(Record)
			if told != tt.told {
				t.Fatalf("the first effect is %T", effects[0])
			}
			if told && (r.Entry.Event != "started" || !r.Entry.At.Equal(start) || r.Entry.Actor != "alarm") {
				t.Errorf("told was %+v", r.Entry)
			}
		})
	}
}

// TestStartIsToldAfterALook: whoever goes on with a rejoin tells of its start,
// even if a suspicion was looked at and refused before.
func TestStartIsToldAfterALook(t *testing.T) {
	ill := vanished()
	ill.Evidence = nil // refused
	tests := []struct {
		name   string
		policy Policy
		event  Event
		seen   Gathered
	}{
		{"resumed", Automatic, Resumed{At: now}, ill},
		{"looked at by watch", Automatic, quietNight(), ill},
		{"a report that is refused", Automatic, Reported{At: now, Node: "a", OperationID: "op3", Reason: "silent"}, ill},
		{"a report, and policy observe", Observe, Reported{At: now, Node: "a", OperationID: "op3", Reason: "silent"}, vanished()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, s := newWorld(), steadyState()
			s.Config.Policy = tt.policy
			s.Primary, s.Phase = "a", Rejoining
			s.Operation = &Operation{ID: "op2", Kind: Rejoin, From: "b", To: "a", Step: StepBoot, Attempt: 1, Started: now, StepSince: now, Deadline: now.Add(bootLimit), Config: s.Config}
			w.onGather = func(*fakeWorld) Gathered { return tt.seen }
			for range 2 { // the second time what was refused is not told again
				w.entries = nil
				s.Refused = w.run(s, tt.event, 500).Refused
				if !slices.ContainsFunc(w.entries, func(e Entry) bool { return e.Event == "started" && e.OperationID == "op2" }) {
					t.Errorf("the start was not told: %+v", w.entries)
				}
			}
		})
	}
}
