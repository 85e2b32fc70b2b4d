package alarm

import (
	"fmt"
	"testing"
	"time"
)

// timingRow is a row of alarm_timing.json.
type timingRow struct {
	ID, Kind string
	Period   any
	N        int
	Range    any
	RangeMin int `json:"range_min"`
	RangeMax int `json:"range_max"`
	Likely   int `json:"range_likely"`
	AtCutoff int `json:"range_min_if_cutoff_10s"`
	Most     int `json:"range_max_if_cutoff_10s"`
	Cadence  int `json:"cadence_s"`
	Cutoff   int `json:"cutoff_s"`
	Slots    []string
	Buckets  []time.Time `json:"buckets_listed"`
	Are      string      `json:"buckets_are"`
	Note     string
	Query    time.Time `json:"query_date"`
	Alarm    struct {
		Period     int
		N          int `json:"evaluation_periods"`
		M          int `json:"datapoints_to_alarm"`
		Treat      Treatment
		Treatment  Treatment `json:"treat_missing_data"`
		Comparison Comparison
		Threshold  float64
		Statistic  string
		Expression any
	}
	Transition struct{ From, To State }
	Values     []float64 `json:"values_oldest_first"`
	Oldest0    *int      `json:"slot_of_oldest_listed_if_cutoff_0s"`
	Newest0    *int      `json:"slot_of_newest_listed_if_cutoff_0s"`
	Oldest10   *int      `json:"slot_of_oldest_listed_if_cutoff_10s"`
	Newest10   *int      `json:"slot_of_newest_listed_if_cutoff_10s"`
	Data       []struct {
		Time     time.Time
		Value    float64
		Finished time.Time `json:"put_request_finished"`
	}
	Samples []struct {
		Count, Value float64
		Result       string
	}
}

func TestDefaultRangeLiesWithinTheMeasuredBounds(t *testing.T) {
	for _, r := range oracle[timingRow](t, "alarm_timing.json") {
		if r.Kind != "range_fact" && r.Kind != "range_bound" || r.N == 0 {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			period, _ := r.Period.(float64)
			got := DefaultRange(time.Duration(period)*time.Second, r.N)
			exact, _ := r.Range.(float64)
			low, high := max(r.RangeMin, r.AtCutoff, r.Likely, int(exact)), r.RangeMax
			for _, bound := range []int{r.Most, r.Likely, int(exact)} {
				if high == 0 {
					high = bound
				}
			}
			if got < low || high != 0 && got > high {
				t.Errorf("range for N = %d at %v s is %d, want %d..%d", r.N, period, got, low, high)
			}
		})
	}
}

func TestScheduleCadence(t *testing.T) {
	for _, c := range []struct {
		period time.Duration
		n      int
		want   time.Duration
	}{
		{10 * time.Second, 3, 10 * time.Second},
		{30 * time.Second, 1, 10 * time.Second},
		{time.Minute, 1440, time.Minute},
		{5 * time.Minute, 3, time.Minute},
		{24 * time.Hour, 1, time.Minute},
		{24 * time.Hour, 2, time.Hour},
	} {
		if got := NewSchedule(c.period, c.n, false).Step(); got != c.want {
			t.Errorf("%d periods of %v: evaluated every %v, want %v", c.n, c.period, got, c.want)
		}
	}
}

func TestScheduleKeepsItsPhase(t *testing.T) {
	s := NewSchedule(time.Minute, 1, false)
	s.Phase = 49*time.Second + 319*time.Millisecond
	at := time.Date(2026, 8, 19, 8, 13, 50, 0, time.UTC)
	for _, want := range []string{"08:14:49.319", "08:15:49.319"} {
		at = s.Next(at)
		if got := at.Format("15:04:05.000"); got != want {
			t.Errorf("evaluated at %s, want %s", got, want)
		}
	}
}

// TestScheduleExplainsTheCaptures places the periods that recorded evaluations
// listed. A query in the first ten seconds of a minute may have used the cut-off
// or not.
func TestScheduleExplainsTheCaptures(t *testing.T) {
	captures := 0
	for _, r := range oracle[timingRow](t, "alarm_timing.json") {
		if r.Kind != "capture" || r.Query.IsZero() || len(r.Buckets) == 0 {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			s := NewSchedule(time.Duration(r.Alarm.Period)*time.Second, r.Alarm.N, false)
			none := s
			none.Cutoff = 0
			first, last := r.Buckets[0], r.Buckets[len(r.Buckets)-1]
			for _, c := range []struct {
				what     string
				schedule Schedule
				bucket   time.Time
				want     *int
			}{
				{"oldest without a cut-off", none, first, r.Oldest0},
				{"newest without a cut-off", none, last, r.Newest0},
				{"oldest", s, first, r.Oldest10},
				{"newest", s, last, r.Newest10},
			} {
				if c.want == nil {
					continue
				}
				captures++
				if got := c.schedule.Slot(r.Query, c.bucket); got != *c.want {
					t.Errorf("%s listed period %s is slot %d, want %d", c.what, c.bucket.Format(time.TimeOnly), got, *c.want)
				}
			}
			switch r.ID {
			case "C33", "C34":
				return // unexplained labels, see their notes
			}
			inRange := func(s Schedule) bool {
				return s.Slot(r.Query, last) >= 1 && s.Slot(r.Query, first) <= s.Range
			}
			if !inRange(s) && !inRange(none) {
				t.Errorf("listed periods are slots %d..%d of %d", s.Slot(r.Query, last), s.Slot(r.Query, first), s.Range)
			}
			if r.Are == "missing" && s.Slot(r.Query, last) != 1 && none.Slot(r.Query, last) != 1 {
				t.Errorf("newest missing period is slot %d", s.Slot(r.Query, last))
			}
			if r.Alarm.Comparison.Valid() && len(r.Values) == r.Alarm.N && r.Alarm.M == 0 {
				decided(t, r)
			}
		})
	}
	if captures == 0 {
		t.Fatal("no capture was checked")
	}
}

