package cloudwatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func acting(in *api.PutMetricAlarmInput) {
	in.AlarmDescription, in.Dimensions = aws.String("about"), dims("Node", "a")
	in.AlarmActions, in.OKActions = []string{function}, []string{okTopic}
}

func TestLambdaAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", acting))
		f.set("a", "ALARM")
		synctest.Wait()
		got := f.targets.deliveries()
		if len(got) != 1 {
			t.Fatalf("%d deliveries", len(got))
		}
		arn := "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:a"
		if d := got[0]; d.target != function || d.principal != "lambda.alarms.cloudwatch.amazonaws.com" || d.source != arn {
			t.Errorf("target %s, principal %s, source %s", d.target, d.principal, d.source)
		}
		e, err := alarm.ParseEvent(got[0].body)
		if err != nil {
			t.Fatal(err)
		}
		id := e.Metrics[0].ID
		if id == "" {
			t.Error("the metric has no id")
		}
		now := f.w.Clock.Now()
		want := alarm.Event{
			Delivery: alarm.ByLambda, Alarm: alarm.Identity{Name: "a", ARN: arn, Account: account, Region: region},
			New: alarm.Condition{State: alarm.Alarm, Reason: "by test", At: now},
			Old: alarm.Condition{State: alarm.InsufficientData, Reason: alarm.CreationReason, At: now},
			Metrics: []alarm.Query{{ID: id, ReturnData: true, Stat: &alarm.QueryStat{
				Metric: alarm.QueryMetric{Namespace: space, Name: "m", Dimensions: map[string]string{"Node": "a"}}, Period: 60, Stat: "Maximum",
			}}},
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		if got := f.historyOf("a", "Action"); fmt.Sprint(got) != "[Successfully executed action "+function+"]" {
			t.Errorf("history %q", got)
		}
	})
}

func TestNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", acting, func(in *api.PutMetricAlarmInput) { in.Statistic = "SampleCount" }))
		f.set("a", "OK")
		synctest.Wait()
		got := f.targets.deliveries()
		if len(got) != 1 || got[0].target != okTopic {
			t.Fatalf("deliveries %v", got)
		}
		if want := `OK: "a" in EU (Frankfurt)`; got[0].subject != want {
			t.Errorf("subject %q, want %q", got[0].subject, want)
		}
		var m map[string]any
		if err := json.Unmarshal(got[0].body, &m); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"AlarmName": "a", "AlarmDescription": "about", "AWSAccountId": account, "NewStateValue": "OK", "NewStateReason": "by test", "OldStateValue": "INSUFFICIENT_DATA",
			"StateChangeTime": "2000-01-01T00:00:00.000+0000", "AlarmConfigurationUpdatedTimestamp": "2000-01-01T00:00:00.000+0000",
			"Region": "EU (Frankfurt)", "AlarmArn": "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:a",
			"OKActions": []any{okTopic}, "AlarmActions": []any{function}, "InsufficientDataActions": []any{},
			"Trigger": map[string]any{
				"MetricName": "m", "Namespace": space, "StatisticType": "Statistic", "Statistic": "SAMPLE_COUNT", "Dimensions": []any{map[string]any{"name": "Node", "value": "a"}},
				"Period": 60.0, "EvaluationPeriods": 1.0, "ComparisonOperator": "GreaterThanThreshold", "Threshold": 5.0, "TreatMissingData": "missing", "EvaluateLowSampleCountPercentile": "",
			},
		}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	})
}

func TestActionsRunOnTheirStateOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", acting))
		for _, state := range []types.StateValue{"ALARM", "OK", "INSUFFICIENT_DATA"} {
			f.set("a", state)
			synctest.Wait()
		}
		var got []string
		for _, d := range f.targets.deliveries() {
			got = append(got, d.target)
		}
		if diff := cmp.Diff([]string{function, okTopic}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestDisabledActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", acting))
		must[*api.DisableAlarmActionsOutput](t)(f.disableAlarmActions(request, &api.DisableAlarmActionsInput{AlarmNames: []string{"a", "nobody"}}))
		f.set("a", "ALARM")
		synctest.Wait()
		must[*api.EnableAlarmActionsOutput](t)(f.enableAlarmActions(request, &api.EnableAlarmActionsInput{AlarmNames: []string{"a"}}))
		synctest.Wait()
		if got := f.targets.deliveries(); len(got) != 0 {
			t.Errorf("%d deliveries: neither while disabled nor on enabling", len(got))
		}
		f.want("a", alarm.Alarm)
		f.set("a", "OK")
		synctest.Wait()
		if got := f.targets.deliveries(); len(got) != 1 {
			t.Errorf("%d deliveries after enabling", len(got))
		}
	})
}

// TestActionIsRetriedUntilAccepted: a busy target is tried again, a missing or
// forbidden one is not.
func TestActionIsRetriedUntilAccepted(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		failures int
		attempts int
		history  string
	}{
		{"accepted", nil, 0, 1, "Successfully executed"},
		{"throttled three times", wire.Errorf("TooManyRequestsException", "slow down").WithStatus(429), 3, 4, "Successfully executed"},
		{"broken twice", wire.Errorf("ServiceException", "oops").WithStatus(500), 2, 3, "Successfully executed"},
		{"no such function", wire.Errorf("ResourceNotFoundException", "no function").WithStatus(404), 99, 1, "Failed to execute"},
		{"no permission", wire.Errorf("AccessDeniedException", "denied").WithStatus(403), 99, 1, "Failed to execute"},
		{"refused otherwise", errors.New("no such target"), 99, 1, "Failed to execute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				left := c.failures
				f.targets.fail = func(string) error {
					if left--; left >= 0 {
						return c.err
					}
					return nil
				}
				f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) {
					in.AlarmActions, in.TreatMissingData = []string{function}, aws.String("ignore")
				}))
				f.set("a", "ALARM")
				time.Sleep(time.Hour)
				if got := len(f.targets.call); got != c.attempts {
					t.Errorf("%d attempts, want %d", got, c.attempts)
				}
				got := f.historyOf("a", "Action")
				if len(got) != 1 || !strings.HasPrefix(got[0], c.history) {
					t.Errorf("history %q, want %q", got, c.history)
				}
			})
		})
	}
}

func TestCloseEndsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.targets.fail = func(string) error { return wire.Errorf("ServiceException", "down").WithStatus(503) }
		f.alarm(metricAlarm("a", acting))
		f.set("a", "ALARM")
		time.Sleep(time.Minute)
		f.Close()
		f.set("a", "OK") // no action after Close
		if got := f.targets.deliveries(); len(got) != 0 {
			t.Errorf("%d deliveries", len(got))
		}
	})
}
