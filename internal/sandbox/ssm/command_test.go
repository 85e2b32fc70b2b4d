package ssm

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestCommandRunsToItsEnd(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		id := m.send(func(in *ssm.SendCommandInput) {
			in.Parameters["commands"] = []string{"echo one", "echo two"}
			in.Parameters["executionTimeout"] = []string{"40"}
			in.Comment = aws.String("op/step/1")
		}, nodeA)
		_, err := m.GetCommandInvocation(m.req, &ssm.GetCommandInvocationInput{CommandId: &id, InstanceId: aws.String(nodeA)})
		wantCode(t, err, "InvocationDoesNotExist") // eventual consistency
		pass(DefaultDelays.Visibility)
		m.want(id, nodeA, "Pending", "Pending", -1)
		pass(DefaultDelays.Delivery - DefaultDelays.Visibility)
		m.want(id, nodeA, "InProgress", "InProgress", -1)
		pass(time.Second)
		i := m.want(id, nodeA, "Success", "Success", 0)
		if *i.StandardOutputContent != "done\n" || *i.Comment != "op/step/1" || *i.PluginName != "aws_runShellScript" || *i.ExecutionElapsedTime != "PT1.000S" {
			t.Errorf("invocation: %q, %q, %q, %q", *i.StandardOutputContent, *i.Comment, *i.PluginName, *i.ExecutionElapsedTime)
		}
		want := []world.Command{{
			ID: id, InstanceID: nodeA, Document: "AWS-RunShellScript", Script: "echo one\necho two\n", Timeout: 40 * time.Second,
			Env: map[string]string{"AWS_SSM_INSTANCE_ID": nodeA, "AWS_SSM_REGION_NAME": "eu-west-1"},
		}}
		if diff := cmp.Diff(want, m.fleet.commands()); diff != "" {
			t.Errorf("host ran (-want +got):\n%s", diff)
		}
	})
}

func TestOutcomes(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ü", n) }
	for name, tt := range map[string]struct {
		result          world.CommandResult
		status, details string
		code            int32
		stdout, stderr  string
	}{
		"failed":          {world.CommandResult{Code: 3, Stdout: "partial\n", Stderr: "oh\n"}, "Failed", "Failed", 3, "partial\n", "oh\nfailed to run commands: exit status 3"},
		"over its time":   {world.CommandResult{Code: -1, TimedOut: true, Stdout: "partial\n"}, "TimedOut", "ExecutionTimedOut", 137, "partial\n", ""},
		"too much to say": {world.CommandResult{Stdout: long(24001), Stderr: long(8001)}, "Success", "Success", 0, long(24000), long(8000)},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, m *manager) {
				m.fleet.answer = answers(0, tt.result)
				id := m.send(nil, nodeA)
				pass(DefaultDelays.Delivery)
				i := m.want(id, nodeA, tt.status, tt.details, tt.code)
				if *i.StandardOutputContent != tt.stdout || *i.StandardErrorContent != tt.stderr {
					t.Errorf("%d and %d bytes of output", len(*i.StandardOutputContent), len(*i.StandardErrorContent))
				}
			})
		})
	}
}

// A command that nobody takes within TimeoutSeconds never runs.
func TestDeliveryTimesOut(t *testing.T) {
	for name, tt := range map[string]struct {
		back   time.Duration // when the agent answers again; 0 = never
		status string
		runs   int
	}{
		"agent never answers":           {0, "TimedOut", 0},
		"agent is back in time":         {25 * time.Second, "Success", 1},
		"agent is back after the limit": {31 * time.Second, "TimedOut", 0},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, m *manager) {
				m.Start() // both are registered
				m.fleet.set(nodeA, false)
				id := m.send(func(in *ssm.SendCommandInput) { in.TimeoutSeconds = aws.Int32(30) }, nodeA)
				pass(20 * time.Second)
				m.want(id, nodeA, "Delayed", "Delayed", -1)
				if tt.back > 0 {
					pass(tt.back - 20*time.Second)
					m.fleet.set(nodeA, true)
				}
				pass(2 * time.Minute)
				if got := m.invocation(id, nodeA); string(got.Status) != tt.status {
					t.Errorf("status is %s (%s), want %s", got.Status, *got.StatusDetails, tt.status)
				}
				if n := len(m.fleet.commands()); n != tt.runs {
					t.Errorf("the script ran %d times, want %d", n, tt.runs)
				}
				if c := m.command(id); tt.runs == 0 && (c.DeliveryTimedOutCount != 1 || c.ErrorCount != 0 || *c.StatusDetails != "DeliveryTimedOut") {
					t.Errorf("command: %d delivery time-outs, %d errors, %s", c.DeliveryTimedOutCount, c.ErrorCount, *c.StatusDetails)
				}
			})
		})
	}
}

