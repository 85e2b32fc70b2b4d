package scheduler_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestScheduleIsReturnedAsItIs(t *testing.T) {
	run(t, func(l *landscape) {
		ctx := l.t.Context()
		must(l.CreateScheduleGroup(ctx, &api.CreateScheduleGroupInput{Name: aws.String("g")}))
		end := l.begun.Add(time.Hour)
		in := input("s", "cron(0 12 ? * MON *)", func(in *api.CreateScheduleInput) {
			in.GroupName, in.Description, in.ScheduleExpressionTimezone, in.EndDate = aws.String("g"), aws.String("d"), aws.String("Europe/Berlin"), &end
			in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(dead)}
			in.Target.Input = aws.String(`{"a":"<b>"}`)
		})
		if arn := *must(l.CreateSchedule(ctx, in)).ScheduleArn; arn != base+"schedule/g/s" {
			t.Errorf("ARN is %s", arn)
		}
		got := must(l.GetSchedule(ctx, &api.GetScheduleInput{Name: aws.String("s"), GroupName: aws.String("g")}))
		target := *in.Target
		target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(185), MaximumEventAgeInSeconds: aws.Int32(86400)}
		want := &api.GetScheduleOutput{
			Arn: aws.String(base + "schedule/g/s"), Name: in.Name, GroupName: in.GroupName, Description: in.Description, CreationDate: &l.begun, LastModificationDate: &l.begun,
			ScheduleExpression: in.ScheduleExpression, ScheduleExpressionTimezone: in.ScheduleExpressionTimezone, EndDate: &end, FlexibleTimeWindow: in.FlexibleTimeWindow,
			State: types.ScheduleStateEnabled, ActionAfterCompletion: types.ActionAfterCompletionNone, Target: &target,
		}
		ignore := cmpopts.IgnoreFields(api.GetScheduleOutput{}, "ResultMetadata")
		unexported := cmpopts.IgnoreUnexported(api.GetScheduleOutput{}, types.Target{}, types.RetryPolicy{}, types.FlexibleTimeWindow{}, types.DeadLetterConfig{})
		if diff := cmp.Diff(want, got, ignore, unexported); diff != "" {
			t.Errorf("schedule (-want +got):\n%s", diff)
		}

		time.Sleep(time.Minute)
		update := api.UpdateScheduleInput(*input("s", "rate(2 hours)", func(in *api.CreateScheduleInput) {
			in.GroupName, in.State = aws.String("g"), types.ScheduleStateDisabled
		}))
		must(l.UpdateSchedule(ctx, &update))
		got = must(l.GetSchedule(ctx, &api.GetScheduleInput{Name: aws.String("s"), GroupName: aws.String("g")}))
		if got.Description != nil || got.EndDate != nil || *got.ScheduleExpressionTimezone != "UTC" || got.State != "DISABLED" || !got.CreationDate.Equal(l.begun) || !got.LastModificationDate.Equal(l.begun.Add(time.Minute)) {
			t.Errorf("the update keeps settings: %+v", got)
		}
	})
}

func TestClientTokens(t *testing.T) {
	run(t, func(l *landscape) {
		ctx := l.t.Context()
		token := func(value string) func(*api.CreateScheduleInput) {
			return func(in *api.CreateScheduleInput) { in.ClientToken = &value }
		}
		for _, tc := range []struct {
			in   *api.CreateScheduleInput
			want string
		}{
			{input("s", "rate(1 hour)", token("t1")), ""},
			{input("s", "rate(1 hour)", token("t1")), ""}, // the same again
			{input("s", "rate(1 hour)", token("t2")), "ConflictException"},
			{input("s", "rate(2 hours)", token("t1")), "ConflictException"},
			{input("s", "rate(1 hour)"), "ConflictException"},
			{input("s2", "rate(1 hour)", token("t1")), ""},
		} {
			if _, err := l.CreateSchedule(ctx, tc.in); code(err) != tc.want {
				t.Errorf("%s %s: %v, want %q", *tc.in.Name, aws.ToString(tc.in.ClientToken), err, tc.want)
			}
		}
		must(l.CreateScheduleGroup(ctx, &api.CreateScheduleGroupInput{Name: aws.String("g"), ClientToken: aws.String("a")}))
		for value, want := range map[string]string{"a": "", "b": "ConflictException"} {
			if _, err := l.CreateScheduleGroup(ctx, &api.CreateScheduleGroupInput{Name: aws.String("g"), ClientToken: &value}); code(err) != want {
				t.Errorf("the group again with token %s: %v, want %q", value, err, want)
			}
		}
		// A repeated update does not move the schedule.
		update := api.UpdateScheduleInput(*input("s", "rate(3 hours)", token("u")))
		must(l.UpdateSchedule(ctx, &update))
		time.Sleep(time.Minute)
		again := api.UpdateScheduleInput(*input("s", "rate(3 hours)", token("u")))
		must(l.UpdateSchedule(ctx, &again))
		if got := must(l.GetSchedule(ctx, &api.GetScheduleInput{Name: aws.String("s")})); !got.LastModificationDate.Equal(l.begun) {
			t.Errorf("the same update counts again, at %s", got.LastModificationDate)
		}
	})
}

