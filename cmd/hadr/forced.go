package main

import (
	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// afterWindowCommand is a command of its own, because what it does loses
// nothing and must not be mistaken for what does.
func afterWindowCommand(o *options) *cobra.Command {
	var ask asking
	cmd := groupArg("takeover-after-window GROUP", "Take over after the peer window, where nothing can be lost",
		`Promote a standby whose peer window is over, where the record proves that the
old primary was stopped before the window ended: then it cannot have committed
anything that the standby lacks. Without that proof nothing is done, and the
answer says what is missing.

The credentials must be allowed to run the document for forced takeovers.`,
		func(cmd *cobra.Command, s *session, group string) error {
			return ask.run(cmd, s, group, failover.AfterWindow)
		}, o)
	ask.flags(cmd)
	return cmd
}

// asking are the flags of every command that asks for a takeover.
type asking struct{ from, reason string }

func (a *asking) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.from, "from", "", "node that has failed, the present primary")
	cmd.Flags().StringVar(&a.reason, "reason", "", "why, for the history")
	require(cmd, "from", "reason")
}

func (a *asking) run(cmd *cobra.Command, s *session, group string, force failover.Force) error {
	now := s.clock.Now()
	r, err := s.run(cmd.Context(), group, failover.Asked{
		At: now, Node: a.from, OperationID: awsrunner.OperationID(now), Actor: actor(), Reason: a.reason, Force: force,
	})
	return tell(cmd, r, err)
}

func releaseCommand(o *options) *cobra.Command {
	var node, reason string
	cmd := groupArg("release GROUP", "End the fence of a node whose partner is gone",
		`End the fence of a node without a rejoin, so that its machine may be started
again. Only where the machine of the other node is stopped or terminated: while
it may run, the released node could become a second writer.`,
		func(cmd *cobra.Command, s *session, group string) error {
			runner, err := s.runners.Group(cmd.Context(), group)
			if err != nil {
				return err
			}
			r, err := runner.Release(cmd.Context(), group, node, actor(), reason)
			return tell(cmd, r, err)
		}, o)
	cmd.Flags().StringVar(&node, "node", "", "fenced node to release")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the history")
	require(cmd, "node", "reason")
	return cmd
}

// require marks flags that were defined just before.
func require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // no such flag: a mistake in this file
		}
	}
}
