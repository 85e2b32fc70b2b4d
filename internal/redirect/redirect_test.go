package redirect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
)

const vip = "192.168.10.5"

// vpc is EC2 with one route table per entry of routes.
type vpc struct {
	routes     map[string]string // table -> ENI that its VIP route leads to
	lag        int               // reads that still show the old route after a change
	readErr    error
	replaceErr error
	accepts    bool // a ReplaceRoute that returns an error works all the same
	tags       []types.Tag
	tagErr     error

	next     map[string]string
	replaced int
}

func (v *vpc) DescribeRouteTables(_ context.Context, in *ec2.DescribeRouteTablesInput, _ ...func(*ec2.Options)) (*ec2.DescribeRouteTablesOutput, error) {
	if v.readErr != nil {
		return nil, v.readErr
	}
	if v.next != nil {
		if v.lag == 0 {
			v.routes, v.next = v.next, nil
		}
		v.lag--
	}
	table := types.RouteTable{RouteTableId: &in.RouteTableIds[0], Routes: []types.Route{
		{DestinationCidrBlock: aws.String("10.0.0.0/16"), GatewayId: aws.String("local")},
		{DestinationIpv6CidrBlock: aws.String("::/0"), GatewayId: aws.String("igw-1")},
	}}
	if eni, ok := v.routes[in.RouteTableIds[0]]; ok {
		table.Routes = append(table.Routes, types.Route{DestinationCidrBlock: aws.String(vip + "/32"), NetworkInterfaceId: &eni})
	}
	return &ec2.DescribeRouteTablesOutput{RouteTables: []types.RouteTable{table}}, nil
}

func (v *vpc) DescribeNetworkInterfaces(_ context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []types.NetworkInterface{{NetworkInterfaceId: &in.NetworkInterfaceIds[0], TagSet: v.tags}}}, v.tagErr
}

func (v *vpc) ReplaceRoute(_ context.Context, in *ec2.ReplaceRouteInput, opts ...func(*ec2.Options)) (*ec2.ReplaceRouteOutput, error) {
	var o ec2.Options
	for _, f := range opts {
		f(&o)
	}
	if o.RetryMaxAttempts != 1 {
		return nil, errors.New("the SDK may repeat this change")
	}
	v.replaced++
	if v.replaceErr == nil || v.accepts {
		v.next = map[string]string{*in.RouteTableId: *in.NetworkInterfaceId}
	}
	return &ec2.ReplaceRouteOutput{}, v.replaceErr
}

func TestMove(t *testing.T) {
	denied := &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "you are not authorized"}
	tag := func(k, v string) []types.Tag { return []types.Tag{{Key: &k, Value: &v}} }
	tests := []struct {
		name     string
		vpc      vpc
		says     string // "" = moved
		replaced int
	}{
		{name: "moved", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}}, replaced: 1},
		{name: "visible only after a while", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, lag: 9}, replaced: 1},
		{name: "leads there already", vpc: vpc{routes: map[string]string{"rtb-1": "eni-b"}}},
		{name: "a blackhole without an interface", vpc: vpc{routes: map[string]string{"rtb-1": ""}}, replaced: 1},
		{name: "R23: the answer is lost", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, replaceErr: errors.New("reset"), accepts: true}, replaced: 1},
		{name: "R26: denied", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, replaceErr: denied}, says: "not authorized", replaced: 1},
		{name: "never visible", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, lag: 1000}, says: "still leads", replaced: 1},
		{name: "no route was declared", vpc: vpc{routes: map[string]string{"rtb-2": "eni-a"}}, says: "hadr_vip_route"},
		{name: "the table can't be read", vpc: vpc{readErr: denied}, says: "rtb-1"},
		{name: "R12: the interface is another control plane's", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, tags: tag("hadr:table", "arn:other")}, says: "another control plane"},
		{name: "R12: the interface is another group's", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, tags: tag("hadr:group", "invoices")}, says: "invoices"},
		{name: "the interface is ours", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, tags: tag("hadr:table", "arn:table")}, replaced: 1},
		{name: "the owner can't be read", vpc: vpc{routes: map[string]string{"rtb-1": "eni-a"}, tagErr: denied}, says: "eni-b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := NewRoutes(&tt.vpc, nil, clock.System(), Options{TableARN: "arn:table", Group: "orders"})
				err := r.Move(t.Context(), "rtb-1", vip, "eni-b")
				switch {
				case tt.says == "" && err != nil:
					t.Fatalf("Move: %v", err)
				case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
					t.Fatalf("Move: %v, want an error that says %q", err, tt.says)
				}
				if tt.vpc.replaced != tt.replaced {
					t.Errorf("ReplaceRoute called %d times, want %d", tt.vpc.replaced, tt.replaced)
				}
				if owner, _ := r.Owner(t.Context(), "rtb-1", vip); tt.says == "" && owner != "eni-b" {
					t.Errorf("owner %q after the move", owner)
				}
			})
		})
	}
}

func TestMoveEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := clock.WithTimeout(t.Context(), clock.System(), 2*time.Second)
		defer stop()
		v := &vpc{routes: map[string]string{"rtb-1": "eni-a"}, lag: 1000}
		begin := time.Now()
		err := NewRoutes(v, nil, clock.System(), Options{}).Move(ctx, "rtb-1", vip, "eni-b")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 2*time.Second {
			t.Errorf("Move: %v after %s", err, time.Since(begin))
		}
	})
}

func TestOwnerWithoutRoute(t *testing.T) {
	r := NewRoutes(&vpc{}, nil, clock.System(), Options{})
	if eni, err := r.Owner(t.Context(), "rtb-1", vip); eni != "" || err != nil {
		t.Errorf("Owner = %q, %v", eni, err)
	}
}

type runner struct {
	asked  command.Request
	result command.Result
}

func (r *runner) Run(_ context.Context, q command.Request) command.Result {
	r.asked = q
	return r.result
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name     string
		document string
		result   command.Result
		says     string
	}{
		{"reached", "path", command.Result{Outcome: command.OK}, ""},
		{"refused", "path", command.Result{Outcome: command.Failed, Detail: "exit code 1"}, "exit code 1"},
		{"no answer of the checker", "path", command.Result{Outcome: command.Undeliverable, Detail: "not registered"}, "not registered"},
		{"nothing to check with", "", command.Result{Outcome: command.OK}, "path_check_document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := &runner{result: tt.result}
			err := NewRoutes(nil, run, clock.System(), Options{Document: tt.document}).Check(t.Context(), "i-9", vip, 50000)
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("Check: %v, want %q", err, tt.says)
			}
			if tt.document != "" && (run.asked.Instance != "i-9" || run.asked.Parameters["vip"] != vip || run.asked.Parameters["port"] != "50000") {
				t.Errorf("asked %+v", run.asked)
			}
		})
	}
}
