package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

func presetWith(names ...string) Declared {
	d := Declared{Metrics: PresetAlarms(PresetFill, DefaultProbe(), 20000)}
	for i, rule := range names {
		d.Composites = append(d.Composites, Composite{Name: fmt.Sprintf("c%d", i), Rule: rule})
	}
	return d
}

func TestSetsOfDeclaredAlarms(t *testing.T) {
	for _, c := range []struct {
		name     string
		declared Declared
		want     map[string][3]int // worst seconds of host, hang, crash by set; 0 = never
		notes    string
	}{
		{"one composite of all", presetWith(`ALARM("latency") OR ALARM("silent") OR ALARM("process") OR ALARM("status")`),
			map[string][3]int{"c0": {170, 169, 150}}, ""},
		{"both are needed", presetWith(`ALARM(latency) AND ALARM(silent)`), // and what it leaves over
			map[string][3]int{"c0": {0, 0, 0}, "process": {0, 0, 310}, "status": {0, 0, 0}}, ""},
		{"at least one of two", presetWith(`AT_LEAST(1, ALARM, (latency, silent)) AND NOT ALARM(status)`),
			map[string][3]int{"c0": {170, 169, 150}, "process": {0, 0, 310}}, ""},
		{"a composite of a composite", presetWith(`ALARM(c1)`, `ALARM(silent) OR ALARM(latency) OR ALARM(process) OR ALARM(status)`),
			map[string][3]int{"c0": {170, 169, 150}}, ""},
		{"a child that is not there", presetWith(`ALARM(latency) OR ALARM(gone) OR ALARM(silent) OR ALARM(process) OR ALARM(status)`),
			map[string][3]int{"c0": {170, 169, 150}}, "the alarm gone is not there"},
		{"roots are given", Declared{Metrics: PresetAlarms(PresetFill, DefaultProbe(), 20000), Roots: []string{"silent"}},
			map[string][3]int{"silent": {170, 0, 0}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sets, notes, err := NewModel().Sets(c.declared)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(notes, "\n"), c.notes) || c.notes == "" && len(notes) > 0 {
				t.Errorf("notes %q, want %q", notes, c.notes)
			}
			if len(sets) != len(c.want) {
				t.Errorf("%d sets, want %d", len(sets), len(c.want))
			}
			for _, s := range sets {
				for i, f := range Failures {
					got := 0
					if worst := s.Worst(f); worst != Never {
						got = int(WholeSeconds(worst))
					}
					if got != c.want[s.Name][i] {
						t.Errorf("%s, %s: worst case %d s, want %d s", s.Name, f, got, c.want[s.Name][i])
					}
				}
			}
		})
	}
}

func TestDeclaredLease(t *testing.T) {
	d := presetWith(`ALARM(latency) OR ALARM(silent) OR ALARM(process) OR ALARM(status)`)
	l := NewModel().Lease(20*time.Second, 5*time.Second)
	d.Lease = &l
	sets, _, err := NewModel().Sets(d)
	if err != nil || len(sets) != 2 || sets[1].Name != "c0+lease 20 s/5 s" || sets[1].Worst(Host) != 21*time.Second || sets[1].Composites != 1 {
		t.Errorf("sets %+v, %v", sets, err)
	}
}

func TestDeclaredAlarmsAreLeftOut(t *testing.T) {
	d := presetWith()
	d.Metrics = d.Metrics[:1]
	d.Metrics[0].Queries[0].Stat.Metric.Name = "CPUUtilization"
	sets, notes, err := NewModel().Sets(d)
	if err != nil || len(sets) != 0 || !strings.Contains(strings.Join(notes, "\n"), "does not know its metric CPUUtilization") {
		t.Errorf("sets %v, notes %q, %v", sets, notes, err)
	}
}

