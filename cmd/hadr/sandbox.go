package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/control"
)

// sandboxOptions are the flags of hadr sandbox.
type sandboxOptions struct {
	demo.StageOptions
	clock, now  string
	tfvars, dns string
}

// The values of --clock.
const (
	clockRuns   = "running"
	clockManual = "manual"
)

// gcPercent keeps the sandbox small beside what else runs on a developer's
// machine: most of its memory is the program itself.
const gcPercent = 50

func sandboxCommand() *cobra.Command {
	var o sandboxOptions
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve AWS and a Db2 pair on loopback",
		Long: `Serve AWS and a Db2 pair on loopback: a VPC over two zones, two hosts with Db2
HADR in peer state, two application hosts, two route tables and an instance
profile. With --tfvars their ids are written as Terraform variables of
examples/complete/db2-hadr.

It prints the environment that terraform, hadr and any AWS client need to work
with it. Faults, throttling and the clock are moved through /_sandbox/ on the
same address. With --clock manual time stands still until
POST /_sandbox/clock {"advance":"60s"}, which answers when everything due by
then has happened. docs/guides/sandbox.md goes through all that step by step.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start, err := o.start(cmd.Flags().Changed("speed"))
			if err != nil {
				return err
			}
			if o.Dir == "" {
				dir, err := os.MkdirTemp("", "hadr-sandbox-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir) //nolint:errcheck // what is left lies with other temporary files
				o.Dir = dir
			}
			o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			debug.SetGCPercent(gcPercent)
			s, err := start(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			if err := o.announce(cmd.Context(), cmd.OutOrStdout(), s); err != nil {
				return err
			}
			<-cmd.Context().Done()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4566", "address of the endpoint")
	f.Float64Var(&o.Speed, "speed", 1, "virtual seconds in a real one")
	f.StringVar(&o.clock, "clock", clockRuns, "running, or manual: time moves only by POST /_sandbox/clock")
	f.StringVar(&o.now, "now", "", "time at which a manual clock starts, such as 2026-11-29T03:00:00Z (default: the present)")
	f.BoolVar(&o.Throttled, "throttle", false, "refuse calls that come more often than AWS documents")
	f.StringVar(&o.Dir, "dir", "", "directory for the hosts' disks (default: temporary)")
	f.StringVar(&o.tfvars, "tfvars", "", "file to write the ids of the landscape to, ending in .tfvars")
	f.StringVar(&o.dns, "dns", "", "address of a name server for the hosted zones of Route 53, such as 127.0.0.1:5353 (default: none)")
	f.StringVar(&o.Agent, "agent", beside("hadr-agent"), "binary of the node agent")
	f.StringVar(&o.Host, "host", beside("hadr-host"), "binary of the hosts' programs")
	return cmd
}

// start checks the flags and returns what starts the sandbox.
func (o *sandboxOptions) start(speedGiven bool) (func(context.Context) (*demo.Stage, error), error) {
	if err := onLoopback(o.Listen); err != nil {
		return nil, err
	}
	switch {
	case o.clock != clockRuns && o.clock != clockManual:
		return nil, fmt.Errorf("--clock %s: want %s or %s", o.clock, clockRuns, clockManual)
	case o.clock == clockRuns && o.now != "":
		return nil, fmt.Errorf("--now %s: a clock that runs starts at the present; give --clock %s, too", o.now, clockManual)
	case o.clock == clockRuns:
		if err := demo.CheckSpeed(o.Speed); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (*demo.Stage, error) { return demo.NewStage(ctx, o.StageOptions) }, nil
	case speedGiven:
		return nil, fmt.Errorf("--speed %g: a manual clock has no speed; leave out one of --speed and --clock", o.Speed)
	}
	now := time.Now()
	if o.now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return nil, fmt.Errorf("--now %s: want a time such as 2026-11-29T03:00:00Z", o.now)
		}
	}
	return func(ctx context.Context) (*demo.Stage, error) {
		return demo.NewManualStage(ctx, o.StageOptions, now)
	}, nil
}

// announce prints what one needs to use the sandbox.
func (o *sandboxOptions) announce(ctx context.Context, out io.Writer, s *demo.Stage) error {
	if o.tfvars != "" {
		if err := s.Landscape.WriteTFVars(o.tfvars); err != nil {
			return err
		}
	}
	paths, err := s.Paths()
	if err != nil {
		return err
	}
	if o.clock == clockManual {
		fmt.Fprintf(out, "AWS at %s. It is %s and stays so until you POST to %s%sclock.\n", s.Endpoint, s.Clock.Now().Format(time.RFC3339), s.Endpoint, control.Path)
	} else {
		fmt.Fprintf(out, "AWS at %s, %g times as fast as real time.\n", s.Endpoint, o.Speed)
	}
	fmt.Fprintf(out, "Faults, throttling and clock: %s%s\n", s.Endpoint, control.Path)
	for _, e := range s.TerraformEnv() {
		fmt.Fprintln(out, "export", e)
	}
	for _, node := range []string{"a", "b"} {
		h := s.Landscape.Databases[node]
		fmt.Fprintf(out, "node %s: %s %s in %s\n", node, h.InstanceID, h.PrivateIP, h.AvailabilityZone)
	}
	for table, address := range paths {
		fmt.Fprintf(out, "%s:%d as clients behind %s see it: %s\n", demo.VIP, demo.Port, table, address)
	}
	if o.dns != "" {
		names, err := s.Route53.Listen(ctx, o.dns)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = names.Close() }) // the process ends
		fmt.Fprintf(out, "Name server of the hosted zones: %s (UDP and TCP)\n", names.Address())
	}
	if o.tfvars != "" {
		fmt.Fprintf(out, "Terraform variables: %s\n", o.tfvars)
	}
	fmt.Fprintln(out, "Ready. Stop it with Ctrl-C.")
	return nil
}

// onLoopback refuses an address that others could reach: the sandbox runs
// scripts for whoever asks.
func onLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %s: want an address and a port, such as 127.0.0.1:4566", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %s: the sandbox listens on loopback alone, such as 127.0.0.1:4566", address)
}

// beside returns the path of a program in the directory of this one.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}
