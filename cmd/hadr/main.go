// Command hadr is the operator's command line: it shows and moves failover
// groups, and runs the embedded sandbox and the demo.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hadr:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:           "hadr",
		Short:         "Take over failed databases on AWS without cluster software",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	o.flags(cmd)
	cmd.AddCommand(
		statusCommand(o), historyCommand(o), takeoverCommand(o), afterWindowCommand(o), switchoverCommand(o), approveCommand(o), acknowledgeCommand(o), rejoinCommand(o), releaseCommand(o), resumeCommand(o), cancelCommand(o), maintenanceCommand(o),
		explainCommand(), simulateCommand(o), sandboxCommand(), demoCommand(),
	)
	return cmd
}
