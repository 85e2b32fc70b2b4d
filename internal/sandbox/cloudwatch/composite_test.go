package cloudwatch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// family has the metric alarms a, b and c.
func family(t *testing.T) *fixture {
	f := start(t)
	for _, name := range []string{"a", "b", "c"} {
		f.alarm(metricAlarm(name, func(in *api.PutMetricAlarmInput) { in.TreatMissingData = aws.String("ignore") }))
	}
	return f
}

func TestCompositeAlarmFollowsItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		f.set("a", "ALARM")
		arn := *f.describe("a").AlarmArn
		for i, c := range []struct {
			rule string
			want alarm.State
		}{
			{`ALARM("a") AND INSUFFICIENT_DATA("b")`, alarm.Alarm},
			{`ALARM("` + arn + `") AND NOT (OK("b") OR ALARM("b"))`, alarm.Alarm},
			{`ALARM("a") AND (OK("b") OR ALARM("b"))`, alarm.OK},
			{`NOT ALARM(a)`, alarm.OK},
			{`AT_LEAST(2, ALARM, (a, b, c))`, alarm.OK},
			{`TRUE`, alarm.Alarm},
			{`FALSE`, alarm.OK},
		} {
			name := fmt.Sprint("rule-", i)
			f.compose(name, c.rule)
			f.wantComposite(name, c.want)
		}
		f.set("c", "ALARM")
		f.wantComposite("rule-4", alarm.Alarm)
	})
}

func TestOneTransitionForTwoChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		f.compose("or", "ALARM(a) OR ALARM(b)", func(in *api.PutCompositeAlarmInput) { in.AlarmActions = []string{topic} })
		f.compose("outer", "ALARM(or)")
		created := f.composite("or")
		if !strings.HasSuffix(*created.StateReason, ":alarm:or was created and its alarm rule evaluates to OK") {
			t.Errorf("first reason %q", *created.StateReason)
		}
		f.set("a", "ALARM")
		first := f.composite("or")
		var d struct{ TriggeringAlarms []struct{ Arn string } }
		if err := json.Unmarshal([]byte(*first.StateReasonData), &d); err != nil || len(d.TriggeringAlarms) != 1 || !strings.HasSuffix(d.TriggeringAlarms[0].Arn, ":alarm:a") {
			t.Errorf("reason data %s (%v)", *first.StateReasonData, err)
		}
		f.wantComposite("outer", alarm.Alarm)
		f.set("b", "ALARM")
		if now := f.composite("or"); *now.StateReason != *first.StateReason {
			t.Errorf("the second child changed the reason to %q", *now.StateReason)
		}
		f.set("a", "OK")
		f.wantComposite("or", alarm.Alarm)
		f.set("b", "OK")
		f.wantComposite("or", alarm.OK)
		f.wantComposite("outer", alarm.OK)
		synctest.Wait()
		if got := len(f.targets.deliveries()); got != 1 {
			t.Errorf("%d notifications", got)
		}
		want := "[Alarm updated from INSUFFICIENT_DATA to OK Alarm updated from OK to ALARM Alarm updated from ALARM to OK]"
		if got := fmt.Sprint(f.historyOf("or", "StateUpdate")); got != want {
			t.Errorf("history %s, want %s", got, want)
		}
	})
}

func TestASetCompositeStateSticksUntilAChildChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		f.compose("x", "ALARM(a)")
		f.set("x", "ALARM")
		time.Sleep(time.Hour)
		f.wantComposite("x", alarm.Alarm)
		f.set("a", "OK")
		f.wantComposite("x", alarm.OK)
	})
}

func TestPutCompositeAlarmValidation(t *testing.T) {
	type input = api.PutCompositeAlarmInput
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		for _, c := range []struct {
			name, rule string
			spoil      func(*input)
			ok         bool
		}{
			{"sound", "ALARM(a)", nil, true},
			{"unknown child", "ALARM(nobody)", nil, false},
			{"syntax error", `ALARM("a") AND AND`, nil, false},
			{"itself", "ALARM(x)", nil, false},
			{"another account", "ALARM(arn:aws:cloudwatch:eu-central-1:999999999999:alarm:a)", nil, false},
			{"another Region", "ALARM(arn:aws:cloudwatch:us-east-1:123456789012:alarm:a)", nil, false},
			{"suppressor without periods", "ALARM(a)", func(in *input) { in.ActionsSuppressor = aws.String("b") }, false},
			{"periods without suppressor", "ALARM(a)", func(in *input) { in.ActionsSuppressorWaitPeriod = aws.Int32(1) }, false},
			{"unknown suppressor", "ALARM(a)", suppressedBy("nobody", 1, 1), false},
			{"suppressing itself", "ALARM(a)", suppressedBy("x", 1, 1), false},
			{"suppressor", "ALARM(a)", suppressedBy("b", 1, 1), true},
			{"an EC2 action", "ALARM(a)", func(in *input) { in.AlarmActions = []string{"arn:aws:automate:eu-central-1:ec2:stop"} }, false},
		} {
			in := &input{AlarmName: aws.String("x"), AlarmRule: &c.rule}
			if c.spoil != nil {
				c.spoil(in)
			}
			if _, err := f.putCompositeAlarm(request, in); (err == nil) != c.ok {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if _, err := f.putCompositeAlarm(request, &input{AlarmName: aws.String("a"), AlarmRule: aws.String("TRUE")}); err == nil {
			t.Error("a metric alarm became a composite alarm")
		}
	})
}

