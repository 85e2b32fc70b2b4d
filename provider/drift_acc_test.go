package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// drifted is an example in a sandbox that is changed behind Terraform's back.
type drifted struct {
	*testAWS
	example
	report *tabwriter.Writer
}

const inModule = "module.orders."

func newDrifted(t *testing.T) *drifted {
	a := startPair(t)
	d := &drifted{testAWS: a, example: newExample(t, a, "examples/complete/db2-hadr")}
	d.must(t, "init")
	d.must(t, "apply", "-auto-approve")
	if p := d.plan(t); !p.empty() || p.warnings() > 0 {
		t.Fatalf("after apply there is something to do or to say:\n%s", p.text)
	}
	return d
}

// table prints what was done and what the plan says about it.
func (d *drifted) table(t *testing.T, run func()) {
	var text strings.Builder
	d.report = tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(d.report, "attribute\tchanged behind Terraform's back\tplan")
	run()
	must(t, d.report.Flush())
	t.Logf("drift:\n%s", text.String())
}

func (d *drifted) row(attribute, behind, plan string) {
	fmt.Fprintf(d.report, "%s\t%s\t%s\n", attribute, behind, plan)
}

// state saves a change of the authority, as the control plane does.
func (d *drifted) state(t *testing.T, change func(*failover.State)) {
	t.Helper()
	prev, err := d.record("hadr-orders").Load(t.Context(), "orders")
	must(t, err)
	next := prev
	change(&next)
	must(t, d.record("hadr-orders").Save(t.Context(), prev, next))
}

func (d *drifted) leadTo(t *testing.T, node string) { d.move(t, "192.168.77.10", d.nodes[node].eni) }

// takeOver makes node b primary, in Db2, on the record and on the routes.
func (d *drifted) takeOver(t *testing.T) {
	d.switchOver(t, "b")
	d.state(t, func(s *failover.State) { s.Epoch, s.Primary, s.Changed = s.Epoch+1, "b", d.clock.Now() })
	d.leadTo(t, "b")
}

// isPrimary checks the record and every route.
func (d *drifted) isPrimary(t *testing.T, node, after string) {
	t.Helper()
	s, err := d.record("hadr-orders").Load(t.Context(), "orders")
	must(t, err)
	if s.Primary != node {
		t.Errorf("%s: the recorded primary is %s, want %s", after, s.Primary, node)
	}
	targets, err := vipRoutes{clients: d.clients, vip: "192.168.77.10"}.leads(t.Context(), d.tables)
	must(t, err)
	for _, table := range d.tables {
		if targets[table] != d.nodes[node].eni {
			t.Errorf("%s: the route in %s leads to %q, want node %s", after, table, targets[table], node)
		}
	}
}

// settled checks that nothing is left to do, with the one warning of a group
// that is failed over.
func (d *drifted) settled(t *testing.T, after string) {
	t.Helper()
	d.isPrimary(t, "b", after)
	if p := d.plan(t); !p.empty() || p.warnings() != 1 || !strings.Contains(p.text, "Group is failed over") {
		t.Errorf("%s: the plan wants %v and has %d warnings, want nothing and one:\n%s", after, sortedKeys(p.changes), p.warnings(), p.text)
	}
}

