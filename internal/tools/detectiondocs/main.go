// Command detectiondocs writes what the model of detection times says into the
// README of the module db2-hadr and the guide, between markers, and draws the
// guide's picture.
//
//	go run ./internal/tools/detectiondocs
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection/chart"
)

const (
	begin = "<!-- BEGIN_DETECTION -->"
	end   = "<!-- END_DETECTION -->"

	readme  = "modules/db2-hadr/README.md"
	guide   = "docs/guides/detection.md"
	picture = "docs/guides/detection.svg"
)

// Figures of the documents: the same for everybody.
const (
	failures = 20_000
	days     = 500
	seed     = 1
)

// row is a line of a table: a set and what it is called.
type row struct{ set, name string }

// rows of the module's README. The lease is declared by hadr_sql_latency_metric.
var moduleRows = []row{
	{"fill", "**this module's alarms**"},
	{"reference", "with `fill_missing_samples = false`, as in the reference design"},
	{"high-resolution", "high resolution, 20 s (not used: the metric would need it, too)"},
	{"fill+lease:20s/5s", "this module's alarms and a lease of 20 s, renewed every 5 s"},
	{"fill+lease:6s/2s", "this module's alarms and a lease of 6 s, renewed every 2 s"},
}

var guideRows = []row{
	{"reference", "`reference`"}, {"fill", "`fill`"}, {"high-resolution", "`high-resolution`"},
	{"lease:20s/5s", "`lease:20s/5s`"}, {"lease:6s/2s", "`lease:6s/2s`"}, {"view:2s", "`view:2s`"},
	{"fill+lease:20s/5s", "`fill+lease:20s/5s`"}, {"fill+lease:6s/2s", "`fill+lease:6s/2s`"},
	{"fill+lease:6s/2s+view:2s", "`fill+lease:6s/2s+view:2s`"}, {"fill&lease:6s/2s", "`fill&lease:6s/2s`"},
}

// drawn are the sets of the picture.
var drawn = []row{
	{"reference", ""}, {"fill", ""}, {"high-resolution", ""}, {"lease:20s/5s", ""}, {"lease:6s/2s", ""}, {"fill+lease:6s/2s+view:2s", ""},
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatalf("detectiondocs: %v", err)
	}
}

func run(ctx context.Context) error {
	r, err := simulate(ctx)
	if err != nil {
		return err
	}
	for file, rows := range map[string][]row{readme: moduleRows, guide: guideRows} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		done, err := splice(string(text), render(choose(r, rows), rows))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, []byte(done), 0o644); err != nil {
			return err
		}
	}
	var svg bytes.Buffer
	if err := chart.Draw(&svg, choose(r, drawn), chart.SVG); err != nil {
		return err
	}
	return os.WriteFile(picture, svg.Bytes(), 0o644)
}

// simulate simulates the sets of all rows at once.
func simulate(ctx context.Context) (detection.Report, error) {
	task := detection.Simulation{Trials: failures, Days: days, Seed: seed, Healthy: detection.Assumed}
	known := map[string]bool{}
	for _, r := range slices.Concat(moduleRows, guideRows, drawn) {
		if known[r.set] {
			continue
		}
		known[r.set] = true
		set, err := detection.NewModel().ParseSet(r.set, nil)
		if err != nil {
			return detection.Report{}, err
		}
		task.Sets = append(task.Sets, set)
	}
	return task.Run(ctx)
}

// choose returns the report of some rows, in their order.
func choose(r detection.Report, rows []row) detection.Report {
	all := r.Sets
	r.Sets = nil
	for _, x := range rows {
		for _, s := range all {
			if s.Name == x.set {
				r.Sets = append(r.Sets, s)
			}
		}
	}
	return r
}

// render makes a table: median, 95 % and worst case of each kind of failure.
func render(r detection.Report, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Seconds from a failure to its detection: median / 95 %% / worst case, of %d,000 simulated failures each, "+
		"when nothing is late or lost.\n\n| |", failures/1_000)
	for _, f := range detection.Failures {
		fmt.Fprintf(&b, " %s |", strings.ToLower(f.Title()))
	}
	b.WriteString(" suspicions a month | USD a month |\n|---|")
	b.WriteString(strings.Repeat("---|", len(detection.Failures)+2) + "\n")
	for i, s := range r.Sets {
		fmt.Fprintf(&b, "| %s |", rows[i].name)
		for _, t := range s.Failures {
			fmt.Fprintf(&b, " %s |", cell(t))
		}
		fmt.Fprintf(&b, " %s | %.2f |\n", s.FalseAlarms, s.MonthlyUSD)
	}
	fmt.Fprintf(&b, "\nSuspicions of a healthy primary: %d simulated days. %s What AWS and networks really do is not published; "+
		"`hadr simulate detection` takes other figures. A suspicion is no takeover: the function looks at both nodes first. "+
		"The cost is that of a pair of nodes in us-east-1, without free tier.\n", r.Days, r.Healthy)
	return b.String()
}

func cell(t detection.Times) string {
	if t.P50 == detection.Never {
		return "not seen"
	}
	whole := func(s string) string { return strings.TrimSuffix(s, " s") }
	return whole(detection.Seconds(t.P50)) + " / " + whole(detection.Seconds(t.P95)) + " / " + whole(detection.Seconds(t.Worst))
}

// splice puts the table between the markers.
func splice(text, table string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the lines %s and %s are missing", begin, end)
	}
	return before + begin + "\n" + table + end + after, nil
}
