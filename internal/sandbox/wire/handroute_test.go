package wire_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// TestRoutesWithoutSchemas: the EventBridge Scheduler's client has no schemas,
// so that labels, query and body are declared by hand.
func TestRoutesWithoutSchemas(t *testing.T) {
	svc := &wire.Service{Name: "scheduler", Default: wire.RestJSON}
	var created *scheduler.CreateScheduleInput
	var deleted *scheduler.DeleteScheduleInput
	var listed *scheduler.ListSchedulesInput
	var untagged *scheduler.UntagResourceInput
	at := time.Date(2026, 11, 29, 3, 0, 0, 500e6, time.UTC)
	wire.HandleRoute(svc, "CreateSchedule", wire.Route{Method: "POST", Path: "/schedules/{Name}"}, func(_ *wire.Request, in *scheduler.CreateScheduleInput) (*scheduler.CreateScheduleOutput, error) {
		created = in
		return &scheduler.CreateScheduleOutput{ScheduleArn: aws.String("arn:" + *in.Name)}, nil
	})
	wire.HandleRoute(svc, "GetSchedule", wire.Route{Method: "GET", Path: "/schedules/{Name}", Query: map[string]string{"groupName": "GroupName"}}, func(_ *wire.Request, in *scheduler.GetScheduleInput) (*scheduler.GetScheduleOutput, error) {
		if aws.ToString(in.GroupName) != "g" {
			return nil, wire.Errorf("ResourceNotFoundException", "no %s", nasty).WithStatus(404)
		}
		return &scheduler.GetScheduleOutput{Name: in.Name, CreationDate: &at, State: types.ScheduleStateEnabled, Target: &types.Target{Arn: aws.String("a"), RoleArn: aws.String("r"), Input: aws.String(nasty)}}, nil
	})
	wire.HandleRoute(svc, "DeleteSchedule", wire.Route{Method: "DELETE", Path: "/schedules/{Name}", Query: map[string]string{"groupName": "GroupName", "clientToken": "ClientToken"}}, func(_ *wire.Request, in *scheduler.DeleteScheduleInput) (*scheduler.DeleteScheduleOutput, error) {
		deleted = in
		return nil, nil
	})
	wire.HandleRoute(svc, "ListSchedules", wire.Route{Method: "GET", Path: "/schedules", Query: map[string]string{"ScheduleGroup": "GroupName", "MaxResults": "MaxResults", "State": "State"}}, func(_ *wire.Request, in *scheduler.ListSchedulesInput) (*scheduler.ListSchedulesOutput, error) {
		listed = in
		return &scheduler.ListSchedulesOutput{Schedules: []types.ScheduleSummary{{Name: aws.String("s"), LastModificationDate: &at}}}, nil
	})
	wire.HandleRoute(svc, "UntagResource", wire.Route{Method: "DELETE", Path: "/tags/{ResourceArn}", Query: map[string]string{"TagKeys": "TagKeys"}}, func(_ *wire.Request, in *scheduler.UntagResourceInput) (*scheduler.UntagResourceOutput, error) {
		untagged = in
		return nil, nil
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := scheduler.NewFromConfig(cfg)

	cin := &scheduler.CreateScheduleInput{
		Name: aws.String("s.1"), ScheduleExpression: aws.String("rate(1 minute)"), StartDate: &at, State: types.ScheduleStateDisabled, ClientToken: aws.String("t"),
		FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeFlexible, MaximumWindowInMinutes: aws.Int32(5)},
		Target:             &types.Target{Arn: aws.String("a"), RoleArn: aws.String("r"), Input: aws.String(nasty), RetryPolicy: &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(0)}},
	}
	cout := must[*scheduler.CreateScheduleOutput](t)(c.CreateSchedule(ctx, cin))
	if diff := cmp.Diff(cin, created, ignoreSDK()); diff != "" {
		t.Errorf("CreateSchedule input (-sent +received):\n%s", diff)
	}
	if *cout.ScheduleArn != "arn:s.1" {
		t.Errorf("ScheduleArn is %q", *cout.ScheduleArn)
	}

	got := must[*scheduler.GetScheduleOutput](t)(c.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String("s.1"), GroupName: aws.String("g")}))
	if *got.Name != "s.1" || !got.CreationDate.Equal(at) || got.State != "ENABLED" || *got.Target.Input != nasty || got.Description != nil {
		t.Errorf("GetSchedule output is %+v", got)
	}
	_, err := c.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String("s.1")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) || missing.ErrorMessage() != "no "+nasty {
		t.Errorf("GetSchedule = %v, want ResourceNotFoundException with its message", err)
	}

	din := &scheduler.DeleteScheduleInput{Name: aws.String("s"), GroupName: aws.String("g&="), ClientToken: aws.String("t")}
	must[*scheduler.DeleteScheduleOutput](t)(c.DeleteSchedule(ctx, din))
	if diff := cmp.Diff(din, deleted, ignoreSDK()); diff != "" {
		t.Errorf("DeleteSchedule input (-sent +received):\n%s", diff)
	}
	lin := &scheduler.ListSchedulesInput{GroupName: aws.String("g"), MaxResults: aws.Int32(7), State: types.ScheduleStateEnabled}
	lout := must[*scheduler.ListSchedulesOutput](t)(c.ListSchedules(ctx, lin))
	if diff := cmp.Diff(lin, listed, ignoreSDK()); diff != "" {
		t.Errorf("ListSchedules input (-sent +received):\n%s", diff)
	}
	if len(lout.Schedules) != 1 || !lout.Schedules[0].LastModificationDate.Equal(at) {
		t.Errorf("ListSchedules output is %+v", lout.Schedules)
	}
	uin := &scheduler.UntagResourceInput{ResourceArn: aws.String("arn:aws:scheduler:r:1:schedule-group/g"), TagKeys: []string{"x", "y,z"}}
	must[*scheduler.UntagResourceOutput](t)(c.UntagResource(ctx, uin))
	if diff := cmp.Diff(uin, untagged, ignoreSDK()); diff != "" {
		t.Errorf("UntagResource input (-sent +received):\n%s", diff)
	}
	_, err = c.GetScheduleGroup(ctx, &scheduler.GetScheduleGroupInput{Name: aws.String("g")})
	wantCode(t, err, "UnknownOperationException")
}
