package check_test

import (
	"testing"

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
			if !p.Loud {
				return
			}
			r = p.Search(true)
			t.Logf("%d states; %s", r.States, r.Found)
			if r.Found != "" || !r.Complete {
				t.Errorf("expected: %s Found in %d states, without a word before: %s %q", p.Expected, r.States, r.Found, r.Story)
			}
		})
	}
}
