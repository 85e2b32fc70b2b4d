package detection

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestReportAsText(t *testing.T) {
	r := run(t, Simulation{Sets: sets(t, "fill", "view:2s"), Failures: []Failure{Hang}, Trials: 1000, Days: 10, Seed: 1, Healthy: Assumed})
	var b bytes.Buffer
	if err := r.WriteText(&b, []string{"the probe is assumed"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1000 failures of each kind, seed 1", "Nothing is late or lost.", "Assumed: metrics are seen after 2 s (p99 12 s)", "The database hangs",
		"  set       min", "100 %", "- the probe is assumed.\n", "- The standby's view does not see a database that hangs", "EC2 status checks are not counted on", "6.50", "< 9.1",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, b.String())
		}
	}
}

func TestReportAsJSON(t *testing.T) {
	r := run(t, Simulation{Sets: sets(t, "fill", "view:2s"), Failures: []Failure{Hang}, Trials: 1000, Days: 10, Seed: 1, Healthy: Assumed})
	var b bytes.Buffer
	if err := r.WriteJSON(&b, nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Trials  int `json:"failures_of_each_kind"`
		Healthy struct {
			Ingestion struct {
				P99 float64 `json:"p99_seconds"`
			}
		} `json:"conditions_without_failure"`
		Sets []struct {
			Name     string
			Monthly  float64 `json:"monthly_usd"`
			Failures []struct {
				Failure string
				P50     *float64 `json:"p50_seconds"`
				Worst   *float64 `json:"worst_case_seconds"`
				Missed  int      `json:"not_seen"`
			}
		}
		Notes []string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	fill, view := got.Sets[0], got.Sets[1]
	if got.Trials != 1000 || got.Healthy.Ingestion.P99 != 12 || got.Notes == nil || fill.Monthly != 6.5 {
		t.Errorf("%s", b.String())
	}
	if x := fill.Failures[0]; x.P50 == nil || *x.P50 < 90 || x.Worst == nil || *x.Worst != 168.998 || x.Missed != 0 {
		t.Errorf("fill: %+v", x)
	}
	if x := view.Failures[0]; x.P50 != nil || x.Worst != nil || x.Missed != 1000 {
		t.Errorf("what is never seen must be null: %+v", x)
	}
}
