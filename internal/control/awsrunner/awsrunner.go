// Package awsrunner builds runners on AWS: the same for functions and for the
// operator's command line.
package awsrunner

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/oklog/ulid/v2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/fence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/notify"
	"github.com/hadr-dev/terraform-provider-hadr/internal/redirect"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Factory makes runners for the groups of one state table.
type Factory struct {
	table  *statetable.Table
	ec2    *ec2.Client
	alarms *evidence.Alarms
	ssm    *command.Runner
	sns    *sns.Client
	clock  clock.Clock
	log    *slog.Logger
}

// New returns a factory for a state table, given by name or ARN.
func New(cfg aws.Config, table string, c clock.Clock, log *slog.Logger) *Factory {
	return &Factory{
		table:  statetable.New(dynamodb.NewFromConfig(cfg), table, c),
		ec2:    ec2.NewFromConfig(cfg),
		alarms: evidence.NewAlarms(cloudwatch.NewFromConfig(cfg)),
		ssm:    command.NewRunner(ssm.NewFromConfig(cfg), c),
		sns:    sns.NewFromConfig(cfg),
		clock:  c,
		log:    log,
	}
}

// Table returns the record.
func (f *Factory) Table() *statetable.Table { return f.table }

// Group returns a runner with the adapters that the group's declaration asks
// for. It returns control.ErrNotFound for a group that is not declared.
func (f *Factory) Group(ctx context.Context, group string) (*control.Runner, error) {
	c, err := f.table.ReadConfig(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("reading the declaration of group %s: %w", group, err)
	}
	database, err := engine.New(c.Engine, f.ssm, f.clock)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	tableARN := c.Settings["table_arn"]
	runner := &control.Runner{
		Store:     f.table,
		Instances: fence.NewInstances(f.ec2, f.clock, tableARN, group),
		Engine:    database,
		Routes: redirect.NewRoutes(f.ec2, f.ssm, f.clock, redirect.Options{
			TableARN: tableARN, Group: group, Document: c.Settings["path_check_document"], Version: c.Settings["path_check_document_version"],
		}),
		Alarms: f.alarms,
		Leases: f.table,
		Clock:  f.clock,
		Log:    f.log,
	}
	if topics := notify.Declared(c.Settings); len(topics) > 0 {
		runner.Notifier = notify.Topics{API: f.sns, ARNs: topics}
	}
	return runner, nil
}

// OperationID returns a new id that sorts by time.
func OperationID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String()
}
