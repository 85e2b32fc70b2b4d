package check

import (
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// mutant is the core with a mistake in it.
type mutant func(failover.State, failover.Event) (failover.State, []failover.Effect)

// under decides as if another policy were declared.
func under(p failover.Policy) mutant {
	return func(s failover.State, e failover.Event) (failover.State, []failover.Effect) {
		was := s.Config.Policy
		s.Config.Policy = p
		next, effects := failover.Step(s, e)
		next.Config.Policy = was
		return next, effects
	}
}

// failsBack switches over by itself to the node that Terraform prefers.
func failsBack(s failover.State, e failover.Event) (failover.State, []failover.Effect) {
	if w, ok := e.(failover.Watched); ok && s.Operation == nil && s.Primary != s.Config.Preferred {
		next, effects := failover.Step(s, failover.SwitchAsked{At: w.At, To: s.Config.Preferred, OperationID: w.OperationID, Actor: "watch"})
		if next.Attempt != nil {
			next.Attempt.Human = ""
		}
		return next, effects
	}
	return failover.Step(s, e)
}

// credulous goes on with a takeover after the window, whoever was started since.
func credulous(s failover.State, e failover.Event) (failover.State, []failover.Effect) {
	if _, read := e.(failover.InstanceRead); !read || s.Operation == nil || s.Operation.Force != failover.AfterWindow {
		return failover.Step(s, e)
	}
	op := *s.Operation
	op.Force = failover.DataLoss
	s.Operation = &op
	next, effects := failover.Step(s, e)
	if next.Operation != nil {
		next.Operation.Force = failover.AfterWindow
	}
	return next, effects
}

// TestInvariantsAreAlive: each promise is seen to be broken by a mistake that
// breaks it, and by nothing else.
func TestInvariantsAreAlive(t *testing.T) {
	t.Parallel()
	observe := alone(0).from(PrimaryLost)
	observe.Policy = failover.Observe
	approval := observe
	approval.Policy = failover.Approval
	astray := alone(1, MoveLate).from(PrimaryLost).with(Asks)
	astray.Policy = failover.Observe
	zealous := guarded(1, NodeCut)
	zealous.zealous = true
	apply := alone(0).from(TakenOver).with(Applies)
	apply.Off = failover.Of(failover.R11)
	late := alone(1, MachineStarted).from(TooLate).with(Cancels, AsksLate).twice()
	for _, tt := range []struct {
		name   string
		setup  Setup
		mutant mutant
		breaks violation
	}{
		{"an agent ends its database as soon as it can't renew its lease", zealous, nil, endedAlone},
		{"Terraform writes who is primary", apply, nil, undone},
		{"the group fails back to the node that Terraform prefers", alone(1, MachineStarted).from(TakenOver).with(Rejoins), failsBack, unasked},
		{"the policy observe acts", observe, under(failover.Automatic), unasked},
		{"the policy observe leads a route back", astray, under(failover.Automatic), unasked},
		{"the policy approval asks nobody", approval, under(failover.Automatic), unasked},
		{"nobody looks again whether the old primary was started", late, credulous, lostCommit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newSearch(Search{Setup: tt.setup, Limit: lessonLimit})
			if tt.mutant != nil {
				x.cores.step = tt.mutant
			}
			first, _ := x.run()
			if x.found == nil || x.found.wrong != tt.breaks {
				t.Fatalf("found %+v in %d states, want %q", x.found, x.seen.len(), tt.breaks)
			}
			t.Logf("%d states: %q", x.seen.len(), x.tell(first))

			sound := tt.setup
			sound.zealous, sound.Off = false, 0
			if r := (Search{Setup: sound, Limit: x.seen.len()}).Run(); r.Found != "" {
				t.Errorf("without the mistake: %s %q", r.Found, r.Story)
			}
		})
	}
}

// TestLastLook: the dead-man of the model looks at its lease as late as the
// agent does.
func TestLastLook(t *testing.T) {
	for _, drifts := range []bool{false, true} {
		s := &Setup{Drifts: drifts}
		if want := int(setupConfig(s).LastSeal() / tick); int(s.lastLook()) != want {
			t.Errorf("drift %v: it looks %d ticks before the end of its window, want %d", drifts, s.lastLook(), want)
		}
	}
}
