package cloudwatch

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// probe publishes v every 20 s for d. The bubble's time starts at midnight.
func (f *fixture) probe(name string, v float64, d time.Duration) {
	for range d / (20 * time.Second) {
		f.value(name, v)
		time.Sleep(20 * time.Second)
	}
}

// until waits in steps of a second for a state and returns how long that took.
func (f *fixture) until(name string, state alarm.State, limit time.Duration) time.Duration {
	f.t.Helper()
	began := f.w.Clock.Now()
	for string(f.describe(name).StateValue) != string(state) {
		if f.w.Clock.Now().Sub(began) > limit {
			f.t.Fatalf("%s is not %s after %v", name, state, limit)
		}
		time.Sleep(time.Second)
		synctest.Wait() // an evaluation may be due at this very second
	}
	return f.w.Clock.Now().Sub(began)
}

// TestAStoppedProbe is the failure of a probe that publishes every 20 s, as three
// kinds of alarms see it; they are evaluated half a minute after the minute.
func TestAStoppedProbe(t *testing.T) {
	breaching := func(in *api.PutMetricAlarmInput) { in.TreatMissingData = aws.String("breaching") }
	count := func(in *api.PutMetricAlarmInput) {
		breaching(in)
		in.Statistic, in.ComparisonOperator, in.Threshold = "SampleCount", "LessThanThreshold", aws.Float64(2)
	}
	filled := func(in *api.PutMetricAlarmInput) {
		count(in)
		in.Namespace, in.MetricName, in.Statistic, in.Period = nil, nil, "", nil
		m := statQuery("m1", "m", "SampleCount")
		m.ReturnData = aws.Bool(false)
		in.Metrics = []types.MetricDataQuery{exprQuery("e", "FILL(m1, 0)"), m}
	}
	for _, c := range []struct {
		name  string
		alarm func(*api.PutMetricAlarmInput)
		lives time.Duration // of the probe
		want  time.Duration // from its last sample's 20 s on
	}{
		{"silence at a minute's end: five empty minutes", count, 10 * time.Minute, 5*time.Minute + 30*time.Second},
		{"one sample in the last minute", count, 10*time.Minute + 20*time.Second, time.Minute + 10*time.Second},
		{"Maximum does not see a partial minute", breaching, 10*time.Minute + 20*time.Second, 6*time.Minute + 10*time.Second},
		{"FILL sees an empty minute at once", filled, 10 * time.Minute, time.Minute + 30*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				f.alarm(metricAlarm("a", c.alarm))
				f.probe("m", 1, c.lives)
				f.want("a", alarm.OK)
				if got := f.until("a", alarm.Alarm, 15*time.Minute); got != c.want {
					t.Errorf("alarm after %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestReasonOfAnEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a"))
		f.value("m", 9)
		time.Sleep(91 * time.Second)
		a := f.describe("a")
		if got, want := *a.StateReason, "Threshold Crossed: 1 datapoint [9.0 (01/01/00 00:00:00)] was greater than the threshold (5.0)."; got != want {
			t.Errorf("reason %q, want %q", got, want)
		}
		want := `{"version":"1.0","queryDate":"2000-01-01T00:01:30.000+0000","startDate":"2000-01-01T00:00:00.000+0000","statistic":"Maximum","period":60,` +
			`"recentDatapoints":[9.0],"threshold":5.0,"evaluatedDatapoints":[{"timestamp":"2000-01-01T00:00:00.000+0000","sampleCount":1.0,"value":9.0}]}`
		if got := *a.StateReasonData; got != want {
			t.Errorf("reason data\n%s, want\n%s", got, want)
		}
	})
}

func TestTreatMissingDataWithoutData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		want := map[string]alarm.State{"breaching": alarm.Alarm, "notBreaching": alarm.OK, "missing": alarm.InsufficientData, "ignore": alarm.InsufficientData}
		for treatment := range want {
			f.alarm(metricAlarm(treatment, func(in *api.PutMetricAlarmInput) { in.TreatMissingData = &treatment }))
		}
		time.Sleep(time.Minute)
		for treatment, state := range want {
			f.want(treatment, state)
		}
	})
}

func TestHighResolutionAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) {
			in.Period, in.TreatMissingData = aws.Int32(10), aws.String("notBreaching")
		}))
		time.Sleep(5 * time.Second)
		f.value("m", 9)
		// 00:00:05 is in the period that ends at 10 and is used from 20 on.
		if got := f.until("a", alarm.Alarm, time.Minute); got != 15*time.Second {
			t.Errorf("alarm after %v, want 15s", got)
		}
		// It leaves the range of 1 + 60/10 periods at 00:01:10 + 10 s.
		if got := f.until("a", alarm.OK, 5*time.Minute); got != 60*time.Second+10*time.Second {
			t.Errorf("OK after %v, want 70s", got)
		}
	})
}

func TestMOutOfN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		for m := range int32(3) {
			f.alarm(metricAlarm(fmt.Sprint(m+1), func(in *api.PutMetricAlarmInput) {
				in.EvaluationPeriods, in.DatapointsToAlarm = aws.Int32(3), aws.Int32(m+1)
			}))
		}
		for _, v := range []float64{9, 1, 9} {
			f.value("m", v)
			time.Sleep(time.Minute)
		}
		time.Sleep(31 * time.Second)
		f.want("1", alarm.Alarm)
		f.want("2", alarm.Alarm)
		f.want("3", alarm.OK)
	})
}

