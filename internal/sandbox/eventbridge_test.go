package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	sqsapi "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

// watched is a sandbox with a function watch, which remembers its events, and
// a queue q.
type watched struct {
	cfg           aws.Config
	function, url string
	queue         string

	mu   sync.Mutex
	seen []string
}

func watch(t *testing.T, queuePolicy string) *watched {
	t.Helper()
	w := &watched{}
	s := start(t, sandbox.Options{Functions: map[string]lambda.Handler{
		"watch": func(_ context.Context, c lambda.Call) ([]byte, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, string(c.Event))
			return []byte("{}"), nil
		},
	}})
	w.cfg = s.Config("eu-central-1")
	arn := role(t, w.cfg, "watch", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}`)
	f := must[*lambdaapi.CreateFunctionOutput](t)(lambdaapi.NewFromConfig(w.cfg).CreateFunction(t.Context(), &lambdaapi.CreateFunctionInput{FunctionName: aws.String("watch"), Role: &arn,
		Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("watch"), Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}}))
	w.function, w.queue = *f.FunctionArn, strings.Replace(*f.FunctionArn, ":lambda:", ":sqs:", 1)
	w.queue = strings.TrimSuffix(w.queue, "function:watch") + "q"
	attributes := map[string]string{}
	if queuePolicy != "" {
		attributes["Policy"] = queuePolicy
	}
	q := must[*sqsapi.CreateQueueOutput](t)(sqsapi.NewFromConfig(w.cfg).CreateQueue(t.Context(), &sqsapi.CreateQueueInput{QueueName: aws.String("q"), Attributes: attributes}))
	w.url = *q.QueueUrl
	time.Sleep(time.Minute) // the function becomes active
	return w
}

func (w *watched) events() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

func (w *watched) messages(t *testing.T) (bodies []string) {
	t.Helper()
	synctest.Wait()
	o := must[*sqsapi.ReceiveMessageOutput](t)(sqsapi.NewFromConfig(w.cfg).ReceiveMessage(t.Context(), &sqsapi.ReceiveMessageInput{QueueUrl: &w.url, MaxNumberOfMessages: 10}))
	for _, m := range o.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

// TestSchedulesActWithTheirRole: a schedule invokes a function without a
// resource policy if its role may; else its event is in the dead-letter queue.
func TestSchedulesActWithTheirRole(t *testing.T) { synctest.Test(t, testSchedulesActWithTheirRole) }

func testSchedulesActWithTheirRole(t *testing.T) {
	ctx := t.Context()
	w := watch(t, "")
	roles, schedules := iamapi.NewFromConfig(w.cfg), scheduler.NewFromConfig(w.cfg)
	withPolicy := func(name, service, action, resource string) *string {
		doc := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sts:AssumeRole"}]}`
		r := must[*iamapi.CreateRoleOutput](t)(roles.CreateRole(ctx, &iamapi.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &doc}))
		must[*iamapi.PutRolePolicyOutput](t)(roles.PutRolePolicy(ctx, &iamapi.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("p"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"` + resource + `"}]}`)}))
		return r.Role.Arn
	}
	create := func(name string, roleARN *string) error {
		_, err := schedules.CreateSchedule(ctx, &scheduler.CreateScheduleInput{Name: &name, ScheduleExpression: aws.String("rate(5 minutes)"), FlexibleTimeWindow: &schedulertypes.FlexibleTimeWindow{Mode: "OFF"},
			Target: &schedulertypes.Target{Arn: &w.function, RoleArn: roleARN, Input: aws.String(`{"by":"` + name + `"}`), DeadLetterConfig: &schedulertypes.DeadLetterConfig{Arn: &w.queue}}})
		return err
	}
	if err := create("untrusted", withPolicy("untrusted", "lambda.amazonaws.com", "*", "*")); err == nil {
		t.Error("a role that does not trust the scheduler is accepted")
	}
	for _, err := range []error{
		create("may", withPolicy("may", "scheduler.amazonaws.com", "lambda:InvokeFunction", w.function)),
		create("may-not", withPolicy("may-not", "scheduler.amazonaws.com", "sqs:SendMessage", w.queue)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(6 * time.Minute)
	if got := fmt.Sprint(w.events()); got != `[{"by":"may"} {"by":"may"}]` {
		t.Errorf("the function received %s", got)
	}
	if got := fmt.Sprint(w.messages(t)); got != `[{"by":"may-not"} {"by":"may-not"}]` {
		t.Errorf("the dead-letter queue received %s", got)
	}
}

// TestServicesReachRules: an alarm's change of state invokes a function that
// permits the rule, an instance's change reaches a queue that permits it.
func TestServicesReachRules(t *testing.T) { synctest.Test(t, testServicesReachRules) }

func testServicesReachRules(t *testing.T) {
	ctx := t.Context()
	w := watch(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*","Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:events:*:*:rule/instances"}}}]}`)
	bus := eventbridge.NewFromConfig(w.cfg)
	for name, rule := range map[string]struct{ pattern, target string }{
		"alarms":    {`{"source":["aws.cloudwatch"],"detail":{"state":{"value":["ALARM"]}}}`, w.function},
		"instances": {`{"source":["aws.ec2"],"detail":{"state":["running"]}}`, w.queue},
		"refused":   {`{"source":["aws.ec2"]}`, w.queue},
	} {
		r := must[*eventbridge.PutRuleOutput](t)(bus.PutRule(ctx, &eventbridge.PutRuleInput{Name: &name, EventPattern: &rule.pattern}))
		must[*eventbridge.PutTargetsOutput](t)(bus.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &name, Targets: []ebtypes.Target{{Id: aws.String("1"), Arn: &rule.target}}}))
		if name == "alarms" {
			must[*lambdaapi.AddPermissionOutput](t)(lambdaapi.NewFromConfig(w.cfg).AddPermission(ctx, &lambdaapi.AddPermissionInput{FunctionName: &w.function, StatementId: aws.String("rule"),
				Action: aws.String("lambda:InvokeFunction"), Principal: aws.String("events.amazonaws.com"), SourceArn: r.RuleArn}))
		}
	}
	alarms := cloudwatch.NewFromConfig(w.cfg)
	must[*cloudwatch.PutMetricAlarmOutput](t)(alarms.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("hang"), Namespace: aws.String("N"), MetricName: aws.String("m"), Statistic: "Maximum",
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1), ComparisonOperator: "GreaterThanThreshold", ActionsEnabled: aws.Bool(false)}))
	for _, state := range []cwtypes.StateValue{"OK", "ALARM"} {
		must[*cloudwatch.SetAlarmStateOutput](t)(alarms.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{AlarmName: aws.String("hang"), StateValue: state, StateReason: aws.String("test")}))
	}
	network := ec2.NewFromConfig(w.cfg)
	vpc := must[*ec2.CreateVpcOutput](t)(network.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}))
	subnet := must[*ec2.CreateSubnetOutput](t)(network.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.0.0.0/24")}))
	must[*ec2.RunInstancesOutput](t)(network.RunInstances(ctx, &ec2.RunInstancesInput{ImageId: aws.String("ami-0123456789abcdef0"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: subnet.Subnet.SubnetId}))
	time.Sleep(time.Minute)
	if got := w.events(); len(got) != 1 || !strings.Contains(got[0], `"CloudWatch Alarm State Change"`) || !strings.Contains(got[0], `"hang"`) {
		t.Errorf("the function received %q", got)
	}
	if got := w.messages(t); len(got) != 1 || !strings.Contains(got[0], `"state":"running"`) {
		t.Errorf("the queue received %q", got)
	}
}

// TestTagsOfRulesAndGroupsDecide: conditions see the tags of rules and groups.
func TestTagsOfRulesAndGroupsDecide(t *testing.T) { synctest.Test(t, testTagsOfRulesAndGroupsDecide) }

func testTagsOfRulesAndGroupsDecide(t *testing.T) {
	ctx := t.Context()
	s := start(t, sandbox.Options{})
	cfg := s.Config("eu-central-1")
	arn := role(t, cfg, "tagged", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["events:DescribeRule","scheduler:GetScheduleGroup"],"Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"db"}}}]}`)
	session := must[*sts.AssumeRoleOutput](t)(sts.NewFromConfig(cfg).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: &arn, RoleSessionName: aws.String("tagged")}))
	as := s.Config("eu-central-1")
	as.Credentials = credentials.NewStaticCredentialsProvider(*session.Credentials.AccessKeyId, *session.Credentials.SecretAccessKey, *session.Credentials.SessionToken)
	for team, allowed := range map[string]bool{"db": true, "web": false} {
		must[*eventbridge.PutRuleOutput](t)(eventbridge.NewFromConfig(cfg).PutRule(ctx, &eventbridge.PutRuleInput{Name: &team, EventPattern: aws.String(`{"source":["x"]}`), Tags: []ebtypes.Tag{{Key: aws.String("team"), Value: &team}}}))
		if _, err := eventbridge.NewFromConfig(as).DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &team}); (err == nil) != allowed {
			t.Errorf("DescribeRule of team %s: %v", team, err)
		}
		must[*scheduler.CreateScheduleGroupOutput](t)(scheduler.NewFromConfig(cfg).CreateScheduleGroup(ctx, &scheduler.CreateScheduleGroupInput{Name: &team, Tags: []schedulertypes.Tag{{Key: aws.String("team"), Value: &team}}}))
		if _, err := scheduler.NewFromConfig(as).GetScheduleGroup(ctx, &scheduler.GetScheduleGroupInput{Name: &team}); (err == nil) != allowed {
			t.Errorf("GetScheduleGroup of team %s: %v", team, err)
		}
	}
}
