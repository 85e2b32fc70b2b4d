package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/casefile"
)

const decisions = "../../internal/failover/testdata/decisions"

// TestExplainCase: what a person reads of a refusal, a block, a repair and an
// accepted loss.
func TestExplainCase(t *testing.T) {
	for _, name := range []string{"window-too-short", "fence-rejected", "watch-fenced-node-runs", "forced-data-loss"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", "explain", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := explained(t, "", "--case", filepath.Join(decisions, name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-file +printed):\n%s", diff)
			}
		})
	}
}

func TestExplainCaseAsJSON(t *testing.T) {
	out, err := explained(t, "", "--json", "--case", filepath.Join(decisions, "window-too-short.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Event    string
		Seen     []struct{ Node string }
		Evidence []struct{ Signal string }
		Decision struct {
			Verdict, Guard string
			Reasons, Next  []string
		}
		AsExpected bool `json:"as_expected"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	d := got.Decision
	if d.Verdict != "refuse" || d.Guard != "window" || len(d.Reasons) != 1 || len(d.Next) != 1 || len(got.Seen) != 2 || len(got.Evidence) != 4 || !got.AsExpected {
		t.Errorf("%+v", got)
	}
}

// TestExplainCaseOfAPerson: a file need not say what it expects.
func TestExplainCaseOfAPerson(t *testing.T) {
	out, err := explained(t, "My pair\n-- node b --\nanswer: silent\n-- event asked --\n", "--case", "-")
	if err != nil || !strings.Contains(out, "What is decided: WAIT") || strings.Contains(out, "expects") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestExplainCaseOfTheGuide: the situation that the guide shows can be asked.
func TestExplainCaseOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guides/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```text\n")
	shown, _, _ := strings.Cut(rest, "```")
	out, err := explained(t, shown, "--case", "-")
	if err != nil || !strings.Contains(out, "What is decided: START AGAIN") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestExplainCaseSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a mistake in the file": {"T\n-- node b --\nfitnes: fit\n-- event asked --\n", `standard input:3: section "node b" has no key "fitnes"`},
		"another decision":      {"T\n-- event asked --\n-- decision --\nverdict: refuse\n", "the file expects another decision"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := explained(t, c.text, "--case", "-")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	if out, err := explained(t, ""); err != nil || !strings.Contains(out, "--case") {
		t.Errorf("without a file: %v:\n%s", err, out)
	}
}

// TestCasesCarryTheEvidenceOfTheirNodes: the recorded situations could be met:
// what their nodes say is turned into the same evidence by the product.
func TestCasesCarryTheEvidenceOfTheirNodes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(decisions, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := casefile.Parse(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		if c.Ask().Guard == "" {
			continue // nobody looked
		}
		suspect := c.State.Primary
		if diff := cmp.Diff(signals(evidence.Of(suspect, c.Nodes, casefile.Now, c.State.Config)), signals(c.Evidence)); diff != "" {
			t.Errorf("%s: evidence (-of the nodes +of the file):\n%s", c.File, diff)
		}
		if _, err := explained(t, "", "--case", file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// signals are those that come from what was read on nodes.
func signals(all []failover.Evidence) []string {
	var names []string
	for _, e := range all {
		if e.Signal == failover.SignalAlarm || e.Signal == failover.SignalLease {
			continue
		}
		name := string(e.Signal) + " of " + e.Node
		if e.Conclusive {
			name += ", conclusive"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
