package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	snsapi "github.com/aws/aws-sdk-go-v2/service/sns"
	sqsapi "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// inject sets a fault, and ends the test if it is refused.
func inject(t *testing.T, s *sandbox.Sandbox, f fault.Fault) fault.Active {
	t.Helper()
	return must[fault.Active](t)(s.Faults.Inject(t.Context(), f))
}

// once is a configuration for clients that do not try again.
func once(cfg aws.Config) aws.Config {
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return cfg
}

// again retries as the SDK does, after a second each time: the pauses that it
// draws may all be shorter than a throttled service needs.
func again(cfg aws.Config) aws.Config {
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return time.Second, nil })
		})
	}
	return cfg
}

// outcome is the code and the HTTP status of an error; "ok" for none, "broken"
// for a connection without an answer.
func outcome(err error) string {
	var api smithy.APIError
	var response *awshttp.ResponseError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &api) && errors.As(err, &response):
		return fmt.Sprintf("%s %d", api.ErrorCode(), response.HTTPStatusCode())
	case strings.Contains(err.Error(), "EOF"):
		return "broken"
	}
	return err.Error()
}

// TestEveryServiceInItsOwnWords: throttled, denied and failing calls have the
// codes that the service's documentation gives.
func TestEveryServiceInItsOwnWords(t *testing.T) {
	s := start(t, sandbox.Options{})
	cfg := once(s.Config("eu-central-1"))
	ctx := t.Context()
	for _, tt := range []struct {
		service                   string
		call                      func() error
		throttled, denied, failed string
	}{
		{"ec2", func() error { _, err := ec2.NewFromConfig(cfg).DescribeVpcs(ctx, nil); return err },
			"RequestLimitExceeded 503", "UnauthorizedOperation 403", "InternalError 500"},
		{"cloudwatch", func() error { _, err := cloudwatch.NewFromConfig(cfg).DescribeAlarms(ctx, nil); return err },
			"ThrottlingException 400", "AccessDenied 403", "InternalServiceError 500"},
		{"logs", func() error { _, err := cloudwatchlogs.NewFromConfig(cfg).DescribeLogGroups(ctx, nil); return err },
			"ThrottlingException 400", "AccessDeniedException 400", "ServiceUnavailableException 500"},
		{"dynamodb", func() error { _, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, nil); return err },
			"ThrottlingException 400", "AccessDeniedException 400", "InternalServerError 500"},
		{"eventbridge", func() error { _, err := eventbridge.NewFromConfig(cfg).ListRules(ctx, nil); return err },
			"ThrottlingException 400", "AccessDeniedException 400", "InternalException 500"},
		{"iam", func() error { _, err := iamapi.NewFromConfig(cfg).ListRoles(ctx, nil); return err },
			"Throttling 400", "AccessDenied 403", "ServiceFailure 500"},
		{"lambda", func() error { _, err := lambdaapi.NewFromConfig(cfg).ListFunctions(ctx, nil); return err },
			"TooManyRequestsException 429", "AccessDeniedException 403", "ServiceException 500"},
		{"route53", func() error { _, err := route53.NewFromConfig(cfg).ListHostedZones(ctx, nil); return err },
			"Throttling 400", "AccessDeniedException 400", "InternalFailure 500"},
		{"scheduler", func() error { _, err := scheduler.NewFromConfig(cfg).ListSchedules(ctx, nil); return err },
			"ThrottlingException 400", "AccessDeniedException 403", "InternalServerException 500"},
		{"sns", func() error { _, err := snsapi.NewFromConfig(cfg).ListTopics(ctx, nil); return err },
			"Throttling 400", "AuthorizationError 403", "InternalFailure 500"},
		{"sqs", func() error { _, err := sqsapi.NewFromConfig(cfg).ListQueues(ctx, nil); return err },
			"RequestThrottled 403", "AccessDenied 403", "InternalFailure 500"},
		{"ssm", func() error { _, err := ssm.NewFromConfig(cfg).DescribeParameters(ctx, nil); return err },
			"ThrottlingException 400", "AccessDeniedException 400", "InternalServerError 500"},
		{"sts", func() error { _, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil); return err },
			"Throttling 400", "AccessDenied 403", "InternalFailure 500"},
	} {
		t.Run(tt.service, func(t *testing.T) {
			got := []string{}
			for _, kind := range []fault.Kind{fault.Throttle, fault.Denied, fault.Failure, fault.Lost} {
				f := inject(t, s, fault.Fault{Kind: kind, Selector: fault.Selector{Service: tt.service}})
				got = append(got, outcome(tt.call()))
				if err := s.Faults.Remove(f.ID); err != nil {
					t.Error(err)
				}
			}
			got = append(got, outcome(tt.call()))
			if diff := cmp.Diff([]string{tt.throttled, tt.denied, tt.failed, "broken", "ok"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBeforeAndAfterTheEffect: what fails before the effect has none; what is
// lost after it stays done.
func TestBeforeAndAfterTheEffect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   fault.Kind
		effect fault.Effect
		want   string
		made   bool
	}{
		{"an error", fault.Failure, fault.Effect{}, "InternalServerError 500", false},
		{"an error after the effect", fault.Failure, fault.Effect{When: fault.After}, "InternalServerError 500", true},
		{"a lost request", fault.Lost, fault.Effect{When: fault.Before}, "broken", false},
		{"a lost answer", fault.Lost, fault.Effect{When: fault.After}, "broken", true},
		{"an error of one's own", fault.Failure, fault.Effect{Code: "LimitExceededException", Status: 400, Message: "Too many."}, "LimitExceededException 400", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, sandbox.Options{})
			tables := dynamodb.NewFromConfig(once(s.Config("eu-central-1")))
			create := func() error {
				_, err := tables.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("orders"), BillingMode: ddbtypes.BillingModePayPerRequest,
					AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}}, KeySchema: []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}})
				return err
			}
			inject(t, s, fault.Fault{Kind: tt.kind, Effect: tt.effect, Selector: fault.Selector{Operation: "CreateTable"}, Limits: fault.Limits{Count: 1}})
			if got := outcome(create()); got != tt.want {
				t.Errorf("the call ends with %s, want %s", got, tt.want)
			}
			again := "ok"
			if tt.made {
				again = "ResourceInUseException 400"
			}
			if got := outcome(create()); got != again {
				t.Errorf("the same call again ends with %s, want %s", got, again)
			}
			if left := s.Faults.List(); len(left) != 0 {
				t.Errorf("the fault is in force after its one call: %+v", left)
			}
		})
	}
}

