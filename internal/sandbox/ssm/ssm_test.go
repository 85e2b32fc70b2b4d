package ssm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	nodeA = "i-0000000000000000a"
	nodeB = "i-0000000000000000b"
)

// fleet is a host world and an inventory of two instances.
type fleet struct {
	mu        sync.Mutex
	instances []world.Instance
	online    map[string]bool
	ran       []world.Command
	answer    func(context.Context, world.Command) (world.CommandResult, error)
}

func (f *fleet) Instances() []world.Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.instances
}

func (f *fleet) set(id string, online bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.online[id] = online
}

func (f *fleet) AgentOnline(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.online[id]
}

func (f *fleet) Run(ctx context.Context, c world.Command) (world.CommandResult, error) {
	f.mu.Lock()
	f.ran = append(f.ran, c)
	answer := f.answer
	f.mu.Unlock()
	return answer(ctx, c)
}

func (f *fleet) commands() []world.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ran
}

func (*fleet) Boot(world.Machine) error               { return nil }
func (*fleet) Off(string)                             {}
func (*fleet) Shutdown(context.Context, string) error { return nil }
func (*fleet) Destroy(string)                         {}
func (*fleet) Healthy(string) (bool, bool)            { return true, true }

// answers makes a host answer after d with a result.
func answers(d time.Duration, r world.CommandResult) func(context.Context, world.Command) (world.CommandResult, error) {
	return func(ctx context.Context, _ world.Command) (world.CommandResult, error) {
		r.Started = time.Now()
		if err := clock.System().Sleep(ctx, d); err != nil {
			return world.CommandResult{Code: -1}, err
		}
		r.Ended = time.Now()
		return r, nil
	}
}

// silent is a host that dies when it has got the command.
func silent(ctx context.Context, _ world.Command) (world.CommandResult, error) {
	<-ctx.Done()
	return world.CommandResult{}, context.Cause(ctx)
}

type manager struct {
	*SSM
	t     *testing.T
	req   *wire.Request
	fleet *fleet
}

// run gives f a Systems Manager with two managed instances, in virtual time.
func run(t *testing.T, f func(t *testing.T, m *manager)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world.New(clock.System())
		h := &fleet{online: map[string]bool{nodeA: true, nodeB: true}, answer: answers(time.Second, world.CommandResult{Stdout: "done\n"})}
		for id, ip := range map[string]string{nodeA: "10.20.1.10", nodeB: "10.20.2.10"} {
			h.instances = append(h.instances, world.Instance{State: "running", Machine: world.Machine{
				InstanceID: id, Region: "eu-west-1", Account: w.Account, PrivateIP: ip, Profile: "arn:aws:iam::123456789012:instance-profile/db", Tags: map[string]string{"cluster": "c1"},
			}})
		}
		w.Hosts, w.Inventory = h, h
		m := &manager{SSM: New(w), t: t, req: &wire.Request{Context: t.Context(), Region: "eu-west-1", Account: w.Account}, fleet: h}
		defer m.Close()
		f(t, m)
	})
}

// must is for calls of a test that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("error is %v, want %q", err, code)
	}
}

// send runs a script with AWS-RunShellScript and returns the command.
func (m *manager) send(change func(*ssm.SendCommandInput), instances ...string) string {
	m.t.Helper()
	in := &ssm.SendCommandInput{DocumentName: aws.String("AWS-RunShellScript"), InstanceIds: instances, Parameters: map[string][]string{"commands": {"date"}}}
	if change != nil {
		change(in)
	}
	return *must(m.SendCommand(m.req, in)).Command.CommandId
}

// pass lets time go by, and then everything happen that is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (m *manager) invocation(command, instance string) *ssm.GetCommandInvocationOutput {
	m.t.Helper()
	return must(m.GetCommandInvocation(m.req, &ssm.GetCommandInvocationInput{CommandId: &command, InstanceId: &instance}))
}

func (m *manager) want(command, instance, status, details string, code int32) *ssm.GetCommandInvocationOutput {
	m.t.Helper()
	i := m.invocation(command, instance)
	if string(i.Status) != status || *i.StatusDetails != details || i.ResponseCode != code {
		m.t.Errorf("invocation is %s (%s), code %d; want %s (%s), code %d", i.Status, *i.StatusDetails, i.ResponseCode, status, details, code)
	}
	return i
}
