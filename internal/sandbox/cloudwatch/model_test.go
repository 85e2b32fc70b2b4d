package cloudwatch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// TestTheModelOfDetectionTimes: alarm.Watch, which detection times are computed
// with, and this service raise the same alarm at the same moment, whatever the
// phases of probe, failure and evaluation.
func TestTheModelOfDetectionTimes(t *testing.T) {
	stat := &alarm.QueryStat{Metric: alarm.QueryMetric{Namespace: space, Name: "m"}, Period: 60, Stat: "SampleCount"}
	model := map[string][]alarm.Query{
		"plain": {{ID: "m1", Stat: stat, ReturnData: true}},
		"fill":  {{ID: "m1", Stat: stat}, {ID: "e1", Expression: "FILL(m1, 0)", ReturnData: true}},
	}
	served := map[string]func(*api.PutMetricAlarmInput){
		"plain": func(in *api.PutMetricAlarmInput) { in.Statistic = "SampleCount" },
		"fill": func(in *api.PutMetricAlarmInput) {
			in.Namespace, in.MetricName, in.Statistic, in.Period = nil, nil, "", nil
			m := statQuery("m1", "m", "SampleCount")
			m.ReturnData = aws.Bool(false)
			in.Metrics = []types.MetricDataQuery{exprQuery("e1", "FILL(m1, 0)"), m}
		},
	}
	r := rand.New(rand.NewPCG(1, 2))
	uniform := func(d time.Duration) time.Duration {
		return time.Duration(r.Int64N(int64(d))).Truncate(time.Millisecond)
	}
	for i := range 24 {
		phase, offset, failure := uniform(time.Minute), uniform(20*time.Second), 10*time.Minute+uniform(time.Minute)
		for kind, queries := range model {
			t.Run(fmt.Sprintf("%d %s", i, kind), func(t *testing.T) {
				w, err := alarm.NewWatch(alarm.Definition{Queries: queries, N: 1, Comparison: alarm.LessThan, Threshold: 2, Treatment: alarm.TreatBreaching})
				if err != nil {
					t.Fatal(err)
				}
				w.Schedule.Phase = phase
				data := alarm.Stream{Interval: 20 * time.Second, Healthy: 1}.Publish(nil, alarm.Publication{
					Until: failure, Offset: offset, Failure: failure, Effect: alarm.Effect{Silent: true},
				})
				want, ok := w.FirstAlarm([][]alarm.Datum{data}, failure, failure+15*time.Minute)
				if !ok {
					t.Fatal("the model never raises the alarm")
				}
				synctest.Test(t, func(t *testing.T) {
					f := start(t, WithPhase(func(string) time.Duration { return phase }))
					f.alarm(metricAlarm("a", served[kind], func(in *api.PutMetricAlarmInput) {
						in.TreatMissingData, in.ComparisonOperator, in.Threshold = aws.String("breaching"), "LessThanThreshold", aws.Float64(2)
					}))
					midnight := time.Now()
					for _, d := range data {
						time.Sleep(time.Until(midnight.Add(d.At)))
						f.value("m", d.Value)
					}
					time.Sleep(time.Until(midnight.Add(failure)))
					f.want("a", alarm.OK)
					f.until("a", alarm.Alarm, 15*time.Minute)
					if got := f.describe("a").StateUpdatedTimestamp.Sub(midnight); got != want {
						t.Errorf("raised %s after midnight, the model says %s", got, want)
					}
				})
			})
		}
	}
}