// TestLowSampleCountPercentile: 99 samples are too few for p90.
func TestLowSampleCountPercentile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		for _, low := range []string{"ignore", "evaluate"} {
			f.alarm(metricAlarm(low, func(in *api.PutMetricAlarmInput) {
				in.Statistic, in.ExtendedStatistic, in.EvaluateLowSampleCountPercentile = "", aws.String("p90"), &low
			}))
		}
		many := func(n float64) {
			f.put(types.MetricDatum{MetricName: aws.String("m"), Values: []float64{9}, Counts: []float64{n}})
			time.Sleep(time.Minute)
		}
		many(99)
		time.Sleep(31 * time.Second)
		f.want("ignore", alarm.InsufficientData)
		f.want("evaluate", alarm.Alarm)
		time.Sleep(29 * time.Second)
		many(100)
		time.Sleep(31 * time.Second)
		f.want("ignore", alarm.Alarm)
	})
}

func TestUnitsAreDifferentStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		for _, unit := range []types.StandardUnit{"", "Seconds", "Count"} {
			f.alarm(metricAlarm("in "+string(unit), func(in *api.PutMetricAlarmInput) { in.Unit = unit }))
		}
		f.put(types.MetricDatum{MetricName: aws.String("m"), Value: aws.Float64(9), Unit: "Seconds"})
		time.Sleep(91 * time.Second)
		f.want("in ", alarm.Alarm)
		f.want("in Seconds", alarm.Alarm)
		f.want("in Count", alarm.InsufficientData)
	})
}

func TestEvaluationStopsWithTheAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) { in.TreatMissingData = aws.String("breaching") }))
		must[*api.DeleteAlarmsOutput](t)(f.deleteAlarms(request, &api.DeleteAlarmsInput{AlarmNames: []string{"a"}}))
		time.Sleep(time.Hour)
		if got := f.historyOf("a", "StateUpdate"); len(got) != 0 {
			t.Errorf("a deleted alarm changed: %q", got)
		}
	})
}

// TestAnExpressionThatCannotBeEvaluated keeps the state and does not stop others.
func TestAnExpressionThatCannotBeEvaluated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("mismatch", func(in *api.PutMetricAlarmInput) {
			in.Namespace, in.MetricName, in.Statistic, in.Period = nil, nil, "", nil
			m := statQuery("m1", "m", "Sum")
			m.ReturnData = aws.Bool(false)
			in.Metrics = []types.MetricDataQuery{exprQuery("e", "SUM(REMOVE_EMPTY([m1]) + METRICS('other'))"), m}
		}))
		f.value("m", 9)
		time.Sleep(time.Minute)
		f.alarm(metricAlarm("sound", func(in *api.PutMetricAlarmInput) { in.TreatMissingData = aws.String("breaching") }))
		time.Sleep(time.Minute)
		f.want("mismatch", alarm.InsufficientData)
		f.want("sound", alarm.Alarm)
	})
}

func TestDefaultPhasesSpreadOverTheMinute(t *testing.T) {
	tenths := map[time.Duration]bool{}
	for i := range 200 {
		arn := alarm.ARN(region, account, fmt.Sprint("alarm-", i))
		p := hashedPhase(arn)
		if p != hashedPhase(arn) || p < 0 || p >= time.Minute {
			t.Fatalf("phase %v of %s", p, arn)
		}
		tenths[p/(6*time.Second)] = true
	}
	if len(tenths) != 10 {
		t.Errorf("200 alarms use %d tenths of a minute", len(tenths))
	}
}

// BenchmarkEvaluation is one evaluation of an alarm on a metric with a day of
// samples every 20 s.
func BenchmarkEvaluation(b *testing.B) {
	fill := func(in *api.PutMetricAlarmInput) {
		in.Namespace, in.MetricName, in.Statistic, in.Period = nil, nil, "", nil
		m := statQuery("m1", "m", "SampleCount")
		m.ReturnData = aws.Bool(false)
		in.Metrics = []types.MetricDataQuery{exprQuery("e", "FILL(m1, 0)"), m}
	}
	for _, c := range []struct {
		name  string
		alarm func(*api.PutMetricAlarmInput)
	}{
		{"Maximum", func(*api.PutMetricAlarmInput) {}},
		{"p90", func(in *api.PutMetricAlarmInput) { in.Statistic, in.ExtendedStatistic = "", aws.String("p90") }},
		{"FILL", fill},
	} {
		b.Run(c.name, func(b *testing.B) {
			cw := New(world.New(clock.System()))
			f := &fixture{CloudWatch: cw, t: b}
			f.alarm(metricAlarm("a", c.alarm))
			now := f.w.Clock.Now()
			for i := range 24 * 60 * 3 {
				f.PutMetric(region, account, world.Datum{Namespace: space, Name: "m", Time: now.Add(-time.Duration(i) * 20 * time.Second), Value: float64(i % 5), HighRes: true})
			}
			r := cw.tenant(region, account).alarms["a"]
			b.ReportAllocs()
			for b.Loop() {
				cw.evaluate(r, now, now)
			}
		})
	}
}

// TestThousandsOfAlarmsForHours must not take long.
func TestThousandsOfAlarmsForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.phase = hashedPhase
		const n = 500
		for i := range n {
			f.alarm(metricAlarm(fmt.Sprintf("a%03d", i), func(in *api.PutMetricAlarmInput) {
				in.MetricName, in.TreatMissingData = aws.String(fmt.Sprint("m", i)), aws.String("breaching")
			}))
		}
		for range 120 {
			for i := range n {
				f.PutMetric(region, account, world.Datum{Namespace: space, Name: fmt.Sprint("m", i), Value: 1})
			}
			time.Sleep(time.Minute)
		}
		for _, name := range []string{"a000", "a499"} {
			f.want(name, alarm.OK)
			if got := f.historyOf(name, "StateUpdate"); len(got) > 2 || !strings.HasSuffix(got[len(got)-1], "to OK") {
				t.Errorf("%s: history %q", name, got)
			}
		}
	})
}
