package scheduler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// The clock of these tests starts at 2000-01-01 00:00:00 UTC, a Saturday.
func TestTimesOfInvocations(t *testing.T) {
	at := func(d time.Duration) *time.Time { return aws.Time(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d)) }
	for _, tc := range []struct {
		name, expression string
		change           func(*api.CreateScheduleInput)
		want             string // in the first ten minutes
	}{
		{"a rate begins at once", "rate(3 minutes)", nil, "[0s 3m0s 6m0s 9m0s]"},
		{"a rate begins at its start", "rate(3 minutes)", func(in *api.CreateScheduleInput) { in.StartDate = at(2 * time.Minute) }, "[2m0s 5m0s 8m0s]"},
		{"a rate goes on with a start that has been", "rate(3 minutes)", func(in *api.CreateScheduleInput) { in.StartDate = at(-4 * time.Minute) }, "[2m0s 5m0s 8m0s]"},
		{"the end is not reached", "rate(3 minutes)", func(in *api.CreateScheduleInput) { in.EndDate = at(6 * time.Minute) }, "[0s 3m0s]"},
		{"cron", "cron(2/5 * * * ? *)", nil, "[2m0s 7m0s]"},
		{"cron between start and end", "cron(2/5 * * * ? *)", func(in *api.CreateScheduleInput) { in.StartDate, in.EndDate = at(3*time.Minute), at(9*time.Minute) }, "[7m0s]"},
		{"cron at its start", "cron(2/5 * * * ? *)", func(in *api.CreateScheduleInput) { in.StartDate = at(7 * time.Minute) }, "[7m0s]"},
		{"cron in a zone", "cron(5 5 * * ? *)", func(in *api.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Asia/Karachi") }, "[5m0s]"},
		{"once", "at(2000-01-01T00:04:30)", nil, "[4m30s]"},
		{"once in a zone", "at(2000-01-01T01:04:30)", func(in *api.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Europe/Berlin") }, "[4m30s]"},
		{"once, whatever start and end", "at(2000-01-01T00:04:30)", func(in *api.CreateScheduleInput) { in.StartDate, in.EndDate = at(5*time.Minute), at(6*time.Minute) }, "[4m30s]"},
		{"once, in the past", "at(1999-12-31T23:00:00)", nil, "[0s]"},
		{"disabled", "rate(1 minute)", func(in *api.CreateScheduleInput) { in.State = types.ScheduleStateDisabled }, "[]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run(t, func(l *landscape) {
				var change []func(*api.CreateScheduleInput)
				if tc.change != nil {
					change = append(change, tc.change)
				}
				l.create("s", tc.expression, change...)
				time.Sleep(10*time.Minute + time.Second)
				if got := l.when(); got != tc.want {
					t.Errorf("invoked at %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestFlexibleWindow(t *testing.T) {
	run(t, func(l *landscape) {
		for n := range 20 {
			l.create(fmt.Sprint("s", n), "at(2000-01-01T01:00:00)", func(in *api.CreateScheduleInput) {
				in.FlexibleTimeWindow = &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeFlexible, MaximumWindowInMinutes: aws.Int32(15)}
			})
		}
		time.Sleep(2 * time.Hour)
		different := map[time.Duration]bool{}
		for _, a := range l.arrivals() {
			if a.after < time.Hour || a.after >= 75*time.Minute {
				t.Errorf("invoked after %s, outside of the window", a.after)
			}
			different[a.after] = true
		}
		if len(different) < 15 {
			t.Errorf("%d different times, want most of 20", len(different))
		}
	})
}

func TestWhatTargetsReceive(t *testing.T) {
	run(t, func(l *landscape) {
		l.create("plain", "at(2000-01-01T00:01:00)")
		l.create("text", "at(2000-01-01T00:02:00)", func(in *api.CreateScheduleInput) {
			in.Target.Arn = aws.String(queue)
			in.Target.Input = aws.String("<aws.scheduler.schedule-arn> at <aws.scheduler.scheduled-time>, attempt <aws.scheduler.attempt-number>, not <b>")
		})
		time.Sleep(time.Hour)
		got := l.arrivals()
		if len(got) != 2 {
			t.Fatalf("%d arrivals", len(got))
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(got[0].body), &e); err != nil {
			t.Fatal(err)
		}
		if got[0].target != function || e["source"] != "aws.scheduler" || e["detail-type"] != "Scheduled Event" || e["time"] != "2000-01-01T00:01:00Z" || e["detail"] != "{}" || fmt.Sprint(e["resources"]) != "["+base+"schedule/default/plain]" {
			t.Errorf("event is %s", got[0].body)
		}
		if want := base + "schedule/default/text at 2000-01-01T00:02:00Z, attempt 1, not <b>"; got[1].target != queue || got[1].body != want {
			t.Errorf("%s received %q, want %q", got[1].target, got[1].body, want)
		}
	})
}

// TestPermissionsOfTheRole: it is the role that may invoke.
func TestPermissionsOfTheRole(t *testing.T) {
	for _, tc := range []struct{ forbid, want string }{
		{"", "[" + function + " " + queue + "]"},
		{"lambda:InvokeFunction on " + function, "[" + dead + " " + queue + "]"},
		{"sqs:SendMessage on " + queue, "[" + function + " " + dead + "]"},
	} {
		run(t, func(l *landscape) {
			l.forbid = tc.forbid
			toDead := func(in *api.CreateScheduleInput) {
				in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(dead)}
			}
			l.create("f", "at(2000-01-01T00:01:00)", toDead)
			l.create("q", "at(2000-01-01T00:02:00)", toDead, func(in *api.CreateScheduleInput) { in.Target.Arn = aws.String(queue) })
			time.Sleep(time.Hour)
			var targets []string
			for _, a := range l.arrivals() {
				targets = append(targets, a.target)
			}
			if got := fmt.Sprint(targets); got != tc.want {
				t.Errorf("with %q forbidden, events are at %s, want %s", tc.forbid, got, tc.want)
			}
		})
	}
}

func TestRetriesCountTheirAttempts(t *testing.T) {
	run(t, func(l *landscape) {
		var tries atomic.Int64
		l.refuse = func(string) error {
			if tries.Add(1) < 3 {
				return wire.Errorf("TooManyRequestsException", "busy").WithStatus(429)
			}
			return nil
		}
		l.create("s", "at(2000-01-01T00:01:00)", func(in *api.CreateScheduleInput) {
			in.Target.Input = aws.String(`"attempt <aws.scheduler.attempt-number> of <aws.scheduler.execution-id>"`)
		})
		time.Sleep(time.Hour)
		if got := l.arrivals(); len(got) != 1 || !strings.HasPrefix(got[0].body, `"attempt 3 of `) || strings.Contains(got[0].body, "<") {
			t.Errorf("arrivals are %v", got)
		}
		tries.Store(-1000)
		l.create("none", "at(2000-01-01T02:00:00)", func(in *api.CreateScheduleInput) {
			in.Target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(0)}
		})
		time.Sleep(3 * time.Hour)
		if n := tries.Load() + 1000; n != 1 {
			t.Errorf("%d attempts without retries, want 1", n)
		}
	})
}

// TestActionAfterCompletion: a schedule deletes itself after its last
// invocation, and not before.
func TestActionAfterCompletion(t *testing.T) {
	deleting := func(in *api.CreateScheduleInput) { in.ActionAfterCompletion = types.ActionAfterCompletionDelete }
	get := func(l *landscape, name string) string {
		_, err := l.GetSchedule(l.t.Context(), &api.GetScheduleInput{Name: &name})
		return code(err)
	}
	run(t, func(l *landscape) {
		l.create("once", "at(2000-01-01T00:05:00)", deleting)
		l.create("kept", "at(2000-01-01T00:05:00)")
		l.create("ends", "rate(3 minutes)", deleting, func(in *api.CreateScheduleInput) { in.EndDate = aws.Time(l.begun.Add(8 * time.Minute)) })
		time.Sleep(4 * time.Minute)
		for _, name := range []string{"once", "kept", "ends"} {
			if c := get(l, name); c != "" {
				t.Errorf("%s before its end: %s", name, c)
			}
		}
		time.Sleep(6 * time.Minute)
		for name, want := range map[string]string{"once": "ResourceNotFoundException", "kept": "", "ends": "ResourceNotFoundException"} {
			if c := get(l, name); c != want {
				t.Errorf("%s after its end: %q, want %q", name, c, want)
			}
		}
		if got := l.when(); got != "[0s 3m0s 5m0s 5m0s 6m0s]" {
			t.Errorf("invoked at %s", got)
		}
	})
}

// TestUpdateDuringTheLastInvocation: a schedule that was given another time
// meanwhile is not deleted.
func TestUpdateDuringTheLastInvocation(t *testing.T) {
	run(t, func(l *landscape) {
		l.refuse = func(string) error {
			if time.Since(l.begun) < 90*time.Second {
				return wire.Errorf("TooManyRequestsException", "busy").WithStatus(429)
			}
			return nil
		}
		once := func(at string) *api.CreateScheduleInput {
			return input("s", "at("+at+")", func(in *api.CreateScheduleInput) { in.ActionAfterCompletion = types.ActionAfterCompletionDelete })
		}
		must(l.CreateSchedule(l.t.Context(), once("2000-01-01T00:01:00")))
		time.Sleep(80 * time.Second)
		update := api.UpdateScheduleInput(*once("2000-01-01T01:00:00"))
		must(l.UpdateSchedule(l.t.Context(), &update))
		time.Sleep(2 * time.Hour)
		if got := l.when(); got != "[1m31s 1h0m0s]" {
			t.Errorf("invoked at %s", got)
		}
	})
}

// TestChangesTakeEffect: an update moves the next invocation, and a deletion
// removes it.
func TestChangesTakeEffect(t *testing.T) {
	run(t, func(l *landscape) {
		ctx := l.t.Context()
		l.create("s", "at(2000-01-01T01:00:00)")
		update := api.UpdateScheduleInput(*input("s", "at(2000-01-01T00:30:00)"))
		must(l.UpdateSchedule(ctx, &update))
		time.Sleep(2 * time.Hour)
		if got := l.when(); got != "[30m0s]" {
			t.Errorf("after the update, invoked at %s", got)
		}
		l.create("gone", "at(2000-01-01T03:00:00)")
		must(l.DeleteSchedule(ctx, &api.DeleteScheduleInput{Name: aws.String("gone")}))
		must(l.CreateScheduleGroup(ctx, &api.CreateScheduleGroupInput{Name: aws.String("g")}))
		l.create("grouped", "at(2000-01-01T03:00:00)", func(in *api.CreateScheduleInput) { in.GroupName = aws.String("g") })
		must(l.DeleteScheduleGroup(ctx, &api.DeleteScheduleGroupInput{Name: aws.String("g")}))
		time.Sleep(2 * time.Hour)
		if got := l.when(); got != "[]" {
			t.Errorf("deleted schedules were invoked at %s", got)
		}
	})
}

// TestCloseEndsRetries: what is under way does not outlive the sandbox.
func TestCloseEndsRetries(t *testing.T) {
	run(t, func(l *landscape) {
		l.refuse = func(string) error { return wire.Errorf("InternalFailure", "down").WithStatus(500) }
		l.create("s", "rate(1 minute)")
		time.Sleep(10 * time.Minute)
		l.service.Close()
		if len(l.arrivals()) != 0 {
			t.Error("a refused event arrived")
		}
	})
}
