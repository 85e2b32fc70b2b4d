package main

import (
	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func switchoverCommand(o *options) *cobra.Command {
	var to, reason string
	cmd := groupArg("switchover GROUP", "Change the roles in order, without loss",
		`Make the other node primary while both are well: the primary ships the rest of
its log and becomes standby. Nothing is stopped. This is also the way back after
a takeover, once the old primary has rejoined. The credentials must be allowed to
run the document for switchovers.`,
		func(cmd *cobra.Command, s *session, group string) error {
			now := s.clock.Now()
			r, err := s.run(cmd.Context(), group, failover.SwitchAsked{
				At: now, To: to, OperationID: awsrunner.OperationID(now), Actor: actor(), Reason: reason,
			})
			return tell(cmd, r, err)
		}, o)
	cmd.Flags().StringVar(&to, "to", "", "node that becomes primary")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the history")
	require(cmd, "to", "reason")
	return cmd
}

func approveCommand(o *options) *cobra.Command {
	var operation string
	cmd := groupArg("approve GROUP", "Agree to a takeover that waits for approval",
		`Agree to the takeover that the policy "approval" holds back. It is bound to its
operation and epoch and ends before the peer window does; every guard is asked
again. "hadr status GROUP" names the operation.`,
		func(cmd *cobra.Command, s *session, group string) error {
			r, err := s.run(cmd.Context(), group, failover.Approved{At: s.clock.Now(), OperationID: operation, Actor: actor()})
			return tell(cmd, r, err)
		}, o)
	cmd.Flags().StringVar(&operation, "operation", "", "operation to approve")
	require(cmd, "operation")
	return cmd
}

func acknowledgeCommand(o *options) *cobra.Command {
	return groupArg("acknowledge GROUP", "End the cool-down after a takeover",
		"Say that you have seen the last takeover, so that the next failure need not wait for the end of the cool-down.",
		func(cmd *cobra.Command, s *session, group string) error {
			r, err := s.run(cmd.Context(), group, failover.Acknowledged{At: s.clock.Now(), Actor: actor()})
			return tell(cmd, r, err)
		}, o)
}