// decided checks the transition of a capture whose values are known.
func decided(t *testing.T, r timingRow) {
	t.Helper()
	var s []Slot
	for _, v := range r.Values {
		if r.Alarm.Comparison.Breaches(v, r.Alarm.Threshold) {
			s = append(s, Breaching)
		} else {
			s = append(s, Good)
		}
	}
	if got, _ := Decide(s, r.Alarm.N, r.Alarm.N, TreatMissing); got != r.Transition.To {
		t.Errorf("values %v: %s, want %s", r.Values, got, r.Transition.To)
	}
}

// TestHighResolutionCaptures replays the published data of each capture through
// schedule, statistic and decision.
func TestHighResolutionCaptures(t *testing.T) {
	for _, r := range oracle[timingRow](t, "alarm_timing.json") {
		if r.Kind != "capture_high_resolution" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			s := NewSchedule(time.Duration(r.Alarm.Period)*time.Second, r.Alarm.N, r.Alarm.Expression != nil)
			for _, b := range r.Buckets {
				if got := s.Slot(r.Query, b); got != 1 {
					t.Errorf("period %s is slot %d, want the newest", b.Format(time.TimeOnly), got)
				}
			}
			if r.Slots == nil {
				return
			}
			if rng, _ := r.Range.(float64); s.Range != int(rng) || s.Cutoff != time.Duration(r.Cutoff)*time.Second {
				t.Fatalf("range %d, cut-off %v; want %v, %d s", s.Range, s.Cutoff, r.Range, r.Cutoff)
			}
			stat, err := ParseStatistic(r.Alarm.Statistic)
			if err != nil {
				t.Fatal(err)
			}
			buckets := make([]Aggregate, s.Range)
			for _, d := range r.Data {
				if i := s.Range - s.Slot(r.Query, d.Time.Truncate(s.Period)); i >= 0 && i < s.Range {
					buckets[i].Add(d.Value, 1)
				}
			}
			got := make([]Slot, s.Range)
			for i := range buckets {
				if v, ok := stat.Value(&buckets[i]); ok {
					got[i] = Good
					if r.Alarm.Comparison.Breaches(v, r.Alarm.Threshold) {
						got[i] = Breaching
					}
				}
			}
			if want := slots(t, r.Slots); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("slots %v, want %v", got, want)
			}
			if state, _ := Decide(got, r.Alarm.N, r.Alarm.M, r.Alarm.Treatment); state != r.Transition.To {
				t.Errorf("%s, want %s", state, r.Transition.To)
			}
		})
	}
}

// TestSilenceExperiments is the experiment with a probe every 20 s that stops
// (rows X1 to X3): a partial last minute alarms at once, whole minutes of silence
// take five of them, and FILL does not wait for the range.
func TestSilenceExperiments(t *testing.T) {
	base := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		stops   time.Duration // after base
		stat    string
		breach  Comparison
		limit   float64
		fill    *float64
		minutes int // empty or partial minutes that the evaluation needed
	}{
		{"X1 partial minute, SampleCount < 2", 5*time.Minute + 10*time.Second, "SampleCount", LessThan, 2, nil, 1},
		{"X2 silence, Maximum > 20000", 5 * time.Minute, "Maximum", GreaterThan, 20000, nil, 5},
		{"X3 silence, FILL(m1, 25000) > 20000", 5 * time.Minute, "Maximum", GreaterThan, 20000, new(25000.0), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSchedule(time.Minute, 1, c.fill != nil)
			s.Phase = 30 * time.Second
			stat, _ := ParseStatistic(c.stat)
			at := base.Add(c.stops)
			for range 20 {
				at = s.Next(at)
				got := make([]Slot, s.Range)
				for i := range got {
					var a Aggregate
					from := s.Start(at).Add(time.Duration(i) * s.Period)
					for p := time.Duration(0); p < c.stops; p += 20 * time.Second {
						if d := base.Add(p).Sub(from); d >= 0 && d < s.Period {
							a.Add(1, 1)
						}
					}
					v, ok := stat.Value(&a)
					if !ok && c.fill != nil {
						v, ok = *c.fill, true
					}
					switch {
					case ok && c.breach.Breaches(v, c.limit):
						got[i] = Breaching
					case ok:
						got[i] = Good
					}
				}
				if state, _ := Decide(got, 1, 1, TreatBreaching); state == Alarm {
					if minutes := int(s.End(at).Sub(base.Add(5*time.Minute)) / time.Minute); minutes != c.minutes {
						t.Errorf("alarm after %d minutes, want %d", minutes, c.minutes)
					}
					return
				}
			}
			t.Error("never in alarm")
		})
	}
}

func TestLowSampleCountPercentile(t *testing.T) {
	for _, r := range oracle[timingRow](t, "alarm_timing.json") {
		for _, x := range r.Samples {
			stat, err := ParseStatistic(r.Alarm.Statistic)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := stat.EnoughSamples(x.Count), x.Result != "retain"; got != want {
				t.Errorf("%s: %v samples suffice: %t, want %t", r.ID, x.Count, got, want)
			}
		}
	}
}
