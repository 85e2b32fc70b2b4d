package main

import (
	"github.com/spf13/cobra"
)

func simulateCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Answer questions about a configuration before it is applied",
	}
	cmd.AddCommand(simulateDetectionCommand(o))
	return cmd
}
