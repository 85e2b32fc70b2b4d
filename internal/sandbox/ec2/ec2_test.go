package ec2

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machines is a host world that remembers what it was asked to do.
type machines struct {
	mu       sync.Mutex
	log      []string
	on       map[string]bool
	shutdown time.Duration // of an operating system; negative = never ends
	bootErr  error
	booted   []world.Machine
}

func (m *machines) note(what, id string, on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, what)
	m.on[id] = on
}

func (m *machines) Boot(v world.Machine) error {
	if m.bootErr != nil {
		return m.bootErr
	}
	m.note("boot", v.InstanceID, true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.booted = append(m.booted, v)
	return nil
}
func (m *machines) Off(id string)     { m.note("off", id, false) }
func (m *machines) Destroy(id string) { m.note("destroy", id, false) }
func (m *machines) Shutdown(ctx context.Context, id string) error {
	m.mu.Lock()
	on, d := m.on[id], m.shutdown
	m.log = append(m.log, "shutdown")
	m.mu.Unlock()
	if !on {
		return nil
	}
	if d < 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return clock.System().Sleep(ctx, d)
}
func (m *machines) Healthy(id string) (bool, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on[id], m.on[id]
}
func (m *machines) AgentOnline(id string) bool { ok, _ := m.Healthy(id); return ok }
func (m *machines) Run(context.Context, world.Command) (world.CommandResult, error) {
	return world.CommandResult{}, errors.New("EC2 runs no commands")
}
func (m *machines) seen() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.log
	m.log = nil
	return log
}

// identity knows one profile and forbids to pass its role to strangers.
type identity struct{}

func (identity) ServiceSession(string, string, string) (world.Credentials, error) {
	return world.Credentials{}, nil
}
func (identity) InstanceProfileRole(profile string) (string, error) {
	if profile != "db" {
		return "", errors.New("no such profile")
	}
	return "arn:aws:iam::123456789012:role/db", nil
}
func (identity) CheckPassRole(caller, _, _ string) error {
	if caller == "stranger" {
		return errors.New("iam:PassRole is not allowed")
	}
	return nil
}

type metrics struct {
	mu   sync.Mutex
	data []world.Datum
}

func (m *metrics) PutMetric(_, _ string, data ...world.Datum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = append(m.data, data...)
}

// cloud is an EC2 with a network of two subnets, for one test.
type cloud struct {
	*EC2
	t        *testing.T
	req      *wire.Request
	machines *machines
	metrics  *metrics
	vpc      string
	subnets  [2]string
	table    string // associated with the first subnet
}

// run gives f a cloud in virtual time.
func run(t *testing.T, f func(t *testing.T, c *cloud)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world.New(clock.System())
		c := &cloud{t: t, machines: &machines{on: map[string]bool{}}, metrics: &metrics{}, req: &wire.Request{Context: t.Context(), Region: "eu-west-1", Account: w.Account}}
		w.Hosts, w.Identity, w.Metrics = c.machines, identity{}, c.metrics
		c.EC2 = New(w)
		defer c.Close()
		v := must(c.CreateVpc(c.req, &ec2.CreateVpcInput{CidrBlock: aws.String("10.20.0.0/16")}))
		c.vpc = *v.Vpc.VpcId
		for n, block := range []string{"10.20.1.0/24", "10.20.2.0/24"} {
			zone := "eu-west-1" + string("ab"[n])
			c.subnets[n] = *must(c.CreateSubnet(c.req, &ec2.CreateSubnetInput{VpcId: &c.vpc, CidrBlock: &block, AvailabilityZone: &zone})).Subnet.SubnetId
		}
		c.table = *must(c.CreateRouteTable(c.req, &ec2.CreateRouteTableInput{VpcId: &c.vpc})).RouteTable.RouteTableId
		must(c.AssociateRouteTable(c.req, &ec2.AssociateRouteTableInput{RouteTableId: &c.table, SubnetId: &c.subnets[0]}))
		f(t, c)
	})
}

// must is for calls of a test that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("error is %v, want %s", err, code)
	}
}

// codeOf is the code of an AWS error, "" for none.
func codeOf(err error) string {
	var e *wire.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return "not an AWS error"
}

// launch starts an instance in a subnet and waits until it runs.
func (c *cloud) launch(subnet int, change func(*ec2.RunInstancesInput)) string {
	c.t.Helper()
	in := &ec2.RunInstancesInput{ImageId: aws.String("ami-0123456789abcdef0"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &c.subnets[subnet], IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("db")}}
	if change != nil {
		change(in)
	}
	id := *must(c.RunInstances(c.req, in)).Instances[0].InstanceId
	time.Sleep(DefaultDelays.Boot)
	synctest.Wait()
	return id
}

func (c *cloud) show(id string) types.Instance {
	c.t.Helper()
	o := must(c.DescribeInstances(c.req, &ec2.DescribeInstancesInput{InstanceIds: []string{id}}))
	return o.Reservations[0].Instances[0]
}

func (c *cloud) wantState(id string, want types.InstanceStateName) {
	c.t.Helper()
	if got := c.show(id).State.Name; got != want {
		c.t.Errorf("instance is %s, want %s", got, want)
	}
}

func (c *cloud) eni(id string) string { return *c.show(id).NetworkInterfaces[0].NetworkInterfaceId }
