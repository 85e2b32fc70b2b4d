package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// session is what an operator's command works with: AWS by the conventions of
// its own tools, and the record.
type session struct {
	clock   clock.Clock
	table   *statetable.Table
	runners *awsrunner.Factory
}

// options are the flags that all operator's commands share.
type options struct {
	table   string
	region  string
	profile string
	verbose bool
}

func (o *options) flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&o.table, "table", envOr("HADR_TABLE", "hadr"), "name or ARN of the state table (HADR_TABLE)")
	f.StringVar(&o.region, "region", "", "AWS Region (AWS_REGION)")
	f.StringVar(&o.profile, "profile", "", "profile of the shared AWS configuration (AWS_PROFILE)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log what is done to standard error")
}

func (o *options) open(ctx context.Context) (*session, error) {
	c, err := clock.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	cfg, err := awsclient.Load(ctx, awsclient.Options{Version: version, Region: o.region, Profile: o.profile})
	if err != nil {
		return nil, err
	}
	level := slog.LevelError
	if o.verbose {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	runners := awsrunner.New(cfg, o.table, c, log)
	return &session{clock: c, table: runners.Table(), runners: runners}, nil
}

// run feeds an event to a group.
func (s *session) run(ctx context.Context, group string, e failover.Event) (control.Result, error) {
	runner, err := s.runners.Group(ctx, group)
	if err != nil {
		return control.Result{}, err
	}
	return runner.Run(ctx, group, e)
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// actor names who runs a command, for the history.
func actor() string {
	u, err := user.Current()
	if err != nil {
		return "operator"
	}
	host, err := os.Hostname()
	if err != nil {
		return u.Username
	}
	return u.Username + "@" + host
}

func groupArg(use, short, long string, run func(cmd *cobra.Command, s *session, group string) error, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s wants the name of one group, such as: hadr %[1]s orders", cmd.Name())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := o.open(cmd.Context())
			if err != nil {
				return err
			}
			err = run(cmd, s, args[0])
			if awsclient.Code(err) == "ResourceNotFoundException" {
				err = fmt.Errorf("there is no table %s in this Region and account: name it with --table or HADR_TABLE (terraform output table_name): %w", o.table, err)
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", cmd.Name(), args[0], err)
			}
			return nil
		},
	}
}