func (m *manager) command(id string) types.Command {
	m.t.Helper()
	o := must(m.ListCommands(m.req, &ssm.ListCommandsInput{CommandId: &id}))
	if len(o.Commands) != 1 {
		m.t.Fatalf("%d commands", len(o.Commands))
	}
	return o.Commands[0]
}

// The machine dies with the command: nobody knows what it did.
func TestNoAnswerAfterDelivery(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		m.fleet.answer = silent
		id := m.send(func(in *ssm.SendCommandInput) {
			in.TimeoutSeconds, in.Parameters["executionTimeout"] = aws.Int32(30), []string{"20"}
		}, nodeA)
		pass(50*time.Second - time.Millisecond)
		m.want(id, nodeA, "InProgress", "InProgress", -1)
		pass(time.Millisecond)
		m.want(id, nodeA, "TimedOut", "DeliveryTimedOut", -1)
	})
}

func TestCancel(t *testing.T) {
	for name, after := range map[string]time.Duration{"before the delivery": DefaultDelays.Visibility, "while it runs": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, m *manager) {
				m.fleet.answer = answers(time.Minute, world.CommandResult{})
				id := m.send(nil, nodeA, nodeB)
				pass(after)
				must(m.CancelCommand(m.req, &ssm.CancelCommandInput{CommandId: &id, InstanceIds: []string{nodeA}}))
				pass(2 * time.Minute)
				if i := m.invocation(id, nodeA); i.Status != "Cancelled" || *i.StatusDetails != "Cancelled" {
					t.Errorf("status is %s", i.Status)
				}
				m.want(id, nodeB, "Success", "Success", 0)
				_, err := m.CancelCommand(m.req, &ssm.CancelCommandInput{CommandId: aws.String("nonsense")})
				wantCode(t, err, "InvalidCommandId")
			})
		})
	}
}

func TestTerminatedInstanceCannotBeReached(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		m.Start()
		m.fleet.set(nodeA, false)
		id := m.send(nil, nodeA)
		pass(10 * time.Second)
		m.fleet.mu.Lock()
		m.fleet.instances = nil
		m.fleet.mu.Unlock()
		pass(10 * time.Second)
		m.want(id, nodeA, "Failed", "Undeliverable", -1)
		_, err := m.SendCommand(m.req, &ssm.SendCommandInput{DocumentName: aws.String("AWS-RunShellScript"), InstanceIds: []string{nodeA}, Parameters: map[string][]string{"commands": {"x"}}})
		wantCode(t, err, "InvalidInstanceId")
	})
}

func TestRefusedCommands(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		for _, tt := range []struct {
			name   string
			change func(*ssm.SendCommandInput)
			code   string
		}{
			{"unknown instance", func(in *ssm.SendCommandInput) { in.InstanceIds = []string{"i-0ffffffffffffffff"} }, "InvalidInstanceId"},
			{"no instance", func(in *ssm.SendCommandInput) { in.InstanceIds = nil }, "ValidationException"},
			{"the same instance twice", func(in *ssm.SendCommandInput) { in.InstanceIds = []string{nodeA, nodeA} }, "DuplicateInstanceId"},
			{"51 instances", func(in *ssm.SendCommandInput) { in.InstanceIds = make([]string, 51) }, "ValidationException"},
			{"delivery within 29 s", func(in *ssm.SendCommandInput) { in.TimeoutSeconds = aws.Int32(29) }, "ValidationException"},
			{"a long comment", func(in *ssm.SendCommandInput) { in.Comment = aws.String(strings.Repeat("x", 101)) }, "ValidationException"},
			{"unknown document", func(in *ssm.SendCommandInput) { in.DocumentName = aws.String("nothing") }, "InvalidDocument"},
			{"unknown version", func(in *ssm.SendCommandInput) { in.DocumentVersion = aws.String("7") }, "InvalidDocumentVersion"},
			{"required parameter missing", func(in *ssm.SendCommandInput) { delete(in.Parameters, "commands") }, "InvalidParameters"},
			{"undeclared parameter", func(in *ssm.SendCommandInput) { in.Parameters["x"] = []string{"y"} }, "InvalidParameters"},
			{"parameter against its pattern", func(in *ssm.SendCommandInput) { in.Parameters["executionTimeout"] = []string{"soon"} }, "InvalidParameters"},
			{"two values for a text", func(in *ssm.SendCommandInput) { in.Parameters["executionTimeout"] = []string{"1", "2"} }, "InvalidParameters"},
			{"unknown kind of target", func(in *ssm.SendCommandInput) {
				in.InstanceIds, in.Targets = nil, []types.Target{{Key: aws.String("nonsense")}}
			}, "InvalidTarget"},
		} {
			in := &ssm.SendCommandInput{DocumentName: aws.String("AWS-RunShellScript"), InstanceIds: []string{nodeA}, Parameters: map[string][]string{"commands": {"date"}}}
			tt.change(in)
			if _, err := m.SendCommand(m.req, in); codeOf(err) != tt.code {
				t.Errorf("%s: error is %v, want %s", tt.name, err, tt.code)
			}
		}
		pass(time.Minute)
		if n := len(m.fleet.commands()); n != 0 {
			t.Errorf("%d scripts ran", n)
		}
	})
}

