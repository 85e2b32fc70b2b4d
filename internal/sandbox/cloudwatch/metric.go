package cloudwatch

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// metric is a name in a namespace with one set of dimensions. Another set is
// another metric, however similar.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html#Dimension
type metric struct {
	namespace  string
	name       string
	dimensions []types.Dimension // in order of name
	units      []*series
	newest     time.Time // time stamp of the newest datum
}

// metricKey identifies a metric whatever the order of its dimensions.
func metricKey(namespace, name string, dimensions []types.Dimension) string {
	var b strings.Builder
	b.WriteString(namespace)
	b.WriteByte(0)
	b.WriteString(name)
	for _, d := range sortDimensions(dimensions) {
		b.WriteByte(0)
		b.WriteString(aws.ToString(d.Name))
		b.WriteByte(0)
		b.WriteString(aws.ToString(d.Value))
	}
	return b.String()
}

func sortDimensions(d []types.Dimension) []types.Dimension {
	byName := func(a, b types.Dimension) int {
		return strings.Compare(aws.ToString(a.Name), aws.ToString(b.Name))
	}
	if slices.IsSortedFunc(d, byName) {
		return d
	}
	return slices.SortedFunc(slices.Values(d), byName)
}

func (m *metric) series(unit string) *series {
	for _, s := range m.units {
		if s.unit == unit {
			return s
		}
	}
	s := &series{unit: unit}
	m.units = append(m.units, s)
	return s
}

// collect aggregates the data of [from, to) in one unit, or in all if unit is "".
func (m *metric) collect(from, to time.Time, unit string, samples bool) (a alarm.Aggregate) {
	if m == nil {
		return a
	}
	for _, s := range m.units {
		if unit == "" || s.unit == unit {
			s.collect(&a, from.Unix(), to.Unix(), samples)
		}
	}
	return a
}

// arrival is published data until it becomes visible.
type arrival struct {
	visible time.Time
	tenant  *tenant
	key     string
	metric  metric // names only
	at      time.Time
	unit    string
	high    bool // high resolution: one second
	add     func(*alarm.Aggregate)
}

// publish takes data in, at once or after the ingestion delay. The caller holds mu.
func (c *CloudWatch) publish(now time.Time, a arrival) {
	delay := time.Duration(0)
	if c.delay != nil {
		delay = c.delay(a.key, now)
	}
	if delay <= 0 {
		a.store(now)
		return
	}
	a.visible = now.Add(delay)
	at, _ := slices.BinarySearchFunc(c.pending, a.visible, func(p arrival, t time.Time) int { return p.visible.Compare(t.Add(1)) })
	c.pending = slices.Insert(c.pending, at, a)
}

// arrive stores what has become visible. The caller holds mu.
func (c *CloudWatch) arrive(now time.Time) {
	n := 0
	for n < len(c.pending) && !c.pending[n].visible.After(now) {
		c.pending[n].store(now)
		n++
	}
	if c.pending = slices.Delete(c.pending, 0, n); len(c.pending) == 0 {
		c.pending = nil
	}
}

func (a *arrival) store(now time.Time) {
	m := a.tenant.metrics[a.key]
	if m == nil {
		fresh := a.metric
		m = &fresh
		a.tenant.metrics[a.key] = m
	}
	if a.at.After(m.newest) {
		m.newest = a.at
	}
	start := a.at.Unix()
	if !a.high {
		start -= start % 60
	}
	s := m.series(a.unit)
	a.add(&s.cell(start).Aggregate)
	s.compact(now)
}