// TestWhomAFaultIsFor: every selector picks its calls and leaves the others
// alone.
func TestWhomAFaultIsFor(t *testing.T) {
	s := start(t, sandbox.Options{})
	cfg := once(s.Config("eu-central-1"))
	ctx := t.Context()
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	as := func(key, secret, token, region string) *ssm.Client {
		c := cfg.Copy()
		c.Region, c.Credentials = region, credentials.NewStaticCredentialsProvider(key, secret, token)
		return ssm.NewFromConfig(c)
	}
	assumed := func(name string) *ssm.Client {
		r := must[*sts.AssumeRoleOutput](t)(sts.NewFromConfig(cfg).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(role(t, cfg, name, policy)), RoleSessionName: aws.String("session")}))
		return as(*r.Credentials.AccessKeyId, *r.Credentials.SecretAccessKey, *r.Credentials.SessionToken, cfg.Region)
	}
	callers := map[string]*ssm.Client{
		"root": as("test", "test", "", cfg.Region), "elsewhere": as("test", "test", "", "eu-west-1"), "other": as("111122223333", "test", "", cfg.Region),
		"writer": assumed("writer"), "reader": assumed("reader"),
	}
	order := []string{"root", "elsewhere", "other", "writer", "reader"}
	for _, tt := range []struct {
		name string
		fault.Selector
		operation, parameter string
		hit                  string // callers
	}{
		{"everything", fault.Selector{}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"the service", fault.Selector{Service: "ssm"}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"another service", fault.Selector{Service: "ec2"}, "GetParameter", "/a/b", ""},
		{"the operation", fault.Selector{Operation: "GetParameter"}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"operations of a pattern", fault.Selector{Operation: "Get*"}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"another operation", fault.Selector{Operation: "GetParameters"}, "GetParameter", "/a/b", ""},
		{"a Region", fault.Selector{Region: "eu-west-1"}, "GetParameter", "/a/b", "elsewhere"},
		{"an account", fault.Selector{Account: "111122223333"}, "GetParameter", "/a/b", "other"},
		{"a role", fault.Selector{Role: "writer"}, "GetParameter", "/a/b", "writer"},
		{"roles of a pattern", fault.Selector{Role: "arn:aws:iam::*:role/*er"}, "GetParameter", "/a/b", "writer reader"},
		{"no role", fault.Selector{Role: "root"}, "GetParameter", "/a/b", "root elsewhere other"},
		{"a resource by its ARN", fault.Selector{Resource: "arn:aws:ssm:eu-central-1:123456789012:parameter/a/b"}, "GetParameter", "/a/b", "root writer reader"},
		{"a resource by its end", fault.Selector{Resource: "b"}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"a resource by a pattern", fault.Selector{Resource: "parameter/a/*"}, "GetParameter", "/a/b", "root elsewhere other writer reader"},
		{"another resource", fault.Selector{Resource: "parameter/b/*"}, "GetParameter", "/a/b", ""},
		{"all at once", fault.Selector{Service: "ssm", Operation: "GetParameter", Region: "eu-*", Account: "123456789012", Role: "reader", Resource: "*/a/b"}, "GetParameter", "/a/b", "reader"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inject(t, s, fault.Fault{Kind: fault.Failure, Selector: tt.Selector, Effect: fault.Effect{Code: "Hit"}})
			defer s.Faults.Clear()
			var hit []string
			for _, name := range order {
				_, err := callers[name].GetParameter(ctx, &ssm.GetParameterInput{Name: &tt.parameter})
				switch got := outcome(err); got {
				case "Hit 500":
					hit = append(hit, name)
				case "ParameterNotFound 400":
				default:
					t.Errorf("%s: %s", name, got)
				}
			}
			if got := strings.Join(hit, " "); got != tt.hit {
				t.Errorf("the fault meets %q, want %q", got, tt.hit)
			}
		})
	}
}

