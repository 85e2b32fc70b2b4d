package provider

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type scheduleModel struct {
	ID              types.String `tfsdk:"id"`
	ARN             types.String `tfsdk:"arn"`
	Name            types.String `tfsdk:"name"`
	FunctionARN     types.String `tfsdk:"function_arn"`
	RateMinutes     types.Int64  `tfsdk:"rate_minutes"`
	Enabled         types.Bool   `tfsdk:"enabled"`
	MaximumEventAge types.Int64  `tfsdk:"maximum_event_age_seconds"`
	MaximumRetries  types.Int64  `tfsdk:"maximum_retry_attempts"`
	RoleARN         types.String `tfsdk:"role_arn"`
	Policy          types.String `tfsdk:"policy"`
}

// assumeByScheduler is the trust policy of an execution role. Without the
// account, the Scheduler of another one could be made to use the role:
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
func assumeByScheduler(account string) policy {
	return document(statement{
		Effect: "Allow", Principal: map[string]string{"Service": "scheduler.amazonaws.com"}, Action: []string{"sts:AssumeRole"},
		Condition: map[string]map[string][]string{"StringEquals": {"aws:SourceAccount": {account}}},
	})
}

func schedulePolicy(functionARN string) policy {
	return document(allow("Invoke", []string{functionARN}, "lambda:InvokeFunction"))
}

func (m scheduleModel) policyText() types.String {
	if m.FunctionARN.IsUnknown() {
		return types.StringUnknown()
	}
	return types.StringValue(schedulePolicy(m.FunctionARN.ValueString()).String())
}

// ownRoleName differs from the name of a function, which has a role of its own.
func (m scheduleModel) ownRoleName() string { return m.Name.ValueString() + ownScheduleRole }

func (m scheduleModel) ownRole() bool {
	return isRole(m.RoleARN, m.ownRoleName())
}

func (m scheduleModel) expand() *scheduler.CreateScheduleInput {
	state := schedulertypes.ScheduleStateDisabled
	if m.Enabled.ValueBool() {
		state = schedulertypes.ScheduleStateEnabled
	}
	return &scheduler.CreateScheduleInput{
		Name: goString(m.Name), Description: aws.String("Invokes a function of hadr"), State: state,
		ScheduleExpression: aws.String(rate(m.RateMinutes.ValueInt64())),
		FlexibleTimeWindow: &schedulertypes.FlexibleTimeWindow{Mode: schedulertypes.FlexibleTimeWindowModeOff},
		Target: &schedulertypes.Target{
			Arn: goString(m.FunctionARN), RoleArn: goString(m.RoleARN),
			RetryPolicy: &schedulertypes.RetryPolicy{
				MaximumEventAgeInSeconds: goInt32(m.MaximumEventAge), MaximumRetryAttempts: goInt32(m.MaximumRetries),
			},
		},
	}
}

func (m *scheduleModel) flatten(s *scheduler.GetScheduleOutput) {
	m.ID, m.Name, m.ARN = tfString(s.Name), tfString(s.Name), tfString(s.Arn)
	m.Enabled = types.BoolValue(s.State == schedulertypes.ScheduleStateEnabled)
	m.RateMinutes = types.Int64Null()
	if n, ok := plainRate(s); ok {
		m.RateMinutes = types.Int64Value(n)
	}
	m.FunctionARN, m.RoleARN = types.StringNull(), types.StringNull()
	m.MaximumEventAge, m.MaximumRetries = types.Int64Null(), types.Int64Null()
	t := s.Target
	if t == nil {
		return
	}
	m.FunctionARN, m.RoleARN = tfString(t.Arn), tfString(t.RoleArn)
	if t.RetryPolicy != nil {
		m.MaximumEventAge, m.MaximumRetries = tfInt(t.RetryPolicy.MaximumEventAgeInSeconds), tfInt(t.RetryPolicy.MaximumRetryAttempts)
	}
}

// rate is an expression of the Scheduler, which is particular about the plural:
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#rate-based
func rate(minutes int64) string {
	if minutes == 1 {
		return "rate(1 minute)"
	}
	return fmt.Sprintf("rate(%d minutes)", minutes)
}

var rateOfMinutes = regexp.MustCompile(`^rate\((\d+) minutes?\)$`)

// plainRate is the number of minutes of a schedule that comes every so many
// minutes and nothing else: without a window, a start or an end.
func plainRate(s *scheduler.GetScheduleOutput) (int64, bool) {
	found := rateOfMinutes.FindStringSubmatch(aws.ToString(s.ScheduleExpression))
	flexible := s.FlexibleTimeWindow != nil && s.FlexibleTimeWindow.Mode == schedulertypes.FlexibleTimeWindowModeFlexible
	if found == nil || flexible || s.StartDate != nil || s.EndDate != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	return n, err == nil
}
