package failover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/casefile"
)

// cases reads every recorded situation. To add one, add a file: what is wrong
// with it is told by these tests.
func cases(t *testing.T) []casefile.Case {
	t.Helper()
	found, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 150 {
		t.Fatalf("only %d cases found", len(found))
	}
	return found
}

var read = sync.OnceValues(func() (found []casefile.Case, err error) {
	files, err := filepath.Glob("testdata/decisions/*.txtar")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c, err := casefile.Parse(filepath.ToSlash(file), string(text))
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
})

func name(c casefile.Case) string { return strings.TrimSuffix(filepath.Base(c.File), ".txtar") }

// TestCases: each recorded situation is answered as its file says, in every
// word that a person would read.
func TestCases(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(name(c), func(t *testing.T) {
			got := c.Ask()
			if diff := cmp.Diff(c.Want.Decision, got.Decision); diff != "" {
				t.Errorf("decision (-file +core):\n%s", diff)
			}
			if diff := cmp.Diff(c.Want.Reasons, got.Reasons); diff != "" {
				t.Errorf("reason (-file +core):\n%s", diff)
			}
			if diff := cmp.Diff(c.Want.Next, got.Next); diff != "" {
				t.Errorf("next (-file +core):\n%s", diff)
			}
		})
	}
}

// TestCasesKillTheirMutants: a core that leaves the named rule out, or misreads
// the named line, decides something else. Another wording is not enough.
func TestCasesKillTheirMutants(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(name(c), func(t *testing.T) {
			if len(c.Kills) == 0 {
				t.Fatal("it names nothing that it kills")
			}
			for _, m := range c.Kills {
				got, err := c.AskMutant(m)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Equal(got.Decision, c.Ask().Decision) {
					t.Errorf("%s lives: it decides\n%s", m, strings.Join(got.Decision, "\n"))
				}
			}
		})
	}
}

// TestCasesSayWhatTheyAnswer: a case has a title, and names the report, lesson
// or rule that it answers. Whoever is told of a refusal or of a block is told
// why, and what to do.
func TestCasesSayWhatTheyAnswer(t *testing.T) {
	for _, c := range cases(t) {
		if c.Title == "" || len(c.Answers) == 0 {
			t.Errorf("%s: title %q, answers %q; want both", c.File, c.Title, c.Answers)
		}
		if a := c.Ask(); slices.Contains([]string{"refuse", "block", "wait", "observe"}, a.Verdict) && a.Guard != "" || a.Verdict == "block" {
			if len(a.Reasons) == 0 || len(a.Next) == 0 {
				t.Errorf("%s: %s for %q, next %q; want a reason and a next command", c.File, a.Verdict, a.Reasons, a.Next)
			}
		}
	}
}

// TestCasesDiffer: no two cases share guard, phase and kind of evidence. Times,
// numbers and wordings make no difference.
func TestCasesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, c := range cases(t) {
		key := strings.Join([]string{spoke(c), phase(c), kind(c)}, " | ")
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s are the same case: %s", other, name(c), key)
		}
		seen[key] = name(c)
	}
}

// TestCasesLeaveNothingOut: every guard, phase, step, kind of operation and
// effect of the core stands in some case, and every rule that the core keeps is
// killed by one.
func TestCasesLeaveNothingOut(t *testing.T) {
	guards, phases, steps, kinds, effects, killed := set{}, set{}, set{}, set{}, set{}, set{}
	for _, c := range cases(t) {
		a := c.Ask()
		guards.add(string(a.Guard))
		phases.add(string(c.State.Phase), string(a.State.Phase))
		for _, op := range []*failover.Operation{c.State.Operation, a.State.Operation} {
			if op != nil {
				steps.add(string(op.Step))
				kinds.add(string(op.Kind))
			}
		}
		for _, e := range a.Effects {
			effects.add(strings.TrimPrefix(fmt.Sprintf("%T", e), "failover."))
		}
		for _, m := range c.Kills {
			killed.add(m.String())
		}
	}
	core := source(t)
	for what, want := range map[string]struct {
		have set
		all  []string
	}{
		// What is refused before any guard is asked stands in the reason alone, and
		// an operation that is done is off the record.
		"guard":  {guards, without(core.constants("Guard"), failover.GuardBusy, failover.GuardNotPrimary, failover.GuardLease, failover.GuardRoute)},
		"phase":  {phases, core.constants("Phase")},
		"step":   {steps, without(core.constants("StepName"), failover.StepDone)},
		"kind":   {kinds, core.constants("Kind")},
		"effect": {effects, slices.DeleteFunc(core.implementing("isEffect"), func(e string) bool { return e == "Gather" })},
		"rule":   {killed, core.rules()},
	} {
		if len(want.all) == 0 {
			t.Errorf("no %s found in the core", what)
		}
		for _, one := range want.all {
			if !want.have[one] {
				t.Errorf("no case for the %s %q", what, one)
			}
		}
	}
}

func without[T ~string](all []string, some ...T) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(some, T(s)) })
}

type set map[string]bool

func (s set) add(names ...string) {
	for _, n := range names {
		s[n] = true
	}
}
