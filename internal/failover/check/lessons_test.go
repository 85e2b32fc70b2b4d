package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

// TestEveryRuleHasItsStory: without a rule the search finds what the rule
// closes.
func TestEveryRuleHasItsStory(t *testing.T) {
	learned := check.Learn()
	for _, l := range learned {
		switch {
		case l.Elsewhere != "" && l.Test == "":
			t.Errorf("%s is not in the model, and no test is named that shows it", l.Rule)
		case l.Elsewhere == "" && l.Result.Found == "":
			t.Errorf("%s: no story without the rule, in %d states", l.Rule, l.Result.States)
		}
	}
	for _, l := range learned {
		if l.Elsewhere != "" || l.Result.States > 15_000 { // the larger ones are for make check-deep
			continue
		}
		if r := l.Kept(l.Result.States); r.Found != "" {
			t.Errorf("%s: with the rule kept, the same search finds: %s %q", l.Rule, r.Found, r.Story)
		}
	}
	killed, searched, left := check.Killed(learned)
	t.Logf("%d of %d rules that the model reaches have their story; without: %v", killed, searched, left)
}

// TestPage: the documentation tells what the search finds now.
func TestPage(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "guides", "rules.md")
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make generate", err)
	}
	if diff := cmp.Diff(string(got), check.Page(check.Learn())); diff != "" {
		t.Errorf("%s is not what the search finds (-file +search): run make generate\n%s", file, diff)
	}
}