// TestHowOftenAndHowLong: count, probability and end of a fault.
func TestHowOftenAndHowLong(t *testing.T) { synctest.Test(t, testHowOftenAndHowLong) }

func testHowOftenAndHowLong(t *testing.T) {
	s := start(t, sandbox.Options{})
	tables := dynamodb.NewFromConfig(once(s.Config("eu-central-1")))
	fails := func(calls int) (pattern string) {
		for range calls {
			mark := "."
			if _, err := tables.ListTables(t.Context(), nil); err != nil {
				mark = "x"
			}
			pattern += mark
		}
		return pattern
	}
	with := func(l fault.Limits) { inject(t, s, fault.Fault{Kind: fault.Throttle, Limits: l}) }

	with(fault.Limits{Count: 3})
	if got := fails(5); got != "xxx.." {
		t.Errorf("the next three calls: %s", got)
	}
	with(fault.Limits{Probability: 0.5, Seed: 7})
	first := fails(200)
	s.Faults.Clear()
	with(fault.Limits{Probability: 0.5, Seed: 7})
	if again := fails(200); again != first {
		t.Errorf("the same seed gives another sequence:\n%s\n%s", first, again)
	}
	if n := strings.Count(first, "x"); n < 70 || n > 130 {
		t.Errorf("%d of 200 calls fail at a probability of a half", n)
	}
	if active := s.Faults.List(); len(active) != 1 || active[0].Hits != strings.Count(first, "x") {
		t.Errorf("in force: %+v", active)
	}
	s.Faults.Clear()
	with(fault.Limits{For: fault.Duration(time.Minute)})
	time.Sleep(time.Minute - time.Nanosecond)
	if got := fails(1); got != "x" {
		t.Error("the fault ends too early")
	}
	time.Sleep(time.Nanosecond)
	synctest.Wait()
	if got := fails(1); got != "." || len(s.Faults.List()) != 0 {
		t.Error("the fault does not end")
	}
	with(fault.Limits{Until: time.Now().Add(time.Hour)})
	time.Sleep(time.Hour)
	if got := fails(1); got != "." {
		t.Error("the fault lives longer than until")
	}
}

// TestLatency: calls take longer by the clock of the sandbox, and end with
// their caller.
func TestLatency(t *testing.T) { synctest.Test(t, testLatency) }

func testLatency(t *testing.T) {
	s := start(t, sandbox.Options{})
	tables := dynamodb.NewFromConfig(once(s.Config("eu-central-1")))
	inject(t, s, fault.Fault{Kind: fault.Latency, Effect: fault.Effect{Delay: fault.Duration(2 * time.Second)}})
	inject(t, s, fault.Fault{Kind: fault.Latency, Selector: fault.Selector{Service: "dynamodb"}, Effect: fault.Effect{Delay: fault.Duration(3 * time.Second)}})
	began := time.Now()
	if _, err := tables.ListTables(t.Context(), nil); err != nil || time.Since(began) != 5*time.Second {
		t.Errorf("the call took %s: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := tables.ListTables(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call of one second: %v", err)
	}
}

