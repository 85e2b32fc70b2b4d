// Command hadr-agent measures the SQL round trip on a database host and tells
// CloudWatch and the record about it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hadr-agent:", err)
		os.Exit(1)
	}
}

// node says which node of which group this host is.
type node struct{ table, group, id, region string }

func command() *cobra.Command {
	n := node{}
	cmd := &cobra.Command{
		Use:           "hadr-agent",
		Short:         "Measure the SQL round trip of the database on this host",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return n.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&n.table, "table", os.Getenv("HADR_TABLE"), "name of the state table (HADR_TABLE)")
	f.StringVar(&n.group, "group", os.Getenv("HADR_GROUP"), "failover group (HADR_GROUP)")
	f.StringVar(&n.id, "node", os.Getenv("HADR_NODE"), "node of the group that this host is (HADR_NODE)")
	f.StringVar(&n.region, "region", "", "AWS Region (AWS_REGION)")
	return cmd
}

func (n node) run(ctx context.Context) error {
	if n.table == "" || n.group == "" || n.id == "" {
		return errors.New("table, group and node are needed: set HADR_TABLE, HADR_GROUP and HADR_NODE, or the flags of these names")
	}
	c, err := clock.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	cfg, err := awsclient.Load(ctx, awsclient.Options{Version: version, Region: n.region})
	if err != nil {
		return err
	}
	server := agent.NewServerClock(http.DefaultTransport, c)
	cfg.HTTPClient = &http.Client{Transport: server}
	shell := agent.Shell{}
	a := &agent.Agent{
		Group:    n.group,
		Node:     n.id,
		Record:   statetable.New(dynamodb.NewFromConfig(cfg), n.table, c),
		Metrics:  agent.CloudWatch{API: cloudwatch.NewFromConfig(cfg)},
		Database: db2.Local{Group: n.group, Shell: shell, Clock: c},
		Endpoint: agent.Addresses{Shell: shell},
		Offset:   server,
		Clock:    c,
		Log:      slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	return a.Run(ctx)
}