// What the control plane, or a person on its behalf, may change is left alone.
func TestDriftOfTheControlPlaneIsLeftAlone(t *testing.T) {
	d := newDrifted(t)
	operation := &failover.Operation{ID: "01OPERATION", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepPromote, Started: d.clock.Now()}
	record := d.record("hadr-orders")
	tests := []struct {
		attribute, behind string
		change            func()
		warnings          int
	}{
		{"epoch", "grows by one", func() { d.state(t, func(s *failover.State) { s.Epoch++ }) }, 0},
		{"phase", "a takeover runs", func() {
			d.state(t, func(s *failover.State) { s.Phase, s.Operation = failover.TakingOver, operation })
		}, 0},
		{"phase", "it is blocked", func() {
			blocked := *operation
			blocked.Blocked, blocked.Next = "the stop was rejected", "hadr resume orders"
			d.state(t, func(s *failover.State) { s.Phase, s.Operation = failover.Blocked, &blocked })
		}, 0},
		{"(record) fenced", "node a is fenced", func() {
			d.state(t, func(s *failover.State) {
				s.Fenced = map[string]failover.Fence{"a": {Epoch: s.Epoch, Method: "stop", At: d.clock.Now()}}
			})
		}, 0},
		{"(record) cool-down", "for an hour", func() {
			d.state(t, func(s *failover.State) {
				s.Phase, s.Operation, s.Fenced, s.Cooldown = failover.Steady, nil, nil, d.clock.Now().Add(time.Hour)
			})
		}, 0},
		{"maintenance", "set by hand", func() {
			must(t, record.SetMaintenance(t.Context(), "orders", failover.Maintenance{On: true, Reason: "patching"}))
		}, 0},
		{"maintenance", "ended by hand", func() { must(t, record.SetMaintenance(t.Context(), "orders", failover.Maintenance{})) }, 0},
		{"roles", "the agents read them", func() {
			for node, role := range map[string]failover.Role{"a": failover.RoleStandby, "b": failover.RolePrimary} {
				must(t, record.PutNode(t.Context(), "orders", failover.Observation{Node: node, Role: role, ReadAt: d.clock.Now(), Source: "agent"}))
			}
		}, 0},
		{"active_targets (VIP route)", "lead to node b", func() { d.leadTo(t, "b") }, 0},
		{"active_primary, failed_over_since", "node b takes over", func() { d.takeOver(t) }, 1},
		{"active_primary", "node a takes over again", func() {
			d.switchOver(t, "a")
			d.state(t, func(s *failover.State) { s.Epoch, s.Primary, s.Changed = s.Epoch+1, "a", d.clock.Now() })
			d.leadTo(t, "a")
		}, 0},
	}
	d.table(t, func() {
		for _, tt := range tests {
			tt.change()
			p := d.plan(t)
			if !p.empty() || !strings.Contains(p.text, "No changes") {
				t.Errorf("%s, %s: the plan wants to change %v", tt.attribute, tt.behind, sortedKeys(p.changes))
			}
			if p.warnings() != tt.warnings {
				t.Errorf("%s, %s: %d warnings, want %d:\n%s", tt.attribute, tt.behind, p.warnings(), tt.warnings, p.text)
			}
			d.row(tt.attribute, tt.behind, fmt.Sprintf("no changes, %d warnings", p.warnings()))
		}
	})
}

// Everything else that is changed outside is shown and repaired, and the
// takeover stays.
func TestDriftOfEverythingElseIsRepaired(t *testing.T) {
	d := newDrifted(t)
	d.takeOver(t)
	rows := d.foreignChanges(t)
	for _, r := range rows {
		r.change()
	}
	p, touched := d.plan(t), map[string]bool{}
	d.table(t, func() {
		for _, r := range rows {
			touched[inModule+r.address] = true
			c := p.changes[inModule+r.address]
			shown := r.shown(c)
			if !shown {
				t.Errorf("%s.%s, %s: not in the plan", r.address, r.attribute, r.behind)
				c.Actions = []string{"NOT SEEN"}
			}
			d.row(r.address+"."+r.attribute, r.behind, strings.Join(c.Actions, ", "))
		}
	})
	for _, address := range sortedKeys(p.changes) {
		if !touched[address] {
			t.Errorf("the plan changes %s, which nobody has touched", address)
		}
	}
	d.must(t, "apply", "-auto-approve")
	d.settled(t, "after repair")
}

// foreign is a change that somebody makes outside of Terraform.
type foreign struct {
	address, attribute, behind string
	change                     func()
}

