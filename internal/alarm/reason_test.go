package alarm

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func points(period time.Duration, newest time.Time, values ...float64) []Point {
	var out []Point
	for i, v := range values {
		out = append(out, Point{Start: newest.Add(-time.Duration(len(values)-1-i) * period), Value: v, Samples: 1})
	}
	return out
}

func TestReason(t *testing.T) {
	at := time.Date(2024, 1, 3, 11, 36, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		alarm  Criteria
		values []float64
		want   string
	}{
		{"one datapoint", Criteria{N: 1, Comparison: GreaterThan, Threshold: 21}, []float64{21.5},
			"Threshold Crossed: 1 datapoint [21.5 (03/01/24 11:36:00)] was greater than the threshold (21.0)."},
		{"back to OK", Criteria{N: 1, Comparison: LessThan, Threshold: 2}, []float64{3},
			"Threshold Crossed: 1 datapoint [3.0 (03/01/24 11:36:00)] was not less than the threshold (2.0)."},
		{"several, newest first", Criteria{N: 2, Comparison: LessThanOrEqual, Threshold: 2}, []float64{1, 2},
			"Threshold Crossed: 2 datapoints [2.0 (03/01/24 11:36:00), 1.0 (03/01/24 11:35:00)] were less than or equal to the threshold (2.0)."},
		{"M of N", Criteria{N: 3, M: 1, Comparison: GreaterThanOrEqual, Threshold: 0}, []float64{1, 1, 1},
			"Threshold Crossed: 3 out of the last 3 datapoints [1.0 (03/01/24 11:36:00), 1.0 (03/01/24 11:35:00), 1.0 (03/01/24 11:34:00)] were greater than or equal to the threshold (0.0) (minimum 1 datapoint for OK -> ALARM transition)."},
		{"one period missing, breaching", Criteria{N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching}, []float64{none, none},
			"Threshold Crossed: no datapoints were received for 1 period and 1 missing datapoint was treated as [Breaching]."},
		{"two periods missing, breaching", Criteria{N: 2, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching}, []float64{none, none},
			"Threshold Crossed: no datapoints were received for 2 periods and 2 missing datapoints were treated as [Breaching]."},
		{"unknown", Criteria{N: 3, Comparison: LessThan, Threshold: 2}, []float64{none, none, none},
			"Insufficient Data: 3 datapoints were unknown."},
		{"one unknown", Criteria{N: 1, Comparison: LessThan, Threshold: 2}, []float64{none},
			"Insufficient Data: 1 datapoint was unknown."},
		{"good point, the rest filled", Criteria{N: 3, M: 3, Comparison: GreaterThan, Threshold: 50, Treatment: TreatBreaching}, []float64{none, 0, none},
			"Threshold Crossed: 1 out of the last 3 datapoints [0.0 (03/01/24 11:35:00)] was not greater than the threshold (50.0) (minimum 1 datapoint for ALARM -> OK transition) and 2 missing datapoints were treated as [Breaching]."},
		{"alarm by fills alone", Criteria{N: 3, M: 2, Comparison: GreaterThan, Threshold: 50, Treatment: TreatBreaching}, []float64{none, 0, none},
			"Threshold Crossed: 2 missing datapoints were treated as [Breaching]."},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.alarm.Period = time.Minute
			e := c.alarm.Evaluate(at.Add(90*time.Second), points(time.Minute, at, c.values...))
			if got := e.Reason(); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestReasonData rebuilds the reason data of the sample events.
func TestReasonData(t *testing.T) {
	beat := Criteria{Statistic: "SampleCount", Period: time.Minute, N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching}
	latency := Criteria{Period: time.Minute, N: 1, Comparison: GreaterThan, Threshold: 20000}
	for _, c := range []struct {
		file   string
		alarm  Criteria
		values []float64
		count  float64
	}{
		{"m1-lambda-metric.json", beat, []float64{3, 3, 3, 3, 1}, 1},
		{"m2-lambda-metric.json", beat, []float64{none, none, none, none, none}, 0},
		{"m5-lambda-metric.json", latency, []float64{41, 41, 25000}, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			e, err := ParseEvent(eventFile(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			var d reasonDataRead
			if err := json.Unmarshal([]byte(e.New.ReasonData), &d); err != nil {
				t.Fatal(err)
			}
			query, _ := parseTime(d.Query)
			newest, _ := parseTime(d.Evaluated[0].Timestamp)
			p := points(time.Minute, newest, c.values...)
			for i := range p {
				p[i].Samples = c.count
			}
			got := c.alarm.Evaluate(query, p)
			if diff := cmp.Diff(e.New.ReasonData, got.ReasonData()); diff != "" {
				t.Errorf("reason data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(e.New.Reason, got.Reason()); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecentDatapoints is a capture at 10 s: from the oldest to the newest real
// datapoint, with the gap, without what is missing after it.
func TestRecentDatapoints(t *testing.T) {
	at := time.Date(2026, 9, 14, 5, 51, 40, 0, time.UTC)
	c := Criteria{Period: 10 * time.Second, N: 3, M: 3, Comparison: GreaterThan, Threshold: 50}
	e := c.Evaluate(at, points(c.Period, at, none, none, none, none, none, 0, none, 100, none))
	var d reasonDataRead
	var full struct {
		Recent []*float64 `json:"recentDatapoints"`
	}
	if err := json.Unmarshal([]byte(e.ReasonData()), &full); err != nil {
		t.Fatal(err)
	}
	d.Recent = full.Recent
	if diff := cmp.Diff([]*float64{new(0.0), nil, new(100.0)}, d.Recent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDouble(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 25000: "25000.0", 9999999: "9999999.0", 1e7: "1.0E7", 1.25e10: "1.25E10", .001: "0.001", .0001: "1.0E-4",
	} {
		if got := Double(f); got != want {
			t.Errorf("%v is written %s, want %s", f, got, want)
		}
	}
	if got := Double(math.Copysign(0, -1)); got != "-0.0" {
		t.Errorf("negative zero is written %s", got)
	}
}

func TestCompositeReason(t *testing.T) {
	e, err := ParseEvent(eventFile(t, "c1-lambda-composite.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := CompositeReason(e.Triggers[0]); got != e.New.Reason {
		t.Errorf("reason %q, want %q", got, e.New.Reason)
	}
	if got := CompositeReasonData(e.Triggers...); got != e.New.ReasonData {
		t.Errorf("reason data %s, want %s", got, e.New.ReasonData)
	}
	if got := CompositeSetupReason(e.Alarm.ARN, "created", OK); got != e.Old.Reason {
		t.Errorf("reason %q, want %q", got, e.Old.Reason)
	}
}
