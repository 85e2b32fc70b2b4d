package throttle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func call(service, operation string, input any) *wire.Request {
	return &wire.Request{Service: service, Operation: operation, Account: "1", Region: "eu-west-1", Input: input}
}

// accepted is how many calls in a row are let through.
func accepted(t *Throttle, r *wire.Request) int {
	for n := range 2000 {
		if _, err := t.Intercept(r, func() (any, error) { return nil, nil }); err != nil {
			return n
		}
	}
	return -1
}

// TestBuckets: so many calls at once, and so many more in every later second.
func TestBuckets(t *testing.T) {
	filter := []types.Filter{{Name: aws.String("vpc-id"), Values: []string{"vpc-1"}}}
	for _, tt := range []struct {
		name        string
		r           *wire.Request
		burst, then int
		code        string
	}{
		{"a mutating call of EC2", call("ec2", "ReplaceRoute", &ec2.ReplaceRouteInput{}), 50, 5, "RequestLimitExceeded"},
		{"a reading one", call("ec2", "DescribeRouteTables", &ec2.DescribeRouteTablesInput{}), 100, 20, "RequestLimitExceeded"},
		{"instances without a filter", call("ec2", "DescribeInstances", &ec2.DescribeInstancesInput{}), 50, 10, "RequestLimitExceeded"},
		{"instances by identifier", call("ec2", "DescribeInstances", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}}), 50, 10, "RequestLimitExceeded"},
		{"instances with a filter", call("ec2", "DescribeInstances", &ec2.DescribeInstancesInput{Filters: filter}), 100, 20, "RequestLimitExceeded"},
		{"instances in pages", call("ec2", "DescribeInstances", &ec2.DescribeInstancesInput{MaxResults: aws.Int32(5)}), 100, 20, "RequestLimitExceeded"},
		{"a start", call("ec2", "StartInstances", &ec2.StartInstancesInput{InstanceIds: []string{"i-1"}}), 5, 2, "RequestLimitExceeded"},
		{"starts of 400 instances each, by the instances", call("ec2", "StartInstances", &ec2.StartInstancesInput{InstanceIds: make([]string, 400)}), 2, 0, "RequestLimitExceeded"},
		{"a stop", call("ec2", "StopInstances", &ec2.StopInstancesInput{InstanceIds: []string{"i-1"}}), 50, 5, "RequestLimitExceeded"},
		{"launches of 1000", call("ec2", "RunInstances", &ec2.RunInstancesInput{MaxCount: aws.Int32(1000)}), 1, 0, "RequestLimitExceeded"},
		{"a tag", call("ec2", "CreateTags", &ec2.CreateTagsInput{}), 100, 10, "RequestLimitExceeded"},
		{"an alarm", call("monitoring", "PutMetricAlarm", nil), 3, 3, "ThrottlingException"},
		{"alarms described", call("monitoring", "DescribeAlarms", nil), 9, 9, "ThrottlingException"},
		{"data", call("monitoring", "PutMetricData", nil), 500, 500, "ThrottlingException"},
		{"a record", call("route53", "ChangeResourceRecordSets", nil), 5, 5, "Throttling"},
		{"a function", call("lambda", "GetFunction", nil), 100, 100, "TooManyRequestsException"},
		{"an update of a function", call("lambda", "UpdateFunctionCode", nil), 15, 15, "TooManyRequestsException"},
		{"an invocation", call("lambda", "Invoke", nil), -1, -1, ""},
		{"a parameter", call("ssm", "GetParameter", nil), 40, 40, "ThrottlingException"},
		{"a command", call("ssm", "SendCommand", nil), 50, 5, "ThrottlingException"},
		{"an item", call("dynamodb", "GetItem", nil), -1, -1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := New(clock.System())
				if n := accepted(x, tt.r); n != -1 {
					t.Fatalf("switched off, %d calls are accepted", n)
				}
				x.Switch(true)
				if n := accepted(x, tt.r); n != tt.burst {
					t.Errorf("%d calls are accepted at once, want %d", n, tt.burst)
				}
				time.Sleep(999 * time.Millisecond)
				if n := accepted(x, tt.r); n != min(tt.burst, 0) {
					t.Errorf("%d calls are accepted within the same second", n)
				}
				time.Sleep(time.Millisecond)
				if n := accepted(x, tt.r); n != tt.then {
					t.Errorf("%d calls are accepted in the next second, want %d", n, tt.then)
				}
				time.Sleep(time.Hour)
				if n := accepted(x, tt.r); n != tt.burst {
					t.Errorf("after an hour %d calls are accepted at once, want %d", n, tt.burst)
				}
				if tt.code == "" {
					return
				}
				_, err := x.Intercept(tt.r, func() (any, error) { return nil, nil })
				if e, ok := err.(*wire.Error); !ok || e.Code != tt.code {
					t.Errorf("refused with %v, want %s", err, tt.code)
				}
			})
		})
	}
}

// TestWhoSharesABucket: accounts, Regions and operations of EC2 have buckets of
// their own, but Route 53 has one for an account.
func TestWhoSharesABucket(t *testing.T) {
	of := func(service, operation, account, region string) *wire.Request {
		return &wire.Request{Service: service, Operation: operation, Account: account, Region: region}
	}
	for _, tt := range []struct {
		name   string
		first  *wire.Request
		second *wire.Request
		want   int
	}{
		{"another account", of("ec2", "ReplaceRoute", "1", "eu-west-1"), of("ec2", "ReplaceRoute", "2", "eu-west-1"), 50},
		{"another Region", of("ec2", "ReplaceRoute", "1", "eu-west-1"), of("ec2", "ReplaceRoute", "1", "eu-west-2"), 50},
		{"another operation of EC2", of("ec2", "ReplaceRoute", "1", "eu-west-1"), of("ec2", "CreateRoute", "1", "eu-west-1"), 50},
		{"another operation of Lambda", of("lambda", "ListFunctions", "1", "eu-west-1"), of("lambda", "ListAliases", "1", "eu-west-1"), 0},
		{"another parameter operation", of("ssm", "GetParameter", "1", "eu-west-1"), of("ssm", "GetParameters", "1", "eu-west-1"), 0},
		{"Route 53 through another Region", of("route53", "ListHostedZones", "1", "us-east-1"), of("route53", "GetHostedZone", "1", "eu-west-1"), 0},
		{"Route 53 of another account", of("route53", "ListHostedZones", "1", "us-east-1"), of("route53", "ListHostedZones", "2", "us-east-1"), 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := New(clock.System())
				x.Switch(true)
				accepted(x, tt.first)
				if n := accepted(x, tt.second); n != tt.want {
					t.Errorf("%d calls are accepted, want %d", n, tt.want)
				}
				if on, refused := x.State(); !on || refused != 2 {
					t.Errorf("on %t, %d refused", on, refused)
				}
				x.Switch(false)
				x.Switch(true)
				if n := accepted(x, tt.second); n == 0 {
					t.Error("switching on does not fill the buckets")
				}
			})
		})
	}
}
