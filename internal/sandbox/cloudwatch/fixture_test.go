package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	region  = "eu-central-1"
	account = world.DefaultAccount
	space   = "HADR"
)

// request is a call of the account itself.
var request = &wire.Request{Context: context.Background(), Region: region, Account: account}

// targets records what actions deliver.
type targets struct {
	clock clock.Clock
	fail  func(target string) error // nil: everything is accepted

	mu   sync.Mutex
	got  []delivery
	call []time.Time // every attempt
}

type delivery struct {
	target, subject, principal, source string
	body                               []byte
}

func (f *targets) InvokeAsync(arn string, payload []byte, principal, source, owner string) error {
	if owner != account {
		return fmt.Errorf("source account %s", owner)
	}
	return f.take(delivery{target: arn, body: payload, principal: principal, source: source})
}

func (f *targets) Deliver(arn, subject string, body []byte) error {
	return f.take(delivery{target: arn, subject: subject, body: body})
}

func (f *targets) take(d delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.call = append(f.call, f.clock.Now())
	if f.fail != nil {
		if err := f.fail(d.target); err != nil {
			return err
		}
	}
	f.got = append(f.got, d)
	return nil
}

func (f *targets) deliveries() []delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// fixture is a CloudWatch whose alarms are evaluated 30 s after the minute.
type fixture struct {
	*CloudWatch
	t       testing.TB
	targets *targets
}

func start(t testing.TB, options ...Option) *fixture {
	t.Helper()
	w := world.New(clock.System())
	f := &targets{clock: w.Clock}
	w.Functions, w.Messages = f, f
	phase := WithPhase(func(string) time.Duration { return 30 * time.Second })
	c := New(w, append([]Option{phase}, options...)...)
	c.Start()
	t.Cleanup(c.Close)
	return &fixture{c, t, f}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// code returns the code of an API error, "" if there is none.
func code(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func dims(pairs ...string) (out []types.Dimension) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, types.Dimension{Name: aws.String(pairs[i]), Value: aws.String(pairs[i+1])})
	}
	return out
}

func (f *fixture) put(data ...types.MetricDatum) {
	f.t.Helper()
	must[*api.PutMetricDataOutput](f.t)(f.putMetricData(request, &api.PutMetricDataInput{Namespace: aws.String(space), MetricData: data}))
}

// value publishes v now, in high resolution.
func (f *fixture) value(name string, v float64) {
	f.t.Helper()
	f.put(types.MetricDatum{MetricName: &name, Value: &v, StorageResolution: aws.Int32(1)})
}

// metricAlarm is Maximum > 5 on the metric m, one period of a minute.
func metricAlarm(name string, change ...func(*api.PutMetricAlarmInput)) *api.PutMetricAlarmInput {
	in := &api.PutMetricAlarmInput{
		AlarmName: aws.String(name), Namespace: aws.String(space), MetricName: aws.String("m"), Statistic: types.StatisticMaximum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(5), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
	}
	for _, c := range change {
		c(in)
	}
	return in
}

func (f *fixture) alarm(in *api.PutMetricAlarmInput) {
	f.t.Helper()
	must[*api.PutMetricAlarmOutput](f.t)(f.putMetricAlarm(request, in))
}

func (f *fixture) compose(name, rule string, change ...func(*api.PutCompositeAlarmInput)) {
	f.t.Helper()
	in := &api.PutCompositeAlarmInput{AlarmName: &name, AlarmRule: &rule}
	for _, c := range change {
		c(in)
	}
	must[*api.PutCompositeAlarmOutput](f.t)(f.putCompositeAlarm(request, in))
}

func (f *fixture) set(name string, state types.StateValue) {
	f.t.Helper()
	must[*api.SetAlarmStateOutput](f.t)(f.setAlarmState(request, &api.SetAlarmStateInput{AlarmName: &name, StateValue: state, StateReason: aws.String("by test")}))
}

func (f *fixture) describe(name string) types.MetricAlarm {
	f.t.Helper()
	o := must[*api.DescribeAlarmsOutput](f.t)(f.describeAlarms(request, &api.DescribeAlarmsInput{AlarmNames: []string{name}}))
	if len(o.MetricAlarms) != 1 {
		f.t.Fatalf("%d metric alarms %s", len(o.MetricAlarms), name)
	}
	return o.MetricAlarms[0]
}

func (f *fixture) composite(name string) types.CompositeAlarm {
	f.t.Helper()
	o := must[*api.DescribeAlarmsOutput](f.t)(f.describeAlarms(request, &api.DescribeAlarmsInput{AlarmNames: []string{name}, AlarmTypes: []types.AlarmType{"CompositeAlarm"}}))
	if len(o.CompositeAlarms) != 1 {
		f.t.Fatalf("%d composite alarms %s", len(o.CompositeAlarms), name)
	}
	return o.CompositeAlarms[0]
}

// want checks the state of a metric alarm.
func (f *fixture) want(name string, state alarm.State) {
	f.t.Helper()
	if got := f.describe(name); string(got.StateValue) != string(state) {
		f.t.Errorf("%s: alarm %s is %s (%s), want %s", f.w.Clock.Now().Format(time.TimeOnly), name, got.StateValue, aws.ToString(got.StateReason), state)
	}
}

// wantComposite checks the state of a composite alarm.
func (f *fixture) wantComposite(name string, state alarm.State) {
	f.t.Helper()
	if got := f.composite(name); string(got.StateValue) != string(state) {
		f.t.Errorf("composite alarm %s is %s (%s), want %s", name, got.StateValue, aws.ToString(got.StateReason), state)
	}
}

func (f *fixture) historyOf(name string, item types.HistoryItemType) (out []string) {
	f.t.Helper()
	o := must[*api.DescribeAlarmHistoryOutput](f.t)(f.describeAlarmHistory(request, &api.DescribeAlarmHistoryInput{
		AlarmName: &name, HistoryItemType: item, ScanBy: types.ScanByTimestampAscending, AlarmTypes: []types.AlarmType{"MetricAlarm", "CompositeAlarm"},
	}))
	for _, h := range o.AlarmHistoryItems {
		out = append(out, aws.ToString(h.HistorySummary))
	}
	return out
}

// stranger is a call of another account.
var stranger = &wire.Request{Context: context.Background(), Region: region, Account: "999999999999"}
