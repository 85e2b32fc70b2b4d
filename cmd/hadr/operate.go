package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func statusCommand(o *options) *cobra.Command {
	return groupArg("status GROUP", "Show who is primary, what runs and what is wrong", "",
		func(cmd *cobra.Command, s *session, group string) error {
			ctx := cmd.Context()
			state, err := s.table.Load(ctx, group)
			if err != nil {
				return err
			}
			st := status{state: state, nodes: map[string]failover.Observation{}, owners: map[string]string{}, now: s.clock.Now()}
			for _, n := range state.Config.Nodes {
				seen, err := s.table.Node(ctx, group, n.ID)
				if err != nil && !errors.Is(err, control.ErrNotFound) {
					return err
				}
				if err == nil {
					st.nodes[n.ID] = seen
				}
			}
			runner, err := s.runners.Group(ctx, group)
			if err != nil {
				return err
			}
			for _, table := range state.Config.Routes {
				owner, err := runner.Routes.Owner(ctx, table, state.Config.VIP)
				if err != nil {
					owner = err.Error()
				}
				st.owners[table] = owner
			}
			printStatus(cmd.OutOrStdout(), st)
			return nil
		}, o)
}

func historyCommand(o *options) *cobra.Command {
	limit := 50
	cmd := groupArg("history GROUP", "Show what happened and why", "",
		func(cmd *cobra.Command, s *session, group string) error {
			if limit < 1 {
				return fmt.Errorf("--limit %d: want at least 1", limit)
			}
			entries, err := s.table.History(cmd.Context(), group, limit)
			if err != nil {
				return err
			}
			if len(entries) == 0 { // of a group that exists?
				if _, err := s.table.Load(cmd.Context(), group); err != nil {
					return err
				}
			}
			slices.Reverse(entries) // newest last, as on a terminal
			printHistory(cmd.OutOrStdout(), entries)
			return nil
		}, o)
	cmd.Flags().IntVar(&limit, "limit", limit, "newest entries to show")
	return cmd
}

func takeoverCommand(o *options) *cobra.Command {
	var ask asking
	var loss bool
	cmd := groupArg("takeover GROUP", "Take a failed primary over now",
		`Take a failed primary over now. Your word is the proof: not asked are policy and
cool-down, whether the primary still commits or was stopped in order, and for a
second signal. A primary that works is stopped by this. A primary that waits for
its standby, and a standby that could lose a commit, are refused all the same.

With --allow-data-loss the standby is promoted BY FORCE whatever it lacks:
commits that clients were told of may be lost. First look whether
"hadr takeover-after-window" proves that nothing is, and whether the old primary
can be started again.`,
		func(cmd *cobra.Command, s *session, group string) error {
			force := failover.WithinWindow
			if loss {
				force = failover.DataLoss
			}
			return ask.run(cmd, s, group, force)
		}, o)
	ask.flags(cmd)
	cmd.Flags().BoolVar(&loss, "allow-data-loss", false, "promote by force although acknowledged commits may be lost")
	return cmd
}

func rejoinCommand(o *options) *cobra.Command {
	var node string
	cmd := groupArg("rejoin GROUP", "Bring an old primary back as standby",
		`Start the machine of a fenced node, start its database as standby of the
primary and wait until it is back in peer state. The fence ends only then.`,
		func(cmd *cobra.Command, s *session, group string) error {
			now := s.clock.Now()
			r, err := s.run(cmd.Context(), group, failover.RejoinAsked{
				At: now, Node: node, OperationID: awsrunner.OperationID(now), Actor: actor(),
			})
			return tell(cmd, r, err)
		}, o)
	cmd.Flags().StringVar(&node, "node", "", "node to bring back")
	require(cmd, "node")
	return cmd
}

func resumeCommand(o *options) *cobra.Command {
	return groupArg("resume GROUP", "Go on with a blocked or interrupted operation",
		"Go on with a blocked operation after you did what it asked for, or with one whose runner died.",
		func(cmd *cobra.Command, s *session, group string) error {
			r, err := s.run(cmd.Context(), group, failover.Retried{At: s.clock.Now(), Actor: actor()})
			return tell(cmd, r, err)
		}, o)
}

func cancelCommand(o *options) *cobra.Command {
	return groupArg("cancel GROUP", "Give a blocked operation up",
		"Give a blocked operation up, where that leaves one clear primary.",
		func(cmd *cobra.Command, s *session, group string) error {
			r, err := s.run(cmd.Context(), group, failover.Cancelled{At: s.clock.Now(), Actor: actor()})
			return tell(cmd, r, err)
		}, o)
}

func maintenanceCommand(o *options) *cobra.Command {
	var on, off bool
	var length time.Duration
	var reason string
	cmd := groupArg("maintenance GROUP", "Switch automatic action off or on",
		`Switch automatic action off (--on) or on again (--off). An operation that has
started is finished all the same. Until maintenance ends takeover, switchover,
approve and rejoin are refused, too; routes that go astray are not led back, and a
fenced old primary that somebody starts is not stopped again.`,
		func(cmd *cobra.Command, s *session, group string) error {
			if length < 0 || (off && length > 0) {
				return fmt.Errorf("--for %s: want a time from now, such as 2h, together with --on", length)
			}
			m := failover.Maintenance{On: on, Reason: reason}
			if on && length > 0 {
				m.Until = s.clock.Now().Add(length)
			}
			if err := s.table.SetMaintenance(cmd.Context(), group, m); err != nil {
				return err
			}
			if on {
				fmt.Fprintf(cmd.OutOrStdout(), "Group %s is in maintenance: nothing is done automatically. End it with: hadr maintenance %s --off\n", group, group)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Group %s is out of maintenance.\n", group)
			return nil
		}, o)
	cmd.Flags().BoolVar(&on, "on", false, "begin maintenance")
	cmd.Flags().BoolVar(&off, "off", false, "end maintenance")
	cmd.Flags().DurationVar(&length, "for", 0, "end it by itself after this time")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.MarkFlagsOneRequired("on", "off")
	cmd.MarkFlagsMutuallyExclusive("on", "off")
	return cmd
}

// tell prints how a run ended. A refused or blocked one is an error for the
// shell.
func tell(cmd *cobra.Command, r control.Result, err error) error {
	if r.Last != nil {
		printEntry(cmd.OutOrStdout(), *r.Last)
	}
	if err != nil {
		return err
	}
	if r.Last == nil {
		fmt.Fprintln(cmd.OutOrStdout(), "Nothing to do.")
		return nil
	}
	switch {
	case r.Last.Event == "refused", r.Last.Event == "blocked", r.Last.Outcome == failover.NeedsReseed, r.Last.Outcome == "given_up":
		return errors.New("not done, see above")
	case r.Last.Event == "started", r.Last.Event == "step":
		return fmt.Errorf("another runner goes on with it: follow it with: hadr status %s", r.State.Group)
	}
	return nil
}
