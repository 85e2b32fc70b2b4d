package demo

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	simdb2 "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Names of what a stage declares, for those who disturb it.
const (
	Group            = coreGroup
	TableName        = coreTable
	TakeoverFunction = takeoverFunction
	WatchFunction    = watchFunction
)

// Disturber stands between the programs of a stage and AWS.
type Disturber interface {
	// Enlist returns the network of one run of a program: a function by its name,
	// an agent as agent-<node>. kill ends the run; died reports whether it was
	// killed.
	Enlist(program string, kill context.CancelFunc, next http.RoundTripper) (network http.RoundTripper, died func() bool)
}

// Tuning changes how a stage's AWS and its pair of databases behave. Either part
// may be nil.
type Tuning struct {
	Sandbox func(*sandbox.Options)
	Pair    func(*simdb2.Pair)
}

// NewDisturbedStage builds a virtual stage whose programs reach AWS through d,
// with identifiers that name makes.
func NewDisturbedStage(ctx context.Context, dir string, log *slog.Logger, d Disturber, name func(digits int) string, tuned ...Tuning) (*Stage, error) {
	return newVirtualStage(ctx, &Stage{Dir: dir, disturber: d, tuned: tuned}, log, name)
}

func (s *Stage) enlist(program string, kill context.CancelFunc, next http.RoundTripper) (network http.RoundTripper, died func() bool) {
	if s.disturber == nil {
		return next, func() bool { return false }
	}
	return s.disturber.Enlist(program, kill, next)
}

// Config is the configuration of those who may do everything: who builds the
// stage, looks at it, and works by hand.
func (s *Stage) Config(region string) aws.Config {
	cfg := s.Sandbox.Config(region)
	if direct, ok := cfg.HTTPClient.(*http.Client); ok && s.disturber != nil {
		network, _ := s.disturber.Enlist("person", func() {}, direct.Transport)
		cfg.HTTPClient, cfg.Retryer = &http.Client{Transport: network}, steadyRetryer
	}
	return cfg
}

// steadyRetryer is the SDK's own retryer with pauses that are the same in every
// run: its random ones would let no failure replay.
func steadyRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return min(100*time.Millisecond<<attempt, 5*time.Second), nil
		})
	})
}

// Declare declares the group and everything around it, as Terraform does.
func (s *Stage) Declare(ctx context.Context) (*statetable.Table, error) { return s.declareAll(ctx) }

// Clients are what writes through the virtual address in every route table.
func (s *Stage) Clients(perTable int, pause, stagger time.Duration) *Load {
	return &Load{
		Paths: s.Landscape.RouteTables, Dial: s.dial, Clients: perTable, Pause: pause, Stagger: stagger, Clock: s.Clock, Patience: clientPatience,
	}
}

// SwitchWatch enables or disables the schedule of the watch function.
func (s *Stage) SwitchWatch(ctx context.Context, on bool) error { return s.switchWatch(ctx, on) }

// RunCommand runs a script on a node through Systems Manager, as a person would.
func (s *Stage) RunCommand(ctx context.Context, node, script string) error {
	return s.runCommand(ctx, node, script)
}

// Operate feeds an event to the group, as a command of hadr does: with the
// rights of a person, in a program that the disturber knows by a name.
func (s *Stage) Operate(ctx context.Context, program string, e failover.Event) error {
	return s.typed(ctx, program, func(ctx context.Context, r *control.Runner) error {
		_, err := r.Run(ctx, Group, e)
		return err
	})
}

// Release ends the fence of a node at a person's word.
func (s *Stage) Release(ctx context.Context, program, node string) error {
	return s.typed(ctx, program, func(ctx context.Context, r *control.Runner) error {
		_, err := r.Release(ctx, Group, node, "ann", "its partner is gone")
		return err
	})
}

func (s *Stage) typed(ctx context.Context, program string, command func(context.Context, *control.Runner) error) error {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cfg := s.Sandbox.Config(Region)
	network, died := s.enlist(program, kill, s.Server.RoundTripper())
	cfg.HTTPClient, cfg.Retryer = &http.Client{Transport: network}, steadyRetryer
	runner, err := awsrunner.New(cfg, TableName, s.Clock, slog.New(slog.DiscardHandler)).Group(ctx, Group)
	if err == nil {
		err = command(ctx, runner)
	}
	if died() {
		return errors.New("the terminal was closed")
	}
	return err
}

// Owners returns where the VIP leads in each route table: "node a", ...
func (s *Stage) Owners(ctx context.Context) (map[string]string, error) {
	return newWatcher(s, nil, coreGroup, nil, nil).routes(ctx)
}

// NodeName is what the database of a node calls itself.
func (s *Stage) NodeName(node string) string { return nodeName(node, s) }
