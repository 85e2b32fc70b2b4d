package failover

import (
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
