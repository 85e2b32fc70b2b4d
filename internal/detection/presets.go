package detection

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// Names of the alarm sets that are known by name.
const (
	PresetReference      = "reference"
	PresetFill           = "fill"
	PresetHighResolution = "high-resolution"
)

// Presets are the alarm sets that are known by name, with what they are.
var Presets = []struct{ Name, Text string }{
	{PresetReference, "the reference design: latency, SampleCount < 2, process, EC2 status"},
	{PresetFill, "the same with FILL(m1, 0), which counts an empty minute as no samples: the module db2-hadr"},
	{PresetHighResolution, "latency and FILL over periods of 20 s, for metrics with StorageResolution 1"},
}

// PresetAlarms are the alarms of one node in a preset. threshold is the latency
// in milliseconds that counts as failed.
func PresetAlarms(name string, p Probe, threshold float64) []alarm.Definition {
	probe := func(period int, stat string) *alarm.QueryStat {
		return &alarm.QueryStat{Metric: alarm.QueryMetric{Namespace: p.Namespace, Name: p.Metric}, Period: period, Stat: stat}
	}
	single := func(name string, s *alarm.QueryStat, compare alarm.Comparison, threshold float64, missing alarm.Treatment) alarm.Definition {
		return alarm.Definition{Name: name, Queries: []alarm.Query{{ID: "m1", Stat: s, ReturnData: true}}, N: 1, Comparison: compare, Threshold: threshold, Treatment: missing}
	}
	filled := func(name string, s *alarm.QueryStat, n int, threshold float64) alarm.Definition {
		return alarm.Definition{
			Name: name, Queries: []alarm.Query{{ID: "m1", Stat: s}, {ID: "e1", Expression: "FILL(m1, 0)", ReturnData: true}},
			N: n, Comparison: alarm.LessThan, Threshold: threshold, Treatment: alarm.TreatBreaching,
		}
	}
	process := single("process", &alarm.QueryStat{Metric: alarm.QueryMetric{Namespace: "CWAgent", Name: "procstat_lookup_pid_count"}, Period: 60, Stat: "Minimum"},
		alarm.LessThan, 1, alarm.TreatNotBreaching)
	status := single("status", &alarm.QueryStat{Metric: alarm.QueryMetric{Namespace: "AWS/EC2", Name: "StatusCheckFailed"}, Period: 60, Stat: "Maximum"},
		alarm.GreaterThanOrEqual, 1, alarm.TreatNotBreaching)
	latency := single("latency", probe(60, "Maximum"), alarm.GreaterThan, threshold, alarm.TreatNotBreaching)
	switch name {
	case PresetReference:
		return []alarm.Definition{latency, single("silent", probe(60, "SampleCount"), alarm.LessThan, 2, alarm.TreatBreaching), process, status}
	case PresetFill:
		return []alarm.Definition{latency, filled("silent", probe(60, "SampleCount"), 1, 2), process, status}
	case PresetHighResolution:
		return []alarm.Definition{
			single("latency", probe(20, "Maximum"), alarm.GreaterThan, threshold, alarm.TreatNotBreaching),
			filled("silent", probe(20, "SampleCount"), 2, 1), process, status,
		}
	}
	return nil
}

// Model is what turns names and alarms into sets.
type Model struct {
	Probe       Probe
	Threshold   float64 // milliseconds that count as failed
	HADRTimeout time.Duration
	Assumed     Assumptions
	// HighResolution says that the probe is published with a storage resolution
	// of a second.
	HighResolution bool
}

// NewModel returns the model of a node with the probe and the Db2 settings that
// the modules declare.
func NewModel() Model {
	return Model{Probe: DefaultProbe(), Threshold: 20_000, HADRTimeout: 120 * time.Second, Assumed: DefaultAssumptions()}
}

// Lease is the lease that hadr-agent keeps: it looks twice as often as it renews,
// and once a second at least, and a database counts as hung once its round trip takes longer than the threshold
// or three intervals.
func (m Model) Lease(duration, interval time.Duration) Lease {
	return Lease{
		Duration: duration, Heartbeat: interval, Poll: min(interval/2, time.Second),
		Health: max(time.Duration(m.Threshold*float64(time.Millisecond)), 3*interval+time.Second),
	}
}

// Alarms returns the set of a node's alarms of which one is enough, joined by
// one composite alarm.
func (m Model) Alarms(name string, definitions []alarm.Definition) (Set, error) {
	signals := NewSignals(m.Probe, m.HighResolution)
	out := Set{Name: name, Composites: 1}
	for _, d := range definitions {
		a, err := NewAlarm(d, signals, m.Assumed)
		if err != nil {
			return Set{}, err
		}
		out.Detectors = append(out.Detectors, a)
	}
	return out, nil
}

// Preset returns an alarm set that is known by name; false if there is none.
func (m Model) Preset(name string) (Set, bool) {
	if name == PresetHighResolution {
		m.HighResolution = true
	}
	definitions := PresetAlarms(name, m.Probe, m.Threshold)
	if definitions == nil {
		return Set{}, false
	}
	s, err := m.Alarms(name, definitions)
	return s, err == nil
}

// Comparison is what is compared when nobody says otherwise.
var Comparison = []string{
	"reference", "fill", "high-resolution", "lease:20s/5s", "lease:6s/2s",
	"fill+lease:20s/5s", "fill+lease:6s/2s", "fill+lease:6s/2s+view:2s", "fill&lease:6s/2s",
}