func TestDeclaredAlarmsAreRefused(t *testing.T) {
	if _, _, err := NewModel().Sets(presetWith(`ALARM(`)); err == nil {
		t.Error("a rule without an end was accepted")
	}
	if _, _, err := NewModel().Sets(Declared{Composites: []Composite{{"a", "ALARM(b)"}, {"b", "ALARM(a)"}}, Roots: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "refers to itself") {
		t.Errorf("a cycle: %v", err)
	}
}

func planOf(resources string) []byte {
	return []byte(`{"format_version":"1.2","resource_changes":[` + resources + `]}`)
}

const plannedAlarms = `
{"address":"hadr_sql_latency_metric.a","mode":"managed","type":"hadr_sql_latency_metric","change":{"actions":["create"],"after":
 {"namespace":"HADR","metric_name":"SQLLatency","interval_seconds":10,"timeout_seconds":9,"sentinel_milliseconds":5001,"threshold_milliseconds":5000,
  "lease":{"duration_seconds":6,"interval_seconds":2,"function":"f"}}}},
{"address":"hadr_metric_alarm.silent","mode":"managed","type":"hadr_metric_alarm","change":{"actions":["create"],"after":
 {"name":"silent","namespace":"HADR","metric_name":"SQLLatency","statistic":"SampleCount","period":60,"expression":"FILL(m1, 0)","metric_query":null,
  "comparison_operator":"LessThanThreshold","threshold":4,"evaluation_periods":1,"datapoints_to_alarm":null,"treat_missing_data":"breaching"}}},
{"address":"aws_cloudwatch_metric_alarm.slow","mode":"managed","type":"aws_cloudwatch_metric_alarm","change":{"actions":["update"],"after":
 {"alarm_name":"slow","metric_query":[{"id":"m1","return_data":true,"metric":[{"namespace":"HADR","metric_name":"SQLLatency","stat":"Maximum","period":60}]}],
  "comparison_operator":"GreaterThanThreshold","threshold":5000,"evaluation_periods":1,"treat_missing_data":"notBreaching"}}},
{"address":"hadr_metric_alarm.gone","mode":"managed","type":"hadr_metric_alarm","change":{"actions":["delete"],"after":null}},
{"address":"aws_cloudwatch_composite_alarm.failed","mode":"managed","type":"aws_cloudwatch_composite_alarm","change":{"actions":["create"],"after":
 {"alarm_name":"failed","alarm_rule":"ALARM(silent) OR ALARM(slow)"}}}`

func TestReadPlan(t *testing.T) {
	m := NewModel()
	d, err := m.ReadPlan(planOf(plannedAlarms))
	if err != nil {
		t.Fatal(err)
	}
	if m.Probe.Interval != 10*time.Second || m.Probe.Sentinel != 5001 || len(d.Metrics) != 2 || len(d.Composites) != 1 {
		t.Errorf("probe %+v, declared %+v", m.Probe, d)
	}
	if d.Metrics[0].Treatment != alarm.TreatBreaching || !d.Metrics[0].OnExpression() || d.Metrics[1].Queries[0].Stat.Stat != "Maximum" {
		t.Errorf("alarms %+v", d.Metrics)
	}
	sets, notes, err := m.Sets(d)
	if err != nil || len(notes) > 0 || len(sets) != 2 || sets[1].Name != "failed+lease 6 s/2 s" {
		t.Fatalf("sets %v, notes %q, %v", sets, notes, err)
	}
	// Three of six samples came, one empty minute, one evaluation; and a tick and
	// a time-out before a minute and an evaluation.
	if host, hang := sets[0].Worst(Host), sets[0].Worst(Hang); WholeSeconds(host) != 160 || WholeSeconds(hang) != 149 {
		t.Errorf("worst cases %s and %s", host, hang)
	}
}

func TestReadPlanRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"PK":                                   "not the output of terraform show -json",
		"{}":                                   "not a plan",
		`{"format_version":"1.0","values":{}}`: "not a plan",
		string(planOf("")):                     "no metric alarms",
		string(planOf(`{"address":"x.y","mode":"managed","type":"hadr_metric_alarm","change":{"after":{"name":"a","period":45}}}`)):     "x.y: alarm a: ",
		string(planOf(`{"address":"x.y","mode":"managed","type":"hadr_composite_alarm","change":{"after":{"name":"a"}}}`)):              "known after apply",
		string(planOf(`{"address":"x.y","mode":"managed","type":"hadr_sql_latency_metric","change":{"after":{"interval_seconds":0}}}`)): "interval must be between",
	} {
		m := NewModel()
		if _, err := m.ReadPlan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadPlan(%.60s): %v, want %q", text, err, want)
		}
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add(planOf(plannedAlarms))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := NewModel()
		if d, err := m.ReadPlan(text); err == nil && len(d.Metrics) == 0 {
			t.Errorf("%s: no alarms and no error", text)
		}
	})
}
