// Package redirect leads the endpoint of a group to its primary, through the
// routes of a VIP in VPC route tables.
package redirect

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/fence"
)

// API is what Routes needs of an EC2 client.
type API interface {
	DescribeRouteTables(ctx context.Context, in *ec2.DescribeRouteTablesInput, opts ...func(*ec2.Options)) (*ec2.DescribeRouteTablesOutput, error)
	DescribeNetworkInterfaces(ctx context.Context, in *ec2.DescribeNetworkInterfacesInput, opts ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error)
	ReplaceRoute(ctx context.Context, in *ec2.ReplaceRouteInput, opts ...func(*ec2.Options)) (*ec2.ReplaceRouteOutput, error)
}

// Runner runs a document on an instance.
type Runner interface {
	Run(ctx context.Context, q command.Request) command.Result
}

// Options of the routes of a group.
type Options struct {
	TableARN string // of the state table (R12)
	Group    string
	Document string // SSM document that tries the data path, "" = none
	Version  string // of the document, "" = its default one
}

// Routes are the VIP routes of one group in one Region.
type Routes struct {
	api    API
	runner Runner
	clock  clock.Clock
	opts   Options
}

var _ control.Routes = (*Routes)(nil)

// NewRoutes returns the routes of a group.
func NewRoutes(api API, runner Runner, c clock.Clock, o Options) *Routes {
	return &Routes{api: api, runner: runner, clock: c, opts: o}
}

// EC2 is eventually consistent and publishes no bound
// (https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html).
const (
	readBackEvery = 500 * time.Millisecond
	readBackFor   = 15 * time.Second
)

// Owner implements control.Routes.
func (r *Routes) Owner(ctx context.Context, table, vip string) (string, error) {
	eni, _, err := r.route(ctx, table, vip)
	return eni, err
}

// route returns where the route leads, and whether there is one.
func (r *Routes) route(ctx context.Context, table, vip string, opts ...func(*ec2.Options)) (eni string, found bool, err error) {
	out, err := r.api.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}}, opts...)
	if err != nil {
		return "", false, fmt.Errorf("read route table %s: %w", table, err)
	}
	for _, t := range out.RouteTables {
		for _, route := range t.Routes {
			if aws.ToString(t.RouteTableId) == table && aws.ToString(route.DestinationCidrBlock) == vip+"/32" {
				return aws.ToString(route.NetworkInterfaceId), true, nil
			}
		}
	}
	return "", false, nil
}

// Move implements control.Routes. It only ever replaces a route that Terraform
// declared, never creates one. Moving to where the route leads already is
// nothing to do.
//
// Everything up to the change is asked for once, because the change must not
// come long after the check of the record (R22). The caller tries again.
func (r *Routes) Move(ctx context.Context, table, vip, eni string) error {
	mine := make(chan error, 1) // side by side: clients wait for both
	go func() { mine <- r.mine(ctx, eni) }()
	now, found, err := r.route(ctx, table, vip, once)
	owned := <-mine
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("route table %s has no route to %s/32 that could be moved: declare it with the resource hadr_vip_route", table, vip)
	}
	if now == eni {
		return nil
	}
	if owned != nil {
		return owned
	}
	_, err = r.api.ReplaceRoute(ctx, &ec2.ReplaceRouteInput{
		RouteTableId: &table, DestinationCidrBlock: aws.String(vip + "/32"), NetworkInterfaceId: &eni,
	}, once)
	if readErr := r.readBack(ctx, table, vip, eni, err != nil); readErr != nil {
		if err != nil {
			return fmt.Errorf("move %s/32 in route table %s to %s: %w", vip, table, eni, err)
		}
		return readErr
	}
	return nil
}

// once keeps the SDK from repeating a call.
func once(o *ec2.Options) { o.RetryMaxAttempts = 1 }

// readBack waits until the route leads to eni. After an error of ReplaceRoute
// it looks once: an answer may have been lost (R23).
func (r *Routes) readBack(ctx context.Context, table, vip, eni string, onlyOnce bool) error {
	for waited := time.Duration(0); ; waited += readBackEvery {
		now, _, err := r.route(ctx, table, vip)
		if err == nil && now == eni {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("route table %s still leads %s/32 to %s, not to %s", table, vip, now, eni)
		}
		if onlyOnce || waited >= readBackFor {
			return err
		}
		if ended := r.clock.Sleep(ctx, readBackEvery); ended != nil {
			return fmt.Errorf("%w: %w", err, ended)
		}
	}
}

// mine refuses a network interface that another control plane owns (R12).
func (r *Routes) mine(ctx context.Context, eni string) error {
	out, err := r.api.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{eni}}, once)
	if err != nil {
		return fmt.Errorf("read the owner of network interface %s: %w", eni, err)
	}
	for _, n := range out.NetworkInterfaces {
		if err := fence.Owned("network interface", eni, n.TagSet, r.opts.TableARN, r.opts.Group); err != nil {
			return err
		}
	}
	return nil
}

// Check implements control.Routes. The host that checks opens a TCP connection
// itself: only traffic from a subnet of the table proves its route.
func (r *Routes) Check(ctx context.Context, instance, vip string, port int) error {
	if r.opts.Document == "" {
		return fmt.Errorf("the path to %s:%d can't be tried from %s: no path_check_document is declared", vip, port, instance)
	}
	res := r.runner.Run(ctx, command.Request{
		Document: r.opts.Document, Version: r.opts.Version, Instance: instance, Cancel: true,
		Parameters: map[string]string{"vip": vip, "port": strconv.Itoa(port)},
	})
	if res.Outcome == command.OK {
		return nil
	}
	return fmt.Errorf("connect from %s to %s:%d: %s %s", instance, vip, port, res.Detail, res.Stdout)
}