// TestCallsWithoutToken: the SDK always sends a token; without one, a call is
// never the same again.
func TestCallsWithoutToken(t *testing.T) {
	run(t, func(l *landscape) {
		body := `{"ScheduleExpression":"rate(1 hour)","FlexibleTimeWindow":{"Mode":"OFF"},"Target":{"Arn":"` + function + `","RoleArn":"` + role + `"}}`
		for _, want := range []int{http.StatusOK, http.StatusConflict} {
			r := must(http.NewRequestWithContext(l.t.Context(), http.MethodPost, "http://sandbox.invalid/schedules/s", strings.NewReader(body)))
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20000101/eu-west-1/scheduler/aws4_request, SignedHeaders=host, Signature=0")
			answer := must(l.http.Do(r))
			if err := answer.Body.Close(); err != nil || answer.StatusCode != want {
				t.Errorf("status is %d, want %d", answer.StatusCode, want)
			}
		}
	})
}

func TestRefusedSchedules(t *testing.T) {
	at := func(d time.Duration) *time.Time { return aws.Time(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d)) }
	type change = func(*api.CreateScheduleInput)
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"a name with a blank":     {func(in *api.CreateScheduleInput) { in.Name = aws.String("a b") }, "ValidationException"},
		"a name that is too long": {func(in *api.CreateScheduleInput) { in.Name = aws.String(strings.Repeat("x", 65)) }, "ValidationException"},
		"no expression at all":    {func(in *api.CreateScheduleInput) { in.ScheduleExpression = aws.String("sometimes") }, "ValidationException"},
		"an unknown zone":         {func(in *api.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Mars/Olympus") }, "ValidationException"},
		"an unknown state":        {func(in *api.CreateScheduleInput) { in.State = "PAUSED" }, "ValidationException"},
		"an unknown action":       {func(in *api.CreateScheduleInput) { in.ActionAfterCompletion = "ARCHIVE" }, "ValidationException"},
		"a long description":      {func(in *api.CreateScheduleInput) { in.Description = aws.String(strings.Repeat("x", 513)) }, "ValidationException"},
		"a token with a blank":    {func(in *api.CreateScheduleInput) { in.ClientToken = aws.String("a b") }, "ValidationException"},
		"a start long ago":        {func(in *api.CreateScheduleInput) { in.StartDate = at(-6 * time.Minute) }, "ValidationException"},
		"an end that has been":    {func(in *api.CreateScheduleInput) { in.EndDate = at(0) }, "ValidationException"},
		"an end before the start": {func(in *api.CreateScheduleInput) { in.StartDate, in.EndDate = at(2*time.Hour), at(time.Hour) }, "ValidationException"},
		"a window without width":  {func(in *api.CreateScheduleInput) { in.FlexibleTimeWindow.Mode = "FLEXIBLE" }, "ValidationException"},
		"a window of two days": {func(in *api.CreateScheduleInput) {
			in.FlexibleTimeWindow = &types.FlexibleTimeWindow{Mode: "FLEXIBLE", MaximumWindowInMinutes: aws.Int32(2880)}
		}, "ValidationException"},
		"a width without window":   {func(in *api.CreateScheduleInput) { in.FlexibleTimeWindow.MaximumWindowInMinutes = aws.Int32(5) }, "ValidationException"},
		"a window of another kind": {func(in *api.CreateScheduleInput) { in.FlexibleTimeWindow.Mode = "WIDE" }, "ValidationException"},
		"a target of another service": {func(in *api.CreateScheduleInput) {
			in.Target.Arn = aws.String("arn:aws:scheduler:::aws-sdk:ec2:stopInstances")
		}, "ValidationException"},
		"a role that is none":       {func(in *api.CreateScheduleInput) { in.Target.RoleArn = aws.String("run") }, "ValidationException"},
		"a role that trusts others": {func(in *api.CreateScheduleInput) { in.Target.RoleArn = aws.String(stranger) }, "ValidationException"},
		"an event that is no JSON":  {func(in *api.CreateScheduleInput) { in.Target.Input = aws.String("hello") }, "ValidationException"},
		"an empty input":            {func(in *api.CreateScheduleInput) { in.Target.Input = aws.String("") }, "ValidationException"},
		"too many retries": {func(in *api.CreateScheduleInput) {
			in.Target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(186)}
		}, "ValidationException"},
		"a dead-letter queue that is no": {func(in *api.CreateScheduleInput) {
			in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(function)}
		}, "ValidationException"},
		"parameters of another target": {func(in *api.CreateScheduleInput) {
			in.Target.SqsParameters = &types.SqsParameters{MessageGroupId: aws.String("g")}
		}, "ValidationException"},
		"a group that does not exist": {func(in *api.CreateScheduleInput) { in.GroupName = aws.String("none") }, "ResourceNotFoundException"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(l *landscape) {
				_, err := l.CreateSchedule(l.t.Context(), input("s", "rate(1 hour)", tc.change))
				if code(err) != tc.want {
					t.Errorf("%v, want %s", err, tc.want)
				}
				l.create("s", "rate(1 hour)", func(in *api.CreateScheduleInput) { in.State = types.ScheduleStateDisabled })
				update := api.UpdateScheduleInput(*input("s", "rate(1 hour)", tc.change))
				if _, err := l.UpdateSchedule(l.t.Context(), &update); code(err) != tc.want {
					t.Errorf("as an update: %v, want %s", err, tc.want)
				}
			})
		})
	}
}

