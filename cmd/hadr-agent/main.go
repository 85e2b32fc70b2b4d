// Command hadr-agent runs on a database host: it measures the round trip of
// SQL, keeps or watches the group's lease, and holds the virtual address.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	debug.SetGCPercent(25) // a guest on a database host takes little memory rather than little time
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hadr-agent:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	n := node{}
	cmd := &cobra.Command{
		Use:   "hadr-agent",
		Short: "Watch the database on this host and keep its group's lease",
		Long: "hadr-agent measures the SQL round trip of the database on this host, renews or watches the group's lease,\n" +
			"holds the virtual address while its node is primary, and ends a primary that is cut off from everybody.\n" +
			"What it measures is declared with Terraform; which node it is, by flags or their variables.",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return n.run(cmd.Context()) },
	}
	f := cmd.PersistentFlags()
	f.StringVar(&n.table, "table", os.Getenv("HADR_TABLE"), "name of the state table (HADR_TABLE)")
	f.StringVar(&n.group, "group", os.Getenv("HADR_GROUP"), "failover group (HADR_GROUP)")
	f.StringVar(&n.id, "node", os.Getenv("HADR_NODE"), "node of the group that this host is (HADR_NODE)")
	f.StringVar(&n.region, "region", "", "AWS Region (AWS_REGION; by default that of this instance)")
	cmd.Flags().StringVar(&n.metrics, "metrics", os.Getenv("HADR_METRICS"), "loopback address of the Prometheus metrics, such as 127.0.0.1:9788 (HADR_METRICS); \"\" for none")
	cmd.AddCommand(stopping(&n), fenceCommand(&n))
	return cmd
}
