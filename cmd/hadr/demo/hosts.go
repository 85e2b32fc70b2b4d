package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
)

// nodeName is what the database of a node calls itself.
func nodeName(node string, s *Stage) string {
	return hosts.Hostname(s.Landscape.Databases[node].PrivateIP)
}

// configureAgents does what an administrator does after terraform apply: he
// tells the agent of each host which node it is, through Systems Manager.
func (s *Stage) configureAgents(ctx context.Context, table, group string) error {
	for _, node := range []string{"b", "a"} {
		script := fmt.Sprintf(`mkdir -p "${HADR_ROOT:-}/etc/hadr" && printf 'HADR_TABLE=%%s\nHADR_GROUP=%%s\nHADR_NODE=%%s\n' %s %s %s >"${HADR_ROOT:-}/etc/hadr/agent.env" && systemctl restart hadr-agent`, table, group, node)
		if err := s.runCommand(ctx, node, script); err != nil {
			return fmt.Errorf("configuring the agent of node %s: %w", node, err)
		}
	}
	return nil
}

// runCommand runs a script on a node through SSM Run Command and waits.
func (s *Stage) runCommand(ctx context.Context, node, script string) error {
	client := ssm.NewFromConfig(s.Config(Region))
	document, instance := "AWS-RunShellScript", s.Instance(node)
	sent, err := client.SendCommand(ctx, &ssm.SendCommandInput{
		DocumentName: &document, InstanceIds: []string{instance}, Parameters: map[string][]string{"commands": {script}},
	})
	if err != nil {
		return err
	}
	ctx, cancel := clock.WithTimeout(ctx, s.Clock, 5*time.Minute)
	defer cancel()
	for {
		if err := s.Clock.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("command %s on %s: %w", *sent.Command.CommandId, instance, err)
		}
		r, err := client.GetCommandInvocation(ctx, &ssm.GetCommandInvocationInput{CommandId: sent.Command.CommandId, InstanceId: &instance})
		if err != nil {
			continue // not visible yet
		}
		switch r.Status {
		case types.CommandInvocationStatusSuccess:
			return nil
		case types.CommandInvocationStatusFailed, types.CommandInvocationStatusTimedOut, types.CommandInvocationStatusCancelled:
			return fmt.Errorf("command %s on %s: %s: %s%s", *sent.Command.CommandId, instance, r.Status, *r.StandardOutputContent, *r.StandardErrorContent)
		}
	}
}

// Survivors returns what the database of a node holds, read from its disk.
func (s *Stage) Survivors(node string) ([]Row, error) {
	found, err := s.Hosts.Commits(s.Instance(node), Database)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i, r := range found {
		rows[i] = Row{Client: r.Client, Seq: int(r.Seq), Position: uint64(r.Position)}
	}
	return rows, nil
}
