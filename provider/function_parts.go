package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// alarmsPrincipal is who CloudWatch is for Lambda when an alarm acts:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
const alarmsPrincipal = "lambda.alarms.cloudwatch.amazonaws.com"

// functionParts are the calls for a function and what belongs to it. Each puts
// a part into the wanted state, whether it is there or not.
type functionParts struct{ *clients }

// putLogGroup reports whether it has made the log group.
func (p functionParts) putLogGroup(ctx context.Context, name string, days int64, tags map[string]string) (made bool, err error) {
	_, err = p.logs.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &name, Tags: tags})
	if err != nil && !hasCode(err, "ResourceAlreadyExistsException") {
		return false, err
	}
	made = err == nil
	_, err = p.logs.PutRetentionPolicy(ctx, &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: &name, RetentionInDays: aws.Int32(int32(days))}) //nolint:gosec // one of retentions
	return made, err
}

func (p functionParts) retention(ctx context.Context, name string) (types.Int64, error) {
	out, err := p.logs.DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: &name})
	if err != nil {
		return types.Int64Null(), err
	}
	for _, g := range out.LogGroups {
		if aws.ToString(g.LogGroupName) == name {
			return tfInt(g.RetentionInDays), nil
		}
	}
	return types.Int64Null(), nil
}

func (p functionParts) deleteLogGroup(ctx context.Context, name string) error {
	_, err := p.logs.DeleteLogGroup(ctx, &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: &name})
	if notFound(err) {
		return nil
	}
	return err
}

func (p functionParts) role(name string) ownRole {
	return ownRole{p.clients, name, ownPolicyName, assumeByLambda(), "Execution role of the function " + name + " of hadr"}
}

// create retries while a new role is not known to Lambda yet.
func (p functionParts) create(ctx context.Context, in *lambda.CreateFunctionInput) (*lambda.CreateFunctionOutput, error) {
	var out *lambda.CreateFunctionOutput
	err := p.eventually(ctx, func() (err error) {
		out, err = p.lambda.CreateFunction(ctx, in)
		return err
	}, roleUnknown)
	return out, err
}

func (p functionParts) active(ctx context.Context, name string) error {
	return lambda.NewFunctionActiveV2Waiter(p.lambda, func(o *lambda.FunctionActiveV2WaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
	}).Wait(ctx, &lambda.GetFunctionInput{FunctionName: &name}, functionTimeout)
}

// roleUnknown is the answer while Lambda, or KMS on its behalf, does not know a
// new role yet. KMS encrypts the environment:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars-encryption.html
func roleUnknown(err error) bool {
	return refusedFor(err, "cannot be assumed", "KMS key is invalid for CreateGrant")
}

// destinationUnknown is the answer while Lambda does not know a new topic or
// queue yet, or that the role may send there.
func destinationUnknown(err error) bool {
	return refusedFor(err, "destination ARN", "does not have permissions")
}

func refusedFor(err error, reasons ...string) bool {
	return hasCode(err, "InvalidParameterValueException") &&
		slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(err.Error(), reason) })
}

// configure waits for a change that somebody else has made: Lambda refuses another
// one meanwhile (https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html).
func (p functionParts) configure(ctx context.Context, in *lambda.UpdateFunctionConfigurationInput) error {
	if err := p.updated(ctx, *in.FunctionName); err != nil {
		return err
	}
	return p.eventually(ctx, func() error {
		_, err := p.lambda.UpdateFunctionConfiguration(ctx, in)
		return err
	}, roleUnknown)
}

func (p functionParts) putCode(ctx context.Context, name string, code functionCode, arch []lambdatypes.Architecture) error {
	_, err := p.lambda.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: &name, ZipFile: code.Zip, Architectures: arch})
	if err != nil {
		return err
	}
	return p.updated(ctx, name)
}

