package benchmark

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// played returns how long failures take to be noticed by real agents and alarms.
func played(t *testing.T, c Case, f detection.Failure, count int) []time.Duration {
	t.Helper()
	p := profile(t)
	all := make([]time.Duration, count)
	for i := range all {
		synctest.Test(t, func(t *testing.T) {
			var err error
			if all[i], err = Notice(t.Context(), c, f, uint64(i)+1, p); err != nil {
				t.Error(err)
			}
		})
	}
	slices.Sort(all)
	return all
}

// modelled is what hadr simulate detection says of the same.
func modelled(t *testing.T, c Case, f detection.Failure) detection.Times {
	t.Helper()
	m := detection.NewModel()
	m.Assumed.ExpressionCutoff = 0 // as the alarms are evaluated here; hadr assumes more
	var set detection.Set
	var err error
	if c.Lease > 0 {
		view := detection.View{Poll: c.Renewed, Timeout: m.HADRTimeout}
		set = detection.Set{Name: "lease and view", Detectors: []detection.Detector{m.Lease(c.Lease, c.Renewed), view}}
	} else {
		sql := slices.DeleteFunc(detection.PresetAlarms(detection.PresetFill, m.Probe, m.Threshold), func(d alarm.Definition) bool {
			return d.Metrics()[0].Name != m.Probe.Metric
		})
		set, err = m.Alarms("alarms on SQL", sql)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := profile(t)
	assumed := detection.Conditions{Ingestion: detection.Latency(p[MetricIngestion])}
	r, err := detection.Simulation{Sets: []detection.Set{set}, Failures: []detection.Failure{f}, Trials: 20_000, Seed: 1, Conditions: assumed}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r.Sets[0].Failures[0]
}

// TestModelAgrees: hadr simulate detection, whose code also stands behind
// detection_time, says what the agents and the alarms do. The tolerance is that of
// a median of so few failures.
func TestModelAgrees(t *testing.T) {
	tests := []struct {
		which     int
		failure   detection.Failure
		count     int
		tolerance time.Duration
	}{
		{shortLease, detection.Host, 40, 500 * time.Millisecond},
		{shortLease, detection.Hang, 40, 500 * time.Millisecond},
		{shortLease, detection.Crash, 40, 500 * time.Millisecond},
		{longLease, detection.Host, 40, 1200 * time.Millisecond},
		{longLease, detection.Hang, 40, 1200 * time.Millisecond},
		{longLease, detection.Crash, 40, 1200 * time.Millisecond},
		{alarmsAlone, detection.Host, 60, 15 * time.Second},
		{alarmsAlone, detection.Hang, 60, 15 * time.Second},
		{alarmsAlone, detection.Crash, 60, 15 * time.Second},
	}
	for _, tt := range tests {
		c := Cases[tt.which]
		t.Run(c.Name+" "+string(tt.failure), func(t *testing.T) {
			t.Parallel()
			model, all := modelled(t, c, tt.failure), played(t, c, tt.failure, tt.count)
			for _, q := range []float64{.25, .5, .75, .95} {
				got, want := all[int(q*float64(len(all)))], model.Quantile(q)
				if d := (got - want).Abs(); d > tt.tolerance {
					t.Errorf("quantile %.2f: played %s, modelled %s", q, got, want)
				}
			}
			t.Logf("played %s / %s / %s, modelled %s / %s / %s", all[len(all)/2], all[len(all)*95/100], all[len(all)-1], model.P50, model.P95, model.Max)
		})
	}
}
