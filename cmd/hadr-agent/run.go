package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// node says which node of which group this host is.
type node struct{ table, group, id, region, metrics string }

func (n node) check() error {
	if n.table == "" || n.group == "" || n.id == "" {
		return errors.New("table, group and node are needed: set HADR_TABLE, HADR_GROUP and HADR_NODE, or the flags of these names")
	}
	return nil
}

func (n node) run(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	c, err := clock.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	cfg, err := awsclient.Load(ctx, awsclient.Options{Version: version, Region: n.region, OnMachine: true})
	if err != nil {
		return err
	}
	server := agent.NewServerClock(http.DefaultTransport, c)
	cfg.HTTPClient = &http.Client{Transport: server}
	manager, err := newManager(c)
	if err != nil {
		return err
	}
	a := &agent.Agent{
		Group:    n.group,
		Node:     n.id,
		Record:   statetable.New(dynamodb.NewFromConfig(cfg), n.table, c),
		Metrics:  agent.CloudWatch{API: cloudwatch.NewFromConfig(cfg)},
		Open:     func(kind string) (agent.Database, error) { return n.database(kind, c) },
		Endpoint: endpoint(),
		Offset:   server,
		Takeover: agent.Function{API: lambda.NewFromConfig(cfg)},
		Vow:      n.vow(os.Getenv("HADR_ROOT"), c),
		Watchdog: clock.Virtual(c, manager.watchdog),
		Clock:    c,
		Log:      slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	return n.serve(ctx, a, manager)
}

// serve runs the agent with what tells others of it.
func (n node) serve(ctx context.Context, a *agent.Agent, m manager) error {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	if n.metrics != "" {
		shut, err := serveMetrics(n.metrics, a)
		if err != nil {
			return err
		}
		defer shut()
	}
	wg.Go(func() { m.tell(ctx, a) })
	err := a.Run(ctx)
	if ctx.Err() != nil { // it was stopped, and does not start again by itself
		a.Leave(context.WithoutCancel(ctx))
	}
	return err
}

// database is the one on this host, of the engine that the record names.
func (n node) database(kind string, c clock.Clock) (agent.Database, error) {
	shell := agent.Shell{}
	switch kind {
	case engine.Db2:
		return db2.Local{Group: n.group, Shell: shell, Clock: c, Resident: &db2.Resident{Clock: c, Start: func(script string) (db2.Child, error) {
			return shell.Start(script)
		}}}, nil
	case engine.PostgreSQL:
		return postgresql.Fencing{Local: postgresql.Local{
			Group: n.group, Node: n.id, Root: os.Getenv("HADR_ROOT"), Shell: shell, Clock: c, Session: &postgresql.Session{},
		}}, nil
	}
	return nil, fmt.Errorf("this agent knows no engine %q", kind)
}

// endpoint changes the addresses of this host. In a directory that stands for a
// host, only the programs of that host know them.
func endpoint() agent.Endpoint {
	if os.Getenv("HADR_ROOT") != "" {
		return agent.Addresses{Shell: agent.Shell{}}
	}
	return agent.Netlink{}
}

// tellPause lies between two lines of status.
const tellPause = 5 * time.Second

var errUnsafeAddress = errors.New("want an address of the loopback interface, such as 127.0.0.1:9788")
