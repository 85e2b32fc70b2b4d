package cloudwatch

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// queries is a compiled list of metric data queries, as GetMetricData and metric
// math alarms have them.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html
type queries struct {
	list []*query
	byID map[string]*query
}

type query struct {
	id         string
	label      string
	returnData bool
	period     time.Duration // of a statistic, or the longest of what an expression uses

	expression *alarm.Expression // or
	statistic  statistic
}

// statistic is a statistic of one metric.
type statistic struct {
	key  string
	unit string
	alarm.Statistic
}

// at computes the statistic over [from, to): NaN if there is no datapoint. It also
// returns the number of samples.
func (s *statistic) at(m *metric, from, to time.Time) (value, samples float64) {
	a := m.collect(from, to, s.unit, s.NeedsSamples())
	if v, ok := s.Value(&a); ok {
		return v, a.Count
	}
	return math.NaN(), a.Count
}

var queryID = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,254}$`)

func compile(in []types.MetricDataQuery) (*queries, error) {
	set := &queries{byID: map[string]*query{}}
	for i := range in {
		q, err := compileQuery(&in[i])
		if err != nil {
			return nil, err
		}
		if set.byID[q.id] != nil {
			return nil, invalid("The query id %s is used twice.", q.id)
		}
		set.byID[q.id] = q
		set.list = append(set.list, q)
	}
	for _, q := range set.list {
		if err := set.resolve(q, map[string]bool{}); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func compileQuery(in *types.MetricDataQuery) (*query, error) {
	id := aws.ToString(in.Id)
	q := &query{id: id, label: aws.ToString(in.Label), returnData: in.ReturnData == nil || *in.ReturnData}
	switch {
	case !queryID.MatchString(id):
		return nil, invalid("The query id %q must start with a lower-case letter and contain only letters, digits and underscores.", id)
	case (in.Expression == nil) == (in.MetricStat == nil):
		return nil, invalid("Query %s must have either Expression or MetricStat.", id)
	case in.Expression != nil:
		e, err := alarm.ParseExpression(*in.Expression)
		if err != nil {
			return nil, invalid("Error in query %s: %v", id, err)
		}
		q.expression = e
		if in.Period != nil {
			q.period, err = checkPeriod(*in.Period)
		}
		return q, err
	}
	s := in.MetricStat
	if s.Metric == nil || aws.ToString(s.Metric.MetricName) == "" || aws.ToString(s.Metric.Namespace) == "" {
		return nil, invalid("MetricStat of query %s needs a metric with name and namespace.", id)
	}
	if err := checkDimensions(s.Metric.Dimensions); err != nil {
		return nil, err
	}
	var err error
	if q.period, err = checkPeriod(aws.ToInt32(s.Period)); err != nil {
		return nil, err
	}
	stat, err := alarm.ParseStatistic(aws.ToString(s.Stat))
	if err != nil {
		return nil, invalid("Query %s: %v", id, err)
	}
	q.statistic = statistic{metricKey(*s.Metric.Namespace, *s.Metric.MetricName, s.Metric.Dimensions), string(s.Unit), stat}
	if q.label == "" {
		q.label = *s.Metric.MetricName
	}
	return q, nil
}

// checkPeriod accepts 1, 5, 10, 20, 30 s and whole minutes.
func checkPeriod(seconds int32) (time.Duration, error) {
	switch {
	case seconds == 1, seconds == 5, seconds == 10, seconds == 20, seconds == 30, seconds >= 60 && seconds%60 == 0:
		return time.Duration(seconds) * time.Second, nil
	}
	return 0, invalid("Period %d is invalid: it must be 1, 5, 10, 20, 30 or a multiple of 60.", seconds)
}

// resolve checks what an expression refers to and finds its period.
func (set *queries) resolve(q *query, path map[string]bool) error {
	if q.expression == nil {
		return nil
	}
	if path[q.id] {
		return invalid("Expression %s refers to itself.", q.id)
	}
	path[q.id] = true
	defer delete(path, q.id)
	longest := time.Duration(0)
	for _, id := range q.expression.References() {
		x := set.byID[id]
		if x == nil {
			return invalid("Expression %s refers to %s, which is not among the queries.", q.id, id)
		}
		if err := set.resolve(x, path); err != nil {
			return err
		}
		longest = max(longest, x.period)
	}
	if q.expression.UsesAllMetrics() {
		for _, x := range set.list {
			if x.expression == nil {
				longest = max(longest, x.period)
			}
		}
	}
	if longest > 0 {
		q.period = longest
	}
	if q.period == 0 {
		q.period = time.Minute
	}
	return nil
}

// evaluation computes queries of one set on one grid.
type evaluation struct {
	tenant *tenant
	set    *queries
	grid   alarm.Grid
	done   map[string]alarm.Value
}

func (t *tenant) evaluate(set *queries, q *query, grid alarm.Grid) (alarm.Value, error) {
	e := &evaluation{t, set, grid, map[string]alarm.Value{}}
	return e.query(q)
}

func (e *evaluation) query(q *query) (alarm.Value, error) {
	if v, ok := e.done[q.id]; ok {
		return v, nil
	}
	var v alarm.Value
	var err error
	if q.expression == nil {
		v = alarm.SeriesValue(e.statistic(q))
	} else {
		v, err = q.expression.Eval(&alarm.Scope{
			Grid:    e.grid,
			Lookup:  func(id string) (alarm.Value, error) { return e.query(e.set.byID[id]) },
			Metrics: e.metrics,
		})
	}
	if err == nil {
		e.done[q.id] = v
	}
	return v, err
}

func (e *evaluation) metrics(containing string) (out []alarm.Series) {
	for _, q := range e.set.list {
		if q.expression == nil && strings.Contains(q.id, containing) {
			out = append(out, e.statistic(q))
		}
	}
	return out
}

func (e *evaluation) statistic(q *query) alarm.Series {
	s := alarm.Series{Label: q.label, Values: make([]float64, e.grid.N)}
	m := e.tenant.metrics[q.statistic.key]
	for i := range s.Values {
		s.Values[i], _ = q.statistic.at(m, e.grid.At(i), e.grid.At(i+1))
	}
	return s
}
