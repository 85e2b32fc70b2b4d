package check_test

import (
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

// TestAssumptions breaks each assumption of the design in turn.
func TestAssumptions(t *testing.T) {
	t.Parallel()
	for _, p := range check.Premises() {
		t.Run(p.Says, func(t *testing.T) {
			r := p.Search(false)
			t.Logf("%d states; %s", r.States, r.Found)
			if (r.Found != "") != p.Breaks || !p.Breaks && !r.Complete {
				t.Errorf("expected: %s Found in %d states: %q %q", p.Expected, r.States, r.Found, r.Story)
			}
			if p.Loud {
				nothing(t, p, p.Search(true))
			}
			for _, s := range p.Afterwards {
				nothing(t, p, check.Search{Setup: s, Calm: 1}.Run())
			}
		})
	}
}

func nothing(t *testing.T, p check.Premise, r check.Result) {
	t.Helper()
	t.Logf("%d states", r.States)
	if r.Found != "" || !r.Complete {
		t.Errorf("expected: %s Found in %d states: %s %q", p.Expected, r.States, r.Found, r.Story)
	}
}

// TestPartedLogsAreSeen: it is the reading of the peer state that keeps a node
// whose log has parted from counting as a standby again (R28).
func TestPartedLogsAreSeen(t *testing.T) {
	for _, p := range check.Premises() {
		if p.Broken != check.A2 {
			continue
		}
		s := p.Afterwards[0]
		s.Off = failover.Of(failover.R28)
		if r := (check.Search{Setup: s}).Run(); r.Found == "" {
			t.Errorf("without R28 nothing is found in %d states", r.States)
		}
	}
}
