package casefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const standbyBehind = `A standby in catch-up is not promoted

It lost its primary a while ago.

answers: ClusterLabs/resource-agents#2043, plain BY FORCE lost commits
answers: R19

-- state --
base: vanished
-- node b --
state: REMOTE_CATCHUP_PENDING
fitness: unfit: commits may be missing
-- event alarmed --
-- decision --
verdict: refuse
-- reason --
standby not fit
-- next --
hadr status orders
-- kills --
R19
blind to node b: fitness
taking node b: fitness for unknown
`

func TestParse(t *testing.T) {
	c, err := Parse("behind.txtar", standbyBehind)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		Title, Story string
		Answers      []string
		State        string
		Fitness      failover.Fitness
		Why          string
		Kills        []string
		Want         Answer
	}
	var kills []string
	for _, m := range c.Kills {
		kills = append(kills, m.String())
	}
	b := c.Nodes["b"]
	got := shown{c.Title, c.Story, c.Answers, b.State, b.Fitness, b.FitnessWhy, kills, c.Want}
	want := shown{
		Title: "A standby in catch-up is not promoted", Story: "It lost its primary a while ago.",
		Answers: []string{"ClusterLabs/resource-agents#2043, plain BY FORCE lost commits", "R19"},
		State:   "REMOTE_CATCHUP_PENDING", Fitness: failover.Unfit, Why: "commits may be missing",
		Kills: []string{"R19", "blind to node b: fitness", "taking node b: fitness for unknown"},
		Want:  Answer{Decision: []string{"verdict: refuse"}, Reasons: []string{"standby not fit"}, Next: []string{"hadr status orders"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("case (-want +got):\n%s", diff)
	}
	if c.EventName() != "alarmed" {
		t.Errorf("event %q", c.EventName())
	}
}

func TestAsk(t *testing.T) {
	c, err := Parse("behind.txtar", standbyBehind)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Ask()
	want := []string{"verdict: refuse", "guard: standby not fit", "phase: steady", "do: tell refused"}
	if diff := cmp.Diff(want, a.Decision); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	for _, m := range c.Kills[:2] {
		other, err := c.AskMutant(m)
		if err != nil {
			t.Fatal(err)
		}
		if other.Verdict != string(failover.Act) {
			t.Errorf("%s: verdict %s, want act", m, other.Verdict)
		}
	}
	if other, err := c.AskMutant(c.Kills[2]); err != nil || other.Guard != failover.GuardFitness {
		t.Errorf("%s: guard %q, error %v", c.Kills[2], other.Guard, err)
	}
}

// TestAskLeavesTheCaseAsItIs: a case may be asked many times.
func TestAskLeavesTheCaseAsItIs(t *testing.T) {
	c, err := Parse("x", "T\n-- operation --\nstep: redirect\nwaits_for: 2\n-- event route_moved --\n")
	if err != nil {
		t.Fatal(err)
	}
	first := c.Ask()
	if diff := cmp.Diff(first.Decision, c.Ask().Decision); diff != "" {
		t.Errorf("the second answer differs:\n%s", diff)
	}
}

func TestTimesAreRelative(t *testing.T) {
	c, err := Parse("x", strings.Join([]string{
		"T", "-- state --", "cooldown: +10m", "changed: never", "-- node b --", "read: -10s", "clock_ahead: 1h", "window: 30s", "-- evidence --", "alarm a: now, conclusive, it burns", "-- event alarmed --", "changed: -1m30s",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := c.Nodes["b"]
	for name, got := range map[string][2]time.Time{
		"cool-down":       {c.State.Cooldown, Now.Add(10 * time.Minute)},
		"never":           {c.State.Changed, {}},
		"the node's time": {b.HostTime, Now.Add(time.Hour - 10*time.Second)},
		"window":          {b.PromoteUntil, Now.Add(time.Hour + 20*time.Second)},
		"evidence":        {c.Evidence[0].At, Now},
		"event":           {c.Event.(failover.Alarmed).Changed, Now.Add(-90 * time.Second)},
	} {
		if !got[0].Equal(got[1]) {
			t.Errorf("%s: %s, want %s", name, got[0], got[1])
		}
	}
	if e := c.Evidence[0]; !e.Conclusive || e.Detail != "it burns" || e.Source == "" {
		t.Errorf("evidence %+v", e)
	}
}

// TestMistakes: whatever is wrong with a file is told with its line.
func TestMistakes(t *testing.T) {
	const event = "-- event alarmed --\n"
	tests := []struct {
		name, text string
		line       int
		says       string
	}{
		{"no event", "T\n-- state --\n", 1, "what happens?"},
		{"empty", "", 1, "what happens?"},
		{"two events", "T\n" + event + "-- event elapsed --\n", 3, "a second event"},
		{"unknown section", "T\n-- stat --\n" + event, 2, `unknown section "stat"`},
		{"section of a node that does not exist", "T\n-- node c --\n" + event, 2, `unknown section "node c"`},
		{"section twice", "T\n-- state --\n-- state --\n" + event, 3, "stands twice"},
		{"unknown event", "T\n-- event exploded --\n", 2, `unknown event "exploded"; want one of: acknowledged, alarmed`},
		{"unknown key", "T\n-- state --\n\nprimry: b\n" + event, 4, `section "state" has no key "primry"; want one of: base, changed`},
		{"unknown key of an event", "T\n-- event alarmed --\nbang: yes\n", 3, `has no key "bang"`},
		{"key twice", "T\n-- state --\nprimary: a\nprimary: b\n" + event, 4, "stands twice"},
		{"no key", "T\n-- state --\nprimary b\n" + event, 3, "no line"},
		{"a word that is none", "T\n-- config --\npolicy: auto\n" + event, 3, "want one of: automatic, approval, observe"},
		{"a node that is none", "T\n-- state --\nprimary: c\n" + event, 3, "want one of: a, b"},
		{"a base that is none", "T\n-- state --\nbase: sick\n" + event, 3, "want one of: healthy, vanished"},
		{"a time without a sign", "T\n-- state --\ncooldown: 10m\n" + event, 3, "relative to the event"},
		{"a length that is none", "T\n-- config --\nevidence_wait: soon\n" + event, 3, "want a length"},
		{"a number that is none", "T\n-- state --\nepoch: -1\n" + event, 3, "whole number"},
		{"neither yes nor no", "T\n-- attempt --\nwatch: maybe\n" + event, 3, "want yes or no"},
		{"a fence that is none", "T\n-- state --\nfenced a: since 8\n" + event, 3, "want such as: epoch 8"},
		{"an approval that is none", "T\n-- state --\npending: op1\n" + event, 3, "want such as: epoch 7"},
		{"fitness that is none", "T\n-- node b --\nfitness: good\n" + event, 3, "want fit, unknown, or unfit: WHY"},
		{"a signal that is none", "T\n-- evidence --\nfeeling a: now, bad\n" + event, 3, `has no key "feeling a"`},
		{"evidence without a time", "T\n-- evidence --\nalarm a: red\n" + event, 3, "relative to the event"},
		{"a step that is none", "T\n-- operation --\nstep: dance\n" + event, 3, "want one of: recheck, fence"},
		{"a route that is none", "T\n-- operation --\nroute rtb-1: lost\n" + event, 3, "want moved, verified"},
		{"a rule that is none", "T\n" + event + "-- kills --\nR34\n", 4, "want a rule"},
		{"blind to a line that is none", "T\n" + event + "-- kills --\nblind to state: primary\n", 4, "has no line"},
		{"taking for nothing", "T\n-- state --\nprimary: b\n" + event + "-- kills --\ntaking state: primary\n", 6, "want such as"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("x.txtar", tt.text)
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v, want a mistake in the file", err)
			}
			if wrong.File != "x.txtar" || wrong.Line != tt.line || !strings.Contains(wrong.What, tt.says) {
				t.Errorf("%v; want line %d, %q", err, tt.line, tt.says)
			}
		})
	}
}

// TestMutantThatCannotBeAsked: a value that a line can't have is a mistake, too.
func TestMutantThatCannotBeAsked(t *testing.T) {
	c, err := Parse("x.txtar", "T\n-- state --\nprimary: b\n-- event alarmed --\n-- kills --\ntaking state: primary for c\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AskMutant(c.Kills[0]); err == nil || !strings.Contains(err.Error(), "x.txtar:6: a core that is taking state: primary for c") {
		t.Errorf("error %v", err)
	}
}

func TestEveryEventHasItsName(t *testing.T) {
	for _, name := range eventNames {
		c, err := Parse("x", "T\n-- operation --\n-- event "+name+" --\n")
		if err != nil || c.Event == nil {
			t.Errorf("%s: event %T, error %v", name, c.Event, err)
		}
	}
}

// FuzzParse: no text makes the parser or the core panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../testdata/decisions/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d cases: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("fuzz", text)
		if err != nil {
			return
		}
		c.Ask()
		for _, m := range c.Kills {
			_, _ = c.AskMutant(m) // a value that a line can't have
		}
	})
}