// shown reports whether a plan changes the attribute back, or makes the object
// anew.
func (f foreign) shown(c change) bool {
	if c.Before == nil {
		return len(c.Actions) == 1 && c.Actions[0] == "create"
	}
	return len(c.Actions) > 0 && !reflect.DeepEqual(c.Before[f.attribute], c.After[f.attribute])
}

// After a takeover every use of Terraform keeps the new primary.
func TestTerraformAfterATakeover(t *testing.T) {
	d := newDrifted(t)
	d.takeOver(t)
	d.settled(t, "after the takeover")

	main := filepath.Join(d.dir, "main.tf")
	b, err := os.ReadFile(main)
	must(t, err)
	must(t, os.WriteFile(main, []byte(strings.Replace(string(b), "  port = 50000\n", "  port = 50000\n\n  log_retention_days = 30\n", 1)), 0o600))
	d.must(t, "apply", "-auto-approve")
	d.settled(t, "after an unrelated change")

	for _, resource := range []string{"hadr_vip_route.this", "hadr_group.this"} {
		d.must(t, "apply", "-auto-approve", "-replace="+inModule+resource)
		d.settled(t, "after -replace of "+resource)
	}

	imports := map[string]string{
		"hadr_group.this":     "hadr-orders/orders",
		"hadr_vip_route.this": fmt.Sprintf("192.168.77.10/%s/%s,%s", strings.Join(d.tables, ","), d.nodes["a"].eni, d.nodes["b"].eni),
	}
	for _, address := range sortedKeys(imports) {
		d.must(t, "state", "rm", inModule+address)
		d.must(t, "import", inModule+address, imports[address])
	}
	for address, c := range d.plan(t).changes {
		if len(c.Actions) != 1 || c.Actions[0] != "update" {
			t.Errorf("after import %s is planned to %v", address, c.Actions)
		}
	}
	d.must(t, "apply", "-auto-approve")
	d.settled(t, "after import")

	d.destroyAndCreate(t)
}

func (d *drifted) destroyAndCreate(t *testing.T) {
	before, err := d.record("hadr-orders").Load(t.Context(), "orders")
	must(t, err)
	d.state(t, func(s *failover.State) {
		s.Phase, s.Operation = failover.TakingOver, &failover.Operation{ID: "01OPERATION", Kind: failover.Takeover, From: "b", To: "a", Step: failover.StepFence, Started: d.clock.Now()}
	})
	out, err := d.terraform(t, "destroy", "-auto-approve", "-target="+inModule+"hadr_group.this")
	for _, want := range []string{"01OPERATION (takeover, step fence)", "Next step: Apply again when the operation has ended", "To remove the"} {
		if err == nil || !strings.Contains(words(out), want) {
			t.Errorf("destroy during an operation: %v, want %q in:\n%s", err, want, out)
		}
	}
	d.isPrimary(t, "b", "after a destroy that was refused")
	d.state(t, func(s *failover.State) { s.Phase, s.Operation = failover.Steady, nil })

	// The table goes, too, and with it the history: the nodes remember.
	d.mark(t, "a", "epoch", fmt.Sprintln(before.Epoch))
	d.must(t, "destroy", "-auto-approve")
	d.must(t, "apply", "-auto-approve")
	d.settled(t, "created anew")
	after, err := d.record("hadr-orders").Load(t.Context(), "orders")
	must(t, err)
	if after.Epoch <= before.Epoch {
		t.Errorf("the new group begins in epoch %d, the old one ended in %d", after.Epoch, before.Epoch)
	}
	d.must(t, "destroy", "-auto-approve")
	for _, table := range d.tables {
		found, err := d.ec2.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}})
		must(t, err)
		for _, r := range found.RouteTables[0].Routes {
			if aws.ToString(r.DestinationCidrBlock) == "192.168.77.10/32" {
				t.Errorf("the route in %s outlives its destroy", table)
			}
		}
	}
}

// words undoes Terraform's line breaks.
func words(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(s)), " ")
}