func (p functionParts) updated(ctx context.Context, name string) error {
	return lambda.NewFunctionUpdatedV2Waiter(p.lambda, func(o *lambda.FunctionUpdatedV2WaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
	}).Wait(ctx, &lambda.GetFunctionInput{FunctionName: &name}, functionTimeout)
}

func (p functionParts) putInvocation(ctx context.Context, m functionModel) error {
	return p.eventually(ctx, func() error {
		_, err := p.lambda.PutFunctionEventInvokeConfig(ctx, m.invocation())
		return err
	}, destinationUnknown)
}

type invocation struct {
	age, retries types.Int64
	destination  types.String
}

func (p functionParts) invocation(ctx context.Context, name string) (invocation, error) {
	none := invocation{types.Int64Null(), types.Int64Null(), types.StringNull()}
	out, err := p.lambda.GetFunctionEventInvokeConfig(ctx, &lambda.GetFunctionEventInvokeConfigInput{FunctionName: &name})
	if notFound(err) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	i := invocation{age: tfInt(out.MaximumEventAgeInSeconds), retries: tfInt(out.MaximumRetryAttempts), destination: types.StringNull()}
	if d := out.DestinationConfig; d != nil && d.OnFailure != nil {
		i.destination = tfString(d.OnFailure.Destination)
	}
	return i, nil
}

// setInvokers gives exactly the wanted alarms the right to invoke.
func (p functionParts) setInvokers(ctx context.Context, id identity, function string, have, want []string) error {
	for _, name := range have {
		if slices.Contains(want, name) {
			continue
		}
		_, err := p.lambda.RemovePermission(ctx, &lambda.RemovePermissionInput{FunctionName: &function, StatementId: aws.String(statementID(name))})
		if err != nil && !notFound(err) {
			return err
		}
	}
	for _, name := range want {
		if slices.Contains(have, name) {
			continue
		}
		_, err := p.lambda.AddPermission(ctx, &lambda.AddPermissionInput{
			FunctionName: &function, StatementId: aws.String(statementID(name)),
			Action: lambdaInvoke, Principal: aws.String(alarmsPrincipal),
			SourceAccount: &id.Account, SourceArn: aws.String(alarmARN(p.clients, id, name)),
		})
		if err != nil && !hasCode(err, "ResourceConflictException") {
			return err
		}
	}
	return nil
}

// statementID is stable for an alarm and fits Lambda's pattern, which alarm
// names need not: ([a-zA-Z0-9-_]+), at most 100 characters.
func statementID(alarm string) string {
	sum := sha256.Sum256([]byte(alarm))
	return "alarm-" + hex.EncodeToString(sum[:8])
}

// invokers are the names of the alarms that may invoke, as the function's
// policy says.
func (p functionParts) invokers(ctx context.Context, function string) ([]string, error) {
	out, err := p.lambda.GetPolicy(ctx, &lambda.GetPolicyInput{FunctionName: &function})
	if notFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseInvokers(aws.ToString(out.Policy))
}

func parseInvokers(text string) ([]string, error) {
	var doc struct {
		Statement []struct {
			Sid       string
			Principal struct{ Service string }
			Condition map[string]map[string]string
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	var names []string
	for _, s := range doc.Statement {
		if s.Principal.Service != alarmsPrincipal {
			continue
		}
		for _, operator := range s.Condition {
			for key, value := range operator {
				a, err := awsarn.Parse(value)
				if !strings.EqualFold(key, "aws:SourceArn") || err != nil {
					continue
				}
				if name, ok := isAlarm(a.Resource); ok && s.Sid == statementID(name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

func (p functionParts) retag(ctx context.Context, arn string, set map[string]string, remove []string) error {
	if len(set) > 0 {
		if _, err := p.lambda.TagResource(ctx, &lambda.TagResourceInput{Resource: &arn, Tags: set}); err != nil {
			return err
		}
	}
	if len(remove) > 0 {
		_, err := p.lambda.UntagResource(ctx, &lambda.UntagResourceInput{Resource: &arn, TagKeys: remove})
		return err
	}
	return nil
}
