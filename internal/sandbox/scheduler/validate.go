package scheduler

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/schedule"
)

// The forms of identifiers.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
var (
	namePattern  = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	tokenPattern = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,64}$`)
	rolePattern  = regexp.MustCompile(`^arn:aws:iam::\d{12}:role/[\w+=,.@/-]+$`)
)

const (
	maxDescription = 512
	maxWindow      = 1440 // minutes
	// oldestStart is how long ago a start may be. The service says so in its
	// error; its reference does not.
	oldestStart = 5 * time.Minute
)

func unsatisfied(member string, value *string, constraint string) error {
	if value == nil {
		return invalid("1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null", member)
	}
	return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy %s", *value, member, constraint)
}

func checkName(member string, name *string) error {
	if name == nil || !namePattern.MatchString(*name) {
		return unsatisfied(member, name, "regular expression pattern: ^[0-9a-zA-Z-_.]+$")
	}
	return nil
}

func checkToken(token *string) error {
	if token != nil && !tokenPattern.MatchString(*token) {
		return unsatisfied("clientToken", token, "regular expression pattern: ^[a-zA-Z0-9-_]+$")
	}
	return nil
}

// plan is what the settings of a schedule mean.
type plan struct {
	expression schedule.Expression
	zone       *time.Location
	window     time.Duration // flexible
	retry      delivery.Retry
}

// read checks the settings of a schedule, and fills in what they leave to the
// service.
func read(in *api.CreateScheduleInput, now time.Time) (p plan, err error) {
	if err := checkName("name", in.Name); err != nil {
		return p, err
	}
	if err := checkToken(in.ClientToken); err != nil {
		return p, err
	}
	if in.State == "" {
		in.State = types.ScheduleStateEnabled
	}
	if in.ActionAfterCompletion == "" {
		in.ActionAfterCompletion = types.ActionAfterCompletionNone
	}
	if in.ScheduleExpressionTimezone == nil {
		in.ScheduleExpressionTimezone = aws.String("UTC")
	}
	if p.expression, err = schedule.Parse(aws.ToString(in.ScheduleExpression)); err != nil {
		return p, invalid("Invalid Schedule Expression %s.", aws.ToString(in.ScheduleExpression))
	}
	if p.zone, err = schedule.Zone(*in.ScheduleExpressionTimezone); err != nil {
		return p, invalid("Provided ScheduleExpressionTimezone %s is invalid.", *in.ScheduleExpressionTimezone)
	}
	switch {
	case in.State != types.ScheduleStateEnabled && in.State != types.ScheduleStateDisabled:
		return p, unsatisfied("state", (*string)(&in.State), "enum value set: [ENABLED, DISABLED]")
	case in.ActionAfterCompletion != types.ActionAfterCompletionNone && in.ActionAfterCompletion != types.ActionAfterCompletionDelete:
		return p, unsatisfied("actionAfterCompletion", (*string)(&in.ActionAfterCompletion), "enum value set: [NONE, DELETE]")
	case len(aws.ToString(in.Description)) > maxDescription:
		return p, unsatisfied("description", in.Description, "a length of at most 512")
	case in.StartDate != nil && in.StartDate.Before(now.Add(-oldestStart)):
		return p, invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")
	case in.EndDate != nil && !in.EndDate.After(now):
		return p, invalid("The EndDate you specify must be in the future.")
	case in.EndDate != nil && in.StartDate != nil && !in.EndDate.After(*in.StartDate):
		return p, invalid("The EndDate you specify must come after the StartDate.")
	}
	if p.window, err = readWindow(in.FlexibleTimeWindow); err != nil {
		return p, err
	}
	p.retry, err = readTarget(in.Target)
	return p, err
}

func readWindow(w *types.FlexibleTimeWindow) (time.Duration, error) {
	if w == nil {
		return 0, unsatisfied("flexibleTimeWindow", nil, "")
	}
	switch {
	case w.Mode == types.FlexibleTimeWindowModeOff && w.MaximumWindowInMinutes == nil:
		return 0, nil
	case w.Mode == types.FlexibleTimeWindowModeOff:
		return 0, invalid("MaximumWindowInMinutes cannot be set when FlexibleTimeWindow is OFF.")
	case w.Mode != types.FlexibleTimeWindowModeFlexible:
		return 0, unsatisfied("flexibleTimeWindow.mode", (*string)(&w.Mode), "enum value set: [OFF, FLEXIBLE]")
	case w.MaximumWindowInMinutes == nil || *w.MaximumWindowInMinutes < 1 || *w.MaximumWindowInMinutes > maxWindow:
		return 0, invalid("MaximumWindowInMinutes must be between 1 and %d when FlexibleTimeWindow is FLEXIBLE.", maxWindow)
	}
	return time.Duration(*w.MaximumWindowInMinutes) * time.Minute, nil
}

func readTarget(t *types.Target) (delivery.Retry, error) {
	if t == nil {
		return delivery.Retry{}, unsatisfied("target", nil, "")
	}
	if t.RetryPolicy == nil {
		t.RetryPolicy = &types.RetryPolicy{}
	}
	retry, err := delivery.NewRetry(t.RetryPolicy.MaximumRetryAttempts, t.RetryPolicy.MaximumEventAgeInSeconds)
	switch {
	case err != nil:
		return retry, invalid("%v", err)
	case !delivery.Reachable(aws.ToString(t.Arn)):
		return retry, invalid("Provided Arn %q is not supported: the sandbox invokes Lambda functions, standard SQS queues and standard SNS topics.", aws.ToString(t.Arn))
	case t.RoleArn == nil || !rolePattern.MatchString(*t.RoleArn):
		return retry, unsatisfied("target.roleArn", t.RoleArn, "regular expression pattern: ^arn:aws:iam::\\d{12}:role\\/[\\w+=,.@\\/-]+$")
	case t.Input != nil && *t.Input == "":
		return retry, unsatisfied("target.input", t.Input, "a length of at least 1")
	case t.Input != nil && delivery.Function(*t.Arn) && !json.Valid([]byte(*t.Input)):
		return retry, invalid("Invalid JSON input for target %s.", *t.Arn)
	case t.DeadLetterConfig != nil && t.DeadLetterConfig.Arn != nil && !delivery.Queue(*t.DeadLetterConfig.Arn):
		return retry, invalid("The dead-letter queue %s is not a standard SQS queue.", *t.DeadLetterConfig.Arn)
	case t.EcsParameters != nil || t.EventBridgeParameters != nil || t.KinesisParameters != nil || t.SageMakerPipelineParameters != nil || t.SqsParameters != nil:
		return retry, invalid("The parameters given do not apply to target %s.", *t.Arn)
	}
	attempts, age := int32(retry.Attempts), int32(retry.Age.Seconds())
	t.RetryPolicy.MaximumRetryAttempts, t.RetryPolicy.MaximumEventAgeInSeconds = &attempts, &age
	return retry, nil
}