func TestTargetsByTag(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		target := func(v string) string {
			return m.send(func(in *ssm.SendCommandInput) {
				in.Targets = []types.Target{{Key: aws.String("tag:cluster"), Values: []string{v}}}
			})
		}
		id, nobody := target("c1"), target("c2")
		pass(10 * time.Second)
		for _, i := range []string{nodeA, nodeB} {
			m.want(id, i, "Success", "Success", 0)
		}
		if c := m.command(id); c.Status != "Success" || c.TargetCount != 2 || c.CompletedCount != 2 || c.ErrorCount != 0 {
			t.Errorf("command is %s: %d targets, %d completed, %d errors", c.Status, c.TargetCount, c.CompletedCount, c.ErrorCount)
		}
		if c := m.command(nobody); c.TargetCount != 0 {
			t.Errorf("%d targets", c.TargetCount)
		}
	})
}

func TestLists(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		first := m.send(nil, nodeA)
		pass(time.Minute)
		between := time.Now().UTC().Format(time.RFC3339)
		pass(time.Minute)
		m.fleet.answer = answers(0, world.CommandResult{Code: 1})
		second := m.send(nil, nodeA, nodeB)
		pass(time.Minute)
		filter := func(k types.CommandFilterKey, v string) []types.CommandFilter {
			return []types.CommandFilter{{Key: k, Value: &v}}
		}
		for _, tt := range []struct {
			name string
			in   ssm.ListCommandsInput
			want []string
		}{
			{"all, the newest first", ssm.ListCommandsInput{}, []string{second, first}},
			{"by instance", ssm.ListCommandsInput{InstanceId: aws.String(nodeB)}, []string{second}},
			{"by command", ssm.ListCommandsInput{CommandId: &first}, []string{first}},
			{"InvokedAfter", ssm.ListCommandsInput{Filters: filter("InvokedAfter", between)}, []string{second}},
			{"InvokedBefore", ssm.ListCommandsInput{Filters: filter("InvokedBefore", between)}, []string{first}},
			{"Status", ssm.ListCommandsInput{Filters: filter("Status", "Failed")}, []string{second}},
			{"DocumentName", ssm.ListCommandsInput{Filters: filter("DocumentName", "other")}, nil},
			{"ExecutionStage", ssm.ListCommandsInput{Filters: filter("ExecutionStage", "Executing")}, nil},
			{"one on a page", ssm.ListCommandsInput{MaxResults: aws.Int32(1)}, []string{second}},
		} {
			var got []string
			for _, c := range must(m.ListCommands(m.req, &tt.in)).Commands {
				got = append(got, *c.CommandId)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		l := must(m.ListCommandInvocations(m.req, &ssm.ListCommandInvocationsInput{CommandId: &second, Details: true})).CommandInvocations
		if len(l) != 2 || len(l[0].CommandPlugins) != 1 || l[0].CommandPlugins[0].ResponseCode != 1 {
			t.Errorf("%d invocations", len(l))
		}
	})
}

func TestPingIsAsOldAsTheAgentsReport(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		m.Start()
		ping := func() types.PingStatus {
			o := must(m.DescribeInstanceInformation(m.req, &ssm.DescribeInstanceInformationInput{Filters: []types.InstanceInformationStringFilter{{Key: aws.String("InstanceIds"), Values: []string{nodeA}}}}))
			if len(o.InstanceInformationList) != 1 {
				return "not registered"
			}
			return o.InstanceInformationList[0].PingStatus
		}
		pass(7 * time.Minute)
		if got := ping(); got != "Online" {
			t.Errorf("ping status is %s", got)
		}
		m.fleet.set(nodeA, false)
		pass(3 * time.Minute)
		if got := ping(); got != "Online" { // the report of five minutes ago
			t.Errorf("ping status is %s", got)
		}
		pass(5 * time.Minute)
		if got := ping(); got != "ConnectionLost" {
			t.Errorf("ping status is %s", got)
		}
		m.fleet.set(nodeA, true)
		if got := ping(); got != "Online" {
			t.Errorf("ping status is %s", got)
		}
	})
}

func TestInstanceWithoutProfileIsNotManaged(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		for n := range m.fleet.instances {
			m.fleet.instances[n].Profile = ""
		}
		if l := must(m.DescribeInstanceInformation(m.req, &ssm.DescribeInstanceInformationInput{})).InstanceInformationList; len(l) != 0 {
			t.Errorf("%d managed instances", len(l))
		}
	})
}
