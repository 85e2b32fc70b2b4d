package check_test

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

// TestEveryRuleHasItsStory: without a rule the search finds what the rule
// closes, and with it nothing.
func TestEveryRuleHasItsStory(t *testing.T) {
	for _, l := range check.Lessons() {
		t.Run(l.Rule.String(), func(t *testing.T) {
			if l.Elsewhere != "" {
				t.Skip(l.Elsewhere)
			}
			t0 := time.Now()
			without, with := l.Learn()
			t.Logf("%d states %s, kept %d states %s complete %v", without.States, time.Since(t0), with.States, with.Found, with.Complete)
			if without.Found == "" {
				t.Errorf("no story without the rule, in %d states", without.States)
			}
			for _, line := range without.Story {
				t.Log(line)
			}
			t.Log(without.Found)
			if with.Found != "" {
				t.Errorf("with the rule: %s", with.Found)
				for _, line := range with.Story {
					t.Log(line)
				}
			}
		})
	}
}
