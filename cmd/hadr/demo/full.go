package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// example is the configuration that the demo applies.
const example = "examples/complete/db2-hadr"

// Full shows the main job: terraform apply, the host of the primary vanishes,
// alarms and the function take over, terraform plan is empty.
func Full(ctx context.Context, o Options) (Result, error) {
	r := Result{Name: "main job", Speed: o.Speed}
	fmt.Fprintf(o.Out, "Starting AWS and a Db2 pair in the sandbox, %g times as fast as real time ...\n", o.Speed)
	s, err := NewStage(ctx, o.StageOptions)
	if err != nil {
		return r, err
	}
	defer s.Close()
	tf, declared, err := o.apply(ctx, s)
	if err != nil {
		return r, err
	}
	p, err := o.begin(ctx, s, declared.record, declared.group)
	if err != nil {
		return r, err
	}
	defer p.end()
	fmt.Fprintln(o.Out, "Clients write through the VIP. Waiting until every alarm is OK ...")
	if err := s.untilAlarmsOK(ctx); err != nil {
		return r, err
	}
	if _, err := declared.pager.pages(ctx); err != nil { // of the time before there was an agent
		return r, err
	}
	if err := p.crash(ctx, &r); err != nil {
		return r, err
	}
	if err := p.untilWritten(ctx); err != nil {
		return r, err
	}
	if err := p.judge(ctx, &r); err != nil {
		return r, err
	}
	pages, err := declared.pager.pages(ctx)
	if err != nil {
		return r, err
	}
	r.judgePages(declared.group, pages)
	fmt.Fprintln(o.Out, "terraform plan ...")
	plan, err := tf.Plan(ctx)
	if err != nil {
		return r, err
	}
	r.Plan = &plan
	r.expect(plan.Empty, "terraform plan wants to change something after the takeover")
	r.expect(len(plan.Warnings) == 1 && strings.Contains(strings.ToLower(plan.Warnings[0]), "failed over"),
		"terraform plan should give the one warning that the group is failed over, not %q", plan.Warnings)
	return r, nil
}

// declared is the group that Terraform made.
type declared struct {
	record *statetable.Table
	table  string // its name
	group  string
	pager  *pager // of the people on call
}

// apply declares the group with Terraform and configures its agents.
func (o Options) apply(ctx context.Context, s *Stage) (*Terraform, declared, error) {
	tf, err := o.terraform(s)
	if err != nil {
		return nil, declared{}, err
	}
	pager, err := s.newPager(ctx)
	if err != nil {
		return nil, declared{}, err
	}
	if err := pager.writeTFVars(filepath.Join(tf.Dir, "on-call.auto.tfvars")); err != nil {
		return nil, declared{}, err
	}
	fmt.Fprintf(o.Out, "terraform init and apply of %s ...\n", example)
	if err := tf.apply(ctx); err != nil {
		return nil, declared{}, err
	}
	group, table, err := tf.declared(ctx)
	if err != nil {
		return nil, declared{}, err
	}
	if err := s.configureAgents(ctx, table, group); err != nil {
		return nil, declared{}, err
	}
	return tf, declared{statetable.New(dynamodb.NewFromConfig(s.Config(Region)), table, s.Clock), table, group, pager}, nil
}

func (o Options) terraform(s *Stage) (*Terraform, error) {
	provider, err := filepath.Abs(o.Provider)
	if err != nil {
		return nil, err
	}
	var out io.Writer
	if o.Verbose {
		out = o.Out
	}
	tf, err := NewTerraform(o.Source, filepath.Join(s.Dir, "terraform"), provider, example, s.TerraformEnv(), out)
	if err != nil {
		return nil, err
	}
	return tf, s.Landscape.WriteTFVars(filepath.Join(tf.Dir, "landscape.auto.tfvars"))
}

func (t *Terraform) apply(ctx context.Context) error {
	if _, err := t.Run(ctx, "init", "-no-color"); err != nil {
		return err
	}
	if _, err := t.Run(ctx, "apply", "-no-color", "-auto-approve"); err != nil {
		return err
	}
	plan, err := t.Plan(ctx)
	if err != nil {
		return err
	}
	if !plan.Empty {
		return fmt.Errorf("a plan right after apply is not empty:\n%s", plan.Text)
	}
	return nil
}

// declared reads from the outputs what was declared.
func (t *Terraform) declared(ctx context.Context) (group, table string, err error) {
	outputs, err := t.Outputs(ctx)
	if err != nil {
		return "", "", err
	}
	group, okGroup := outputs["group_name"].(string)
	table, okTable := outputs["table_name"].(string)
	if !okGroup || !okTable {
		return "", "", errors.New("the example has no outputs group_name and table_name")
	}
	return group, table, nil
}

// untilAlarmsOK waits until every alarm has seen its metric.
func (s *Stage) untilAlarmsOK(ctx context.Context) error {
	client := cloudwatch.NewFromConfig(s.Config(Region))
	ctx, cancel := clock.WithTimeout(ctx, s.Clock, 15*time.Minute)
	defer cancel()
	for {
		out, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
			AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
		})
		if err != nil {
			return fmt.Errorf("reading the alarms: %w", err)
		}
		var waiting []string
		for _, a := range out.MetricAlarms {
			if a.StateValue != types.StateValueOk {
				waiting = append(waiting, fmt.Sprintf("%s is %s: %s", *a.AlarmName, a.StateValue, *a.StateReason))
			}
		}
		for _, a := range out.CompositeAlarms {
			if a.StateValue != types.StateValueOk {
				waiting = append(waiting, fmt.Sprintf("%s is %s: %s", *a.AlarmName, a.StateValue, *a.StateReason))
			}
		}
		if len(waiting) == 0 && len(out.MetricAlarms) > 0 && len(out.CompositeAlarms) > 0 {
			return nil
		}
		if err := s.Clock.Sleep(ctx, 5*time.Second); err != nil {
			return fmt.Errorf("not all alarms are OK: %w:\n%s", err, strings.Join(waiting, "\n"))
		}
	}
}
