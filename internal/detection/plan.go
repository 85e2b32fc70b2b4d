package detection

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// planned is a resource as `terraform show -json` prints what it will be.
//
// https://developer.hashicorp.com/terraform/internals/json-format
type planned struct {
	Address string `json:"address"`
	Type    string `json:"type"`
	Mode    string `json:"mode"`
	Change  struct {
		After json.RawMessage `json:"after"`
	} `json:"change"`
}

// plannedMetric is one metric of an alarm, in this provider's and in AWS's.
type plannedMetric struct {
	Namespace         string            `json:"namespace"`
	MetricName        string            `json:"metric_name"`
	Dimensions        map[string]string `json:"dimensions"`
	Statistic         string            `json:"statistic"`
	ExtendedStatistic string            `json:"extended_statistic"`
	Stat              string            `json:"stat"`
	Period            int               `json:"period"`
	Unit              string            `json:"unit"`
}

type plannedAlarm struct {
	plannedMetric
	Name       string         `json:"name"`
	AlarmName  string         `json:"alarm_name"`
	Rule       string         `json:"alarm_rule"`
	Expression string         `json:"expression"`
	Queries    []plannedQuery `json:"metric_query"`
	Comparison string         `json:"comparison_operator"`
	Threshold  float64        `json:"threshold"`
	N          int            `json:"evaluation_periods"`
	M          int            `json:"datapoints_to_alarm"`
	Missing    string         `json:"treat_missing_data"`
}

type plannedQuery struct {
	ID         string          `json:"id"`
	Expression string          `json:"expression"`
	ReturnData bool            `json:"return_data"`
	Metric     json.RawMessage `json:"metric"` // an object, or a list of one
}

type plannedProbe struct {
	Namespace string  `json:"namespace"`
	Metric    string  `json:"metric_name"`
	Interval  int     `json:"interval_seconds"`
	Timeout   int     `json:"timeout_seconds"`
	Threshold float64 `json:"threshold_milliseconds"`
	Sentinel  float64 `json:"sentinel_milliseconds"`
	Lease     *struct {
		Duration int `json:"duration_seconds"`
		Interval int `json:"interval_seconds"`
	} `json:"lease"`
}

// ReadPlan reads the alarms and the probe of a Terraform plan, as `terraform
// show -json` prints it: hadr_metric_alarm, hadr_composite_alarm and
// hadr_sql_latency_metric, and the alarms of AWS's provider.
func (m *Model) ReadPlan(text []byte) (Declared, error) {
	var doc struct {
		Version string    `json:"format_version"`
		Changes []planned `json:"resource_changes"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return Declared{}, fmt.Errorf("this is not the output of terraform show -json: %w", err)
	}
	if doc.Version == "" || doc.Changes == nil {
		return Declared{}, errors.New("this is not a plan: save one with terraform plan -out=FILE, and print it with terraform show -json FILE")
	}
	var out Declared
	for _, r := range doc.Changes {
		if r.Mode != "managed" || len(r.Change.After) == 0 || string(r.Change.After) == "null" {
			continue // deleted
		}
		if err := m.read(&out, r); err != nil {
			return Declared{}, fmt.Errorf("%s: %w", r.Address, err)
		}
	}
	if len(out.Metrics) == 0 {
		return Declared{}, errors.New("the plan has no metric alarms")
	}
	return out, nil
}

func (m *Model) read(out *Declared, r planned) error {
	switch r.Type {
	case "hadr_sql_latency_metric":
		var p plannedProbe
		if err := json.Unmarshal(r.Change.After, &p); err != nil {
			return err
		}
		return m.readProbe(out, p)
	case "hadr_metric_alarm", "aws_cloudwatch_metric_alarm":
		var a plannedAlarm
		if err := json.Unmarshal(r.Change.After, &a); err != nil {
			return err
		}
		d, err := a.definition()
		out.Metrics = append(out.Metrics, d)
		return err
	case "hadr_composite_alarm", "aws_cloudwatch_composite_alarm":
		var a plannedAlarm
		if err := json.Unmarshal(r.Change.After, &a); err != nil {
			return err
		}
		if a.Rule == "" {
			return errors.New("its rule is known after apply only: name the alarms by literals")
		}
		out.Composites = append(out.Composites, Composite{Name: a.name(), Rule: a.Rule})
	}
	return nil
}

func (m *Model) readProbe(out *Declared, p plannedProbe) error {
	m.Threshold = p.Threshold
	m.Probe = Probe{
		Namespace: p.Namespace, Metric: p.Metric, Sentinel: p.Sentinel,
		Interval: time.Duration(p.Interval) * time.Second, Timeout: time.Duration(p.Timeout) * time.Second,
	}
	if p.Lease != nil {
		l := m.Lease(time.Duration(p.Lease.Duration)*time.Second, time.Duration(p.Lease.Interval)*time.Second)
		if err := l.Check(); err != nil {
			return err
		}
		out.Lease = &l
	}
	return m.Probe.Check()
}

func (a plannedAlarm) name() string {
	if a.Name != "" {
		return a.Name
	}
	return a.AlarmName
}

func (a plannedAlarm) definition() (alarm.Definition, error) {
	d := alarm.Definition{
		Name: a.name(), N: a.N, M: a.M, Comparison: alarm.Comparison(a.Comparison), Threshold: a.Threshold, Treatment: alarm.Treatment(a.Missing),
	}
	if len(a.Queries) == 0 {
		d.Queries = Shortcut(a.stat(), a.Expression)
	}
	for _, q := range a.Queries {
		x := alarm.Query{ID: q.ID, Expression: q.Expression, ReturnData: q.ReturnData}
		if q.Expression == "" {
			metric, err := q.metric()
			if err != nil {
				return d, err
			}
			x.Stat = metric.stat()
		}
		d.Queries = append(d.Queries, x)
	}
	_, err := alarm.NewWatch(d)
	return d, err
}

// Shortcut returns the queries of an alarm on one metric, or on an expression
// over it in which it is called m1.
func Shortcut(stat *alarm.QueryStat, expression string) []alarm.Query {
	if expression == "" {
		return []alarm.Query{{ID: "m1", Stat: stat, ReturnData: true}}
	}
	return []alarm.Query{{ID: "m1", Stat: stat}, {ID: "e1", Expression: expression, ReturnData: true}}
}

func (q plannedQuery) metric() (plannedMetric, error) {
	var one plannedMetric
	if json.Unmarshal(q.Metric, &one) == nil && one.MetricName != "" {
		return one, nil
	}
	var list []plannedMetric
	if err := json.Unmarshal(q.Metric, &list); err != nil || len(list) != 1 {
		return one, fmt.Errorf("query %s has neither expression nor metric", q.ID)
	}
	return list[0], nil
}

func (p plannedMetric) stat() *alarm.QueryStat {
	stat := p.Statistic
	for _, s := range []string{p.ExtendedStatistic, p.Stat} {
		if stat == "" {
			stat = s
		}
	}
	return &alarm.QueryStat{
		Metric: alarm.QueryMetric{Namespace: p.Namespace, Name: p.MetricName, Dimensions: p.Dimensions}, Period: p.Period, Stat: stat, Unit: p.Unit,
	}
}