func TestMissingResources(t *testing.T) {
	run(t, func(l *landscape) {
		ctx, none := l.t.Context(), aws.String("none")
		update := api.UpdateScheduleInput(*input("none", "rate(1 hour)"))
		for name, err := range map[string]error{
			"GetSchedule":         second(l.GetSchedule(ctx, &api.GetScheduleInput{Name: none})),
			"UpdateSchedule":      second(l.UpdateSchedule(ctx, &update)),
			"DeleteSchedule":      second(l.DeleteSchedule(ctx, &api.DeleteScheduleInput{Name: none})),
			"GetScheduleGroup":    second(l.GetScheduleGroup(ctx, &api.GetScheduleGroupInput{Name: none})),
			"DeleteScheduleGroup": second(l.DeleteScheduleGroup(ctx, &api.DeleteScheduleGroupInput{Name: none})),
			"ListSchedules":       second(l.ListSchedules(ctx, &api.ListSchedulesInput{GroupName: none})),
			"TagResource":         second(l.TagResource(ctx, &api.TagResourceInput{ResourceArn: aws.String(base + "schedule-group/none"), Tags: []types.Tag{{Key: none, Value: none}}})),
		} {
			if code(err) != "ResourceNotFoundException" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := l.DeleteScheduleGroup(ctx, &api.DeleteScheduleGroupInput{Name: aws.String("default")}); code(err) != "ValidationException" {
			t.Errorf("deleting the default group: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestListsAndTags(t *testing.T) {
	run(t, func(l *landscape) {
		ctx := l.t.Context()
		group := must(l.CreateScheduleGroup(ctx, &api.CreateScheduleGroupInput{Name: aws.String("g"), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}}}))
		for n := range 5 {
			l.create(fmt.Sprint("s", n), "rate(1 hour)", func(in *api.CreateScheduleInput) {
				if n == 4 {
					in.GroupName, in.State = aws.String("g"), types.ScheduleStateDisabled
				}
			})
		}
		list := func(in api.ListSchedulesInput) (names []string) {
			for p := api.NewListSchedulesPaginator(l.Client, &in); p.HasMorePages(); {
				for _, s := range must(p.NextPage(ctx)).Schedules {
					names = append(names, *s.Name)
				}
			}
			return names
		}
		for want, in := range map[string]api.ListSchedulesInput{
			"[s0 s1 s2 s3 s4]": {MaxResults: aws.Int32(2)},
			"[s4]":             {GroupName: aws.String("g")},
			"[s0 s1 s2 s3]":    {State: types.ScheduleStateEnabled},
			"[s3]":             {NamePrefix: aws.String("s3")},
		} {
			if got := fmt.Sprint(list(in)); got != want {
				t.Errorf("list is %s, want %s", got, want)
			}
		}
		if _, err := l.ListSchedules(ctx, &api.ListSchedulesInput{MaxResults: aws.Int32(101)}); code(err) != "ValidationException" {
			t.Errorf("a page of 101: %v", err)
		}
		if _, err := l.ListSchedules(ctx, &api.ListSchedulesInput{NextToken: aws.String("x")}); code(err) != "ValidationException" {
			t.Errorf("a token of nobody: %v", err)
		}
		groups := must(l.ListScheduleGroups(ctx, &api.ListScheduleGroupsInput{}))
		if len(groups.ScheduleGroups) != 2 || *groups.ScheduleGroups[0].Name != "default" || *groups.ScheduleGroups[1].Arn != *group.ScheduleGroupArn {
			t.Errorf("groups are %+v", groups.ScheduleGroups)
		}
		must(l.TagResource(ctx, &api.TagResourceInput{ResourceArn: group.ScheduleGroupArn, Tags: []types.Tag{{Key: aws.String("b"), Value: aws.String("2")}}}))
		must(l.UntagResource(ctx, &api.UntagResourceInput{ResourceArn: group.ScheduleGroupArn, TagKeys: []string{"a"}}))
		if tags := must(l.ListTagsForResource(ctx, &api.ListTagsForResourceInput{ResourceArn: group.ScheduleGroupArn})).Tags; len(tags) != 1 || *tags[0].Key != "b" || *tags[0].Value != "2" {
			t.Errorf("tags are %+v", tags)
		}
	})
}
