package provider

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// R12: with whom a group begins, by what both nodes say.
func TestFoundingOfAGroup(t *testing.T) {
	const mine, other = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr", "arn:aws:dynamodb:eu-central-1:123456789012:table/old"
	reads := func(role failover.Role, database failover.DatabaseState, mark engine.Marks) nodeView {
		return nodeView{seen: failover.Observation{Answer: failover.Answered, Role: role, Database: database}, mark: mark}
	}
	primary := func(epoch uint64) nodeView {
		return reads(failover.RolePrimary, failover.DatabaseActive, engine.Marks{Table: mine, Epoch: epoch})
	}
	standby := func(epoch uint64) nodeView {
		return reads(failover.RoleStandby, failover.DatabaseActive, engine.Marks{Epoch: epoch})
	}
	inactive := reads(failover.RolePrimary, failover.DatabaseInactive, engine.Marks{})
	silent := nodeView{seen: failover.Observation{Answer: failover.Silent, AnswerError: "gave up waiting"}}
	foreign := reads(failover.RoleStandby, failover.DatabaseActive, engine.Marks{Table: other, Epoch: 9})
	tests := map[string]struct {
		a, b    nodeView
		primary string // "" = refused
		epoch   uint64
		says    string
	}{
		"a is primary":                     {primary(0), standby(0), "a", 0, ""},
		"b is primary":                     {standby(3), primary(4), "b", 4, ""},
		"standby has seen the newer epoch": {primary(2), standby(7), "a", 7, ""},
		"no standby":                       {primary(0), reads(failover.RoleStandalone, failover.DatabaseActive, engine.Marks{}), "a", 0, "nobody to take over"},
		"two primaries":                    {primary(0), primary(0), "", 0, "Both nodes read PRIMARY"},
		"a second primary that sleeps":     {inactive, primary(0), "", 0, "Both nodes read PRIMARY"},
		"two standbys":                     {standby(0), standby(0), "", 0, "No node reads PRIMARY"},
		"primary that is not active":       {inactive, standby(0), "", 0, "its database is inactive"},
		"unreadable node":                  {primary(0), silent, "", 0, "node b (i-b) did not answer: gave up waiting"},
		"both unreadable":                  {silent, silent, "", 0, "node a (i-a) did not answer"},
		"node of another table":            {primary(0), foreign, "", 0, other},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.a.node, tt.b.node = failover.NodeConfig{ID: "a", Instance: "i-a"}, failover.NodeConfig{ID: "b", Instance: "i-b"}
			f, diags := judge("orders", mine, []nodeView{tt.a, tt.b})
			if f.primary != tt.primary && tt.primary != "" || (tt.primary == "") != diags.HasError() || f.epoch != tt.epoch && tt.primary != "" {
				t.Errorf("primary %q in epoch %d, want %q in %d; %v", f.primary, f.epoch, tt.primary, tt.epoch, diags)
			}
			if said := texts(diags); !strings.Contains(said, tt.says) || tt.says == "" && said != "" {
				t.Errorf("diagnostics say %q, want %q in them", said, tt.says)
			}
		})
	}
}

func texts(diags diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		b.WriteString(d.Summary() + ": " + d.Detail() + "\n")
	}
	return b.String()
}

// A new group is recorded as the nodes are, not as they are preferred to be.
func TestGroupBeginsAsTheNodesAre(t *testing.T) {
	a := startPair(t)
	config := a.group(func(c *groupConfig) { c.Verify = true })
	is := func(name string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("hadr_group.this", tfjsonpath.New(name), check)
	}
	a.mark(t, "a", "table", "arn:aws:dynamodb:eu-central-1:123456789012:table/old")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config, ExpectError: regexp.MustCompile(`(?s)marked.*table/old.*/var/lib/hadr/orders/table`)},
			{
				PreConfig: func() {
					a.mark(t, "a", "table", "")
					a.mark(t, "b", "epoch", "7\n")
					a.switchOver(t, "b")
				},
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					is("active_primary", knownvalue.StringExact("b")), is("epoch", knownvalue.Int64Exact(8)), is("failed_over_since", knownvalue.NotNull()),
				},
			},
			{ // created anew, it begins above the epoch of the one before
				Taint: []string{"hadr_group.this"}, Config: config,
				ConfigStateChecks: []statecheck.StateCheck{is("active_primary", knownvalue.StringExact("b")), is("epoch", knownvalue.Int64Exact(9))},
			},
		},
	})
}

func TestGroupWaitsForNodesInVain(t *testing.T) {
	a := startAWSAt(t, clock.NewScaled(time.Now(), 60)).build(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config:      a.group(func(c *groupConfig) { c.Verify = true }),
			ExpectError: regexp.MustCompile(`(?s)node\s+b\s+\(i-[0-9a-f]+\)\s+did\s+not\s+answer.*InvalidInstanceId.*verify_on_create\s+=\s+false`),
		}},
	})
}
