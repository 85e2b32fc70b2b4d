package evidence_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var _ control.Alarms = (*evidence.Alarms)(nil)

const prefix = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:"

// alarms answers with pages, as CloudWatch does.
type alarms struct {
	pages []*cloudwatch.DescribeAlarmsOutput
	calls []*cloudwatch.DescribeAlarmsInput
	err   error
}

func (a *alarms) DescribeAlarms(_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	clone := *in
	a.calls = append(a.calls, &clone)
	if a.err != nil {
		return nil, a.err
	}
	if len(a.pages) == 0 {
		return &cloudwatch.DescribeAlarmsOutput{}, nil
	}
	page := a.pages[0]
	a.pages = a.pages[1:]
	return page, nil
}

func metricAlarm(arn, name string, state types.StateValue, at time.Time) types.MetricAlarm {
	return types.MetricAlarm{AlarmArn: &arn, AlarmName: &name, StateValue: state, StateReason: aws.String("Threshold Crossed"), StateUpdatedTimestamp: &at}
}

func TestAlarmsEvidence(t *testing.T) {
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	api := &alarms{pages: []*cloudwatch.DescribeAlarmsOutput{
		{
			MetricAlarms: []types.MetricAlarm{
				metricAlarm(prefix+"a:latency", "a:latency", types.StateValueAlarm, at),
				metricAlarm(prefix+"a-count", "a-count", types.StateValueInsufficientData, at),
				metricAlarm("arn:aws:cloudwatch:eu-central-1:999999999999:alarm:a-cpu", "a-cpu", types.StateValueAlarm, at),
			},
			NextToken: aws.String("more"),
		},
		{CompositeAlarms: []types.CompositeAlarm{{
			AlarmArn: aws.String(prefix + "a-failed"), AlarmName: aws.String("a-failed"), StateValue: types.StateValueAlarm,
			StateReason: aws.String("child"), StateUpdatedTimestamp: aws.Time(at.Add(time.Second)),
		}}},
	}}
	got, err := evidence.NewAlarms(api).Evidence(t.Context(), []string{prefix + "a:latency", prefix + "a-count", prefix + "a-cpu", prefix + "a-failed"})
	if err != nil {
		t.Fatal(err)
	}
	want := []failover.Evidence{
		{Signal: failover.SignalAlarm, Source: prefix + "a:latency", At: at, Detail: "alarm a:latency: Threshold Crossed"},
		{Signal: failover.SignalAlarm, Source: prefix + "a-failed", At: at.Add(time.Second), Detail: "alarm a-failed: child"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	if names := api.calls[0].AlarmNames; names[0] != "a:latency" {
		t.Errorf("a name with a colon was asked for as %q", names[0])
	}
	if len(api.calls[0].AlarmTypes) != 2 {
		t.Error("composite alarms were not asked for")
	}
}

func TestAlarmsAsksForAHundredNamesAtATime(t *testing.T) {
	var arns []string
	for i := range 150 {
		arns = append(arns, fmt.Sprintf("%salarm-%d", prefix, i))
	}
	api := &alarms{}
	if _, err := evidence.NewAlarms(api).Evidence(t.Context(), arns); err != nil {
		t.Fatal(err)
	}
	if len(api.calls) != 2 || len(api.calls[0].AlarmNames) != 100 || len(api.calls[1].AlarmNames) != 50 {
		t.Errorf("%d calls", len(api.calls))
	}
}

func TestAlarmsErrors(t *testing.T) {
	boom := errors.New("boom")
	if _, err := evidence.NewAlarms(&alarms{err: boom}).Evidence(t.Context(), []string{prefix + "x"}); !errors.Is(err, boom) {
		t.Errorf("error of CloudWatch: %v", err)
	}
	for _, bad := range []string{"", "x", "arn:aws:sns:eu-central-1:123456789012:alarm:x", prefix} {
		if _, err := evidence.NewAlarms(&alarms{}).Evidence(t.Context(), []string{bad}); err == nil {
			t.Errorf("%q was taken for an alarm", bad)
		}
	}
}
