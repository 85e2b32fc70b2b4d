package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
)

func explainPostgreSQLCommand() *cobra.Command {
	var node string
	settings := map[string]string{
		// Where the server is matters to nobody here.
		"data_directory": "/var/lib/postgresql", "bin_directory": "/usr/bin",
	}
	cmd := &cobra.Command{
		Use:   "postgresql FILE",
		Short: "Explain the output of the document postgresql_status: role, log, proof, and what a takeover would lose",
		Long: `Explain the output of the SSM document of kind postgresql_status, as
aws ssm get-command-invocation has it; FILE - is standard input:

  hadr explain postgresql --node b --mode sync status.txt

Times are on the clock of the node.`,
		Args: oneFile,
	}
	f := cmd.Flags()
	f.StringVar(&node, "node", "b", "node that printed it")
	mode := f.String("mode", "sync", "replication_mode of the group: sync or async")
	rpo := f.String("max-rpo", "420", "max_rpo_seconds of the group, where it is asynchronous")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		output, err := readOutput(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		settings["replication_mode"], settings["max_rpo_seconds"] = *mode, *rpo
		x, err := postgresql.Explain(output, node, settings)
		if err != nil {
			return err
		}
		if x.Next != "" && x.Role == "" && !x.OK && !*asJSON {
			return fmt.Errorf("%s: %s; next: %s", args[0], x.Error, x.Next)
		}
		return explain(cmd.OutOrStdout(), x, *asJSON)
	}
	return cmd
}