// TestThrottlingOption: the sandbox throttles from the start if it is told so,
// and the SDK's retries get through.
func TestThrottlingOption(t *testing.T) { synctest.Test(t, testThrottlingOption) }

func testThrottlingOption(t *testing.T) {
	s := start(t, sandbox.Options{Throttled: true})
	zones := route53.NewFromConfig(once(s.Config("us-east-1")))
	var codes []string
	for range 6 {
		_, err := zones.ListHostedZones(t.Context(), nil)
		codes = append(codes, outcome(err))
	}
	if diff := cmp.Diff([]string{"ok", "ok", "ok", "ok", "ok", "Throttling 400"}, codes); diff != "" {
		t.Error(diff)
	}
	if _, err := route53.NewFromConfig(again(s.Config("us-east-1"))).ListHostedZones(t.Context(), nil); err != nil {
		t.Errorf("with the SDK's retries: %v", err)
	}
	if on, refused := s.Throttling.State(); !on || refused < 1 {
		t.Errorf("throttling is on: %t, %d calls were refused", on, refused)
	}
}

// TestFaultsAreRefused: what makes no sense is refused with the field and the
// reason.
func TestFaultsAreRefused(t *testing.T) {
	s := start(t, sandbox.Options{})
	for _, tt := range []struct {
		f     fault.Fault
		field string
		says  string
	}{
		{fault.Fault{}, "kind", "throttle"},
		{fault.Fault{Kind: "earthquake"}, "kind", "earthquake"},
		{fault.Fault{Kind: fault.Latency}, "delay", "needs"},
		{fault.Fault{Kind: fault.Throttle, Effect: fault.Effect{Place: "eu-west-1"}}, "place", "does not take"},
		{fault.Fault{Kind: fault.Latency, Effect: fault.Effect{Delay: fault.Duration(-time.Second)}}, "delay", "negative"},
		{fault.Fault{Kind: fault.Throttle, Limits: fault.Limits{Count: -1}}, "count", "negative"},
		{fault.Fault{Kind: fault.Throttle, Limits: fault.Limits{Probability: 1.5}}, "probability", "between 0 and 1"},
		{fault.Fault{Kind: fault.Throttle, Limits: fault.Limits{Seed: 1}}, "seed", "probability"},
		{fault.Fault{Kind: fault.Throttle, Limits: fault.Limits{Until: time.Now().Add(-time.Hour)}}, "until", "passed"},
		{fault.Fault{Kind: fault.Throttle, Limits: fault.Limits{Until: time.Now().Add(time.Hour), For: 1}}, "for", "either"},
		{fault.Fault{Kind: fault.Failure, Effect: fault.Effect{Status: http.StatusOK}}, "status", "200"},
		{fault.Fault{Kind: fault.Failure, Effect: fault.Effect{When: "during"}}, "when", "before, after"},
		{fault.Fault{Kind: fault.Duplicate, Effect: fault.Effect{Copies: 1}}, "copies", "between 2"},
		{fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "the cellar"}}, "place", "neither a Region"},
		{fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: fault.Endpoints}}, "place", "neither a Region"},
		{fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-west-1", Peer: "eu-west-1"}}, "peer", "itself"},
		{fault.Fault{Kind: fault.StuckStopping, Selector: fault.Selector{Instance: "*"}}, "instance", "no identifier"},
		{fault.Fault{Kind: fault.StuckStopping, Selector: fault.Selector{Instance: "i-0123456789abcdef0"}}, "instance", "there is no instance"},
	} {
		_, err := s.Faults.Inject(t.Context(), tt.f)
		var invalid *fault.Invalid
		if !errors.As(err, &invalid) || invalid.Field != tt.field || !strings.Contains(invalid.Why, tt.says) {
			t.Errorf("%+v is answered with %v, want a word on %s that says %q", tt.f, err, tt.field, tt.says)
		}
	}
	if err := s.Faults.Remove("f99"); !errors.Is(err, fault.ErrUnknown) {
		t.Errorf("removing what is not there: %v", err)
	}
	if left := s.Faults.List(); len(left) != 0 {
		t.Errorf("refused faults are in force: %+v", left)
	}
}
