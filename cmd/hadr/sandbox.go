package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
)

func sandboxCommand() *cobra.Command {
	var o demo.StageOptions
	var tfvars, dns string
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve AWS and a Db2 pair on loopback",
		Long: `Serve AWS and a Db2 pair on loopback: a VPC over two zones, two hosts with Db2
HADR in peer state, two application hosts, two route tables and an instance
profile. With --tfvars their ids are written as Terraform variables of
examples/complete/db2-hadr.

It prints the environment that terraform, hadr and any AWS client need to work
with it. docs/guides/sandbox.md goes through a failure step by step.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := demo.CheckSpeed(o.Speed); err != nil {
				return err
			}
			if err := onLoopback(o.Listen); err != nil {
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
			s, err := demo.NewStage(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer s.Close()
			if tfvars != "" {
				if err := s.Landscape.WriteTFVars(tfvars); err != nil {
					return err
				}
			}
			paths, err := s.Paths()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "AWS at %s, %g times as fast as real time.\n", s.Endpoint, o.Speed)
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
			if dns != "" {
				names, err := s.Route53.Listen(cmd.Context(), dns)
				if err != nil {
					return err
				}
				defer names.Close() //nolint:errcheck // the process ends
				fmt.Fprintf(out, "Name server of the hosted zones: %s (UDP and TCP)\n", names.Address())
			}
			if tfvars != "" {
				fmt.Fprintf(out, "Terraform variables: %s\n", tfvars)
			}
			fmt.Fprintln(out, "Ready. Stop it with Ctrl-C.")
			<-cmd.Context().Done()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4566", "address of the endpoint")
	f.Float64Var(&o.Speed, "speed", 1, "virtual seconds in a real one")
	f.StringVar(&o.Dir, "dir", "", "directory for the hosts' disks (default: temporary)")
	f.StringVar(&tfvars, "tfvars", "", "file to write the ids of the landscape to, ending in .tfvars")
	f.StringVar(&dns, "dns", "", "address of a name server for the hosted zones of Route 53, such as 127.0.0.1:5353 (default: none)")
	f.StringVar(&o.Agent, "agent", beside("hadr-agent"), "binary of the node agent")
	f.StringVar(&o.Host, "host", beside("hadr-host"), "binary of the hosts' programs")
	return cmd
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
