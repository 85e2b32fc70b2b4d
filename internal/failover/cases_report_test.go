package failover_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// report is a line of testdata/reports.txt: what went wrong with others.
type report struct {
	names []string
	where string // but in a recorded case
}

func reports(t *testing.T) (found []report) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "reports.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "==") {
			continue
		}
		parts := strings.Split(l, "|")
		if len(parts) != 3 || strings.TrimSpace(parts[1]) == "" {
			t.Fatalf("%q; want REPORTS | WHAT | WHERE", l)
		}
		r := report{where: strings.TrimSpace(parts[2])}
		for name := range strings.SplitSeq(strings.TrimSpace(parts[0]), ", ") {
			if last := len(r.names) - 1; last >= 0 && !strings.ContainsAny(name, "#@") && !strings.HasPrefix(name, "APAR ") {
				r.names[last] += ", " + name // a name with a comma of its own
				continue
			}
			r.names = append(r.names, name)
		}
		found = append(found, r)
	}
	return found
}

var rule = regexp.MustCompile(`^R[0-9]+$`)

// TestEveryReportIsAnswered: each public report has a recorded case, another
// place in this repository that answers it, or the reason why nothing does. No
// case answers a report that nobody knows.
func TestEveryReportIsAnswered(t *testing.T) {
	answered := map[string]string{}
	for _, c := range cases(t) {
		for _, a := range c.Answers {
			about, _, _ := strings.Cut(a, ": ")
			answered[about] = name(c)
		}
	}
	known := map[string]bool{}
	for _, r := range reports(t) {
		place, why, _ := strings.Cut(r.where, ": ")
		for _, name := range r.names {
			if known[name] {
				t.Errorf("%s stands twice", name)
			}
			known[name] = true
			switch by := answered[name]; {
			case r.where == "" && by == "":
				t.Errorf("%s: no case answers it, and nothing says why", name)
			case r.where != "" && by != "":
				t.Errorf("%s: case %s answers it, so that %q is not so", name, by, r.where)
			}
		}
		if r.where == "" {
			continue
		}
		if why == "" {
			t.Errorf("%s: %q does not say why", r.names, r.where)
		}
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(place))); place != "none" && err != nil {
			t.Errorf("%s: %v", r.names, err)
		}
	}
	for about, by := range answered {
		if !known[about] && !rule.MatchString(about) {
			t.Errorf("%s answers %q, which is not in testdata/reports.txt", by, about)
		}
	}
}
