package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// NewVirtualStage builds a stage without processes and sockets: the same
// handler, agent and scripts as goroutines of this process. It is made for
// testing/synctest, where the system's clock is virtual.
func NewVirtualStage(ctx context.Context, dir string, log *slog.Logger) (*Stage, error) {
	return newVirtualStage(ctx, &Stage{Dir: dir}, log, nil)
}

// newVirtualStage lets name make the identifiers of AWS, random ones if nil.
func newVirtualStage(ctx context.Context, s *Stage, log *slog.Logger, name func(digits int) string) (*Stage, error) {
	s.Clock, s.virtual = clock.System(), true
	o := sandbox.Options{
		Clock: s.Clock, Dir: s.Dir, Log: log,
		Functions: map[string]lambda.Handler{"takeover": s.takeover, "watch": s.watch},
		Commands:  map[string]hosts.CommandFunc{"hadr-agent": s.agent},
	}
	for _, t := range s.tuned {
		if t.Sandbox != nil {
			t.Sandbox(&o)
		}
	}
	sb, err := sandbox.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	s.Sandbox = sb
	if name != nil {
		s.World.Seed(name)
	}
	if err := s.build(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// as is the configuration of somebody with credentials of the sandbox.
func (s *Stage) as(key, secret, token string, transport http.RoundTripper) aws.Config {
	cfg := s.Config(Region)
	cfg.Credentials = credentials.NewStaticCredentialsProvider(key, secret, token)
	cfg.HTTPClient = &http.Client{Transport: transport}
	if s.disturber != nil {
		cfg.Retryer = steadyRetryer
	}
	return cfg
}

// agent is the program hadr-agent of a host.
func (s *Stage) agent(ctx context.Context, c *hosts.Call) int {
	// The role's credentials, as the host's metadata service hands them out.
	role, err := s.World.Identity.InstanceProfileRole(landscape.Role)
	if err == nil {
		creds, sessionErr := s.World.Identity.ServiceSession(role, "ec2.amazonaws.com", c.Getenv("AWS_EC2_INSTANCE_ID"))
		if err = sessionErr; err == nil {
			network, _ := s.enlist("agent-"+c.Getenv("HADR_NODE"), func() {}, s.Server.RoundTripper())
			server := agent.NewServerClock(network, c.Clock)
			cfg := s.as(creds.AccessKey, creds.SecretKey, creds.SessionToken, server)
			shell := hosts.Shell{Call: c}
			a := &agent.Agent{
				Group: c.Getenv("HADR_GROUP"), Node: c.Getenv("HADR_NODE"),
				Record:   statetable.New(dynamodb.NewFromConfig(cfg), c.Getenv("HADR_TABLE"), c.Clock),
				Metrics:  agent.CloudWatch{API: cloudwatch.NewFromConfig(cfg)},
				Database: db2.Local{Group: c.Getenv("HADR_GROUP"), Shell: shell, Clock: c.Clock},
				Takeover: agent.Function{API: awslambda.NewFromConfig(cfg)},
				Endpoint: agent.Addresses{Shell: shell}, Offset: server, Clock: c.Clock,
				// WatchdogSec of the unit. A goroutine does not hang, so that nothing
				// stands behind the promise here but this.
				Watchdog: 30 * time.Second,
				Log:      slog.New(slog.NewJSONHandler(c.Stderr, nil)),
			}
			err = a.Run(ctx)
			if errors.Is(context.Cause(ctx), hosts.ErrTerminated) {
				a.Leave(context.WithoutCancel(ctx))
			}
		}
	}
	if err != nil {
		fmt.Fprintln(c.Stderr, "hadr-agent:", err)
		return 1
	}
	return 0
}