func suppressedBy(name string, wait, extension int32) func(*api.PutCompositeAlarmInput) {
	return func(in *api.PutCompositeAlarmInput) {
		in.ActionsSuppressor, in.ActionsSuppressorWaitPeriod, in.ActionsSuppressorExtensionPeriod = &name, &wait, &extension
	}
}

func TestDeletingChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		f.compose("x", "ALARM(a)", suppressedBy("b", 1, 1))
		remove := func(names ...string) string {
			_, err := f.deleteAlarms(request, &api.DeleteAlarmsInput{AlarmNames: names})
			return code(err)
		}
		for _, c := range []struct {
			what  string
			names []string
			want  string
		}{
			{"a child", []string{"a"}, "ValidationError"},
			{"a suppressor", []string{"b"}, "ValidationError"},
			{"a composite alarm among others", []string{"x", "c"}, "ValidationError"},
			{"an unknown alarm", []string{"c", "nobody"}, "ResourceNotFound"},
			{"the composite alarm", []string{"x"}, ""},
			{"then its child and suppressor, and c, which is still there", []string{"a", "b", "c"}, ""},
		} {
			if got := remove(c.names...); got != c.want {
				t.Errorf("delete %s: %q, want %q", c.what, got, c.want)
			}
		}
	})
}

// TestCycle: a composite alarm that depends on itself is neither evaluated nor
// deleted until a rule is set to FALSE.
func TestCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family(t)
		f.compose("x", "ALARM(a)")
		f.compose("y", "ALARM(x)")
		f.compose("x", "ALARM(a) OR ALARM(y)")
		f.set("a", "ALARM")
		f.wantComposite("x", alarm.OK)
		if _, err := f.deleteAlarms(request, &api.DeleteAlarmsInput{AlarmNames: []string{"y"}}); code(err) != "ValidationError" {
			t.Errorf("deleted in a cycle: %v", err)
		}
		f.compose("y", "FALSE")
		f.set("a", "OK")
		f.set("a", "ALARM")
		f.wantComposite("x", alarm.Alarm)
	})
}

func TestActionSuppression(t *testing.T) {
	type step struct {
		alarm string
		state types.StateValue
		after time.Duration
	}
	for _, c := range []struct {
		name  string
		steps []step
		by    types.ActionsSuppressedBy // after the last step
		want  string                    // actions: state at seconds
	}{
		{"a quiet suppressor: after the wait period", []step{{"a", "ALARM", 2 * time.Second}}, "WaitPeriod", "[ALARM at 4]"},
		{"the suppressor comes within the wait", []step{{"a", "ALARM", 2 * time.Second}, {"b", "ALARM", time.Second}}, "Alarm", "[]"},
		{"back within the wait", []step{{"a", "ALARM", 2 * time.Second}, {"a", "OK", time.Second}}, "WaitPeriod", "[OK at 5]"},
		{"suppressed all the time", []step{{"b", "ALARM", 0}, {"a", "ALARM", 2 * time.Second}}, "Alarm", "[]"},
		{"after the extension period", []step{{"a", "ALARM", 2 * time.Second}, {"b", "ALARM", time.Second}, {"b", "OK", 3 * time.Second}}, "ExtensionPeriod", "[ALARM at 9]"},
		{"back within the extension", []step{{"a", "ALARM", 2 * time.Second}, {"b", "ALARM", time.Second}, {"b", "OK", 3 * time.Second}, {"a", "OK", time.Second}}, "WaitPeriod", "[OK at 9]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := family(t)
				f.set("b", "OK")
				f.compose("x", "ALARM(a)", suppressedBy("b", 2, 3), func(in *api.PutCompositeAlarmInput) {
					in.AlarmActions, in.OKActions = []string{function}, []string{function}
				})
				time.Sleep(time.Minute) // the first change, to OK, waits too
				f.targets.got, f.targets.call = nil, nil
				began := f.w.Clock.Now()
				for _, s := range c.steps {
					time.Sleep(s.after)
					f.set(s.alarm, s.state)
				}
				x := f.composite("x")
				if x.ActionsSuppressedBy != c.by || aws.ToString(x.ActionsSuppressedReason) != "Actions suppressed by "+string(c.by) {
					t.Errorf("suppressed by %q (%s), want %q", x.ActionsSuppressedBy, aws.ToString(x.ActionsSuppressedReason), c.by)
				}
				time.Sleep(time.Minute)
				got := []string{}
				for i, d := range f.targets.deliveries() {
					e, err := alarm.ParseEvent(d.body)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%s at %.0f", e.New.State, f.targets.call[i].Sub(began).Seconds()))
					if e.New.SuppressedBy != alarm.NotSuppressed || e.Old.SuppressedBy != alarm.SuppressedBy(c.by) || e.Old.State != e.New.State {
						t.Errorf("event about the end of suppression: %+v", e)
					}
				}
				if fmt.Sprint(got) != c.want {
					t.Errorf("actions %v, want %s", got, c.want)
				}
			})
		})
	}
}
