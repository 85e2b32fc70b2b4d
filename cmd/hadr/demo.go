package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
)

func demoCommand() *cobra.Command {
	o := demo.Options{}
	var part, scenario, result, html string
	var negative, list, processes, logs bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job in the sandbox and judge it",
		Long: `Show the main job in the sandbox: terraform apply, the primary's host vanishes,
the VIP moves, the plan is empty. Every commit that was acknowledged is audited.
Ends with an error if anything is not as it must be.

With --scenario another story is told, in virtual time and without Terraform;
--list names them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				for _, name := range demo.ScenarioNames() {
					fmt.Fprintln(cmd.OutOrStdout(), name)
				}
				return nil
			}
			if err := demo.CheckSpeed(o.Speed); err != nil {
				return err
			}
			if o.Clients < 1 {
				return fmt.Errorf("--clients %d: want at least 1; without clients nothing shows a lost commit", o.Clients)
			}
			if processes && scenario == "" {
				return errors.New("--processes plays a scenario: name it with --scenario (hadr demo --list names them); the whole demo always runs processes")
			}
			dir, err := os.MkdirTemp("", "hadr-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir) //nolint:errcheck // what is left lies with other temporary files
			o.Dir, o.Listen, o.Out = dir, "127.0.0.1:0", cmd.OutOrStdout()
			var w io.Writer = io.Discard
			if logs {
				w = cmd.ErrOrStderr()
			}
			o.Log = slog.New(slog.NewTextHandler(w, nil))
			o.StageOptions.Log = o.Log
			if negative && !cmd.Flags().Changed("speed") {
				o.Speed = 20 // most of it is waiting for the window's end
			}
			run, err := pickDemo(part, negative)
			if scenario != "" {
				run, err = pickScenario(scenario, processes)
			}
			if err != nil {
				return err
			}
			r, err := run(cmd.Context(), o)
			if result != "" {
				err = errors.Join(err, r.Write(result))
			}
			if err != nil {
				return err
			}
			if html != "" {
				if err := r.WritePage(html); err != nil {
					return err
				}
			}
			r.Print(cmd.OutOrStdout())
			if len(r.Deviations) > 0 {
				return fmt.Errorf("%d deviations", len(r.Deviations))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&part, "part", "", "core: a takeover without Lambda and Terraform")
	f.StringVar(&scenario, "scenario", "", "play this scenario (--list names them)")
	f.BoolVar(&list, "list", false, "name the scenarios and do nothing else")
	f.BoolVar(&processes, "processes", false, "play the scenario with Terraform and real processes")
	f.BoolVar(&negative, "negative-control", false, "force a takeover outside the peer window; the audit must see lost commits")
	f.StringVar(&result, "json", "", "write the result to this file as JSON")
	f.StringVar(&html, "html", "", "write the result to this file as a page with a timeline")
	f.Float64Var(&o.Speed, "speed", 5, "virtual seconds in a real one")
	f.IntVar(&o.Clients, "clients", 8, "clients that write through each route table")
	f.StringVar(&o.Source, "source", ".", "root of the source tree, for modules and examples")
	f.StringVar(&o.Provider, "provider", beside("terraform-provider-hadr"), "binary of the provider")
	f.StringVar(&o.Agent, "agent", beside("hadr-agent"), "binary of the node agent")
	f.StringVar(&o.Host, "host", beside("hadr-host"), "binary of the hosts' programs")
	cmd.MarkFlagsMutuallyExclusive("scenario", "part", "negative-control", "list")
	f.BoolVar(&o.Verbose, "terraform-output", false, "show what terraform prints")
	f.BoolVar(&logs, "logs", false, "show the logs of the sandbox on standard error")
	return cmd
}

func pickDemo(part string, negative bool) (func(context.Context, demo.Options) (demo.Result, error), error) {
	switch {
	case negative && part != "":
		return nil, errors.New("--negative-control has no parts")
	case negative:
		return demo.NegativeControl, nil
	case part == "core":
		return demo.Core, nil
	case part == "":
		return demo.Full, nil
	}
	return nil, fmt.Errorf("no part %q: want core, or none for the whole demo", part)
}

func pickScenario(name string, processes bool) (func(context.Context, demo.Options) (demo.Result, error), error) {
	sc, err := demo.ScenarioOf(name)
	if err != nil {
		return nil, err
	}
	if processes {
		return sc.RunProcesses, nil
	}
	return sc.Run, nil
}
