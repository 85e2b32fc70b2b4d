package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

func (a *testAWS) route(vip, preferred string, tables []string, extra string) string {
	return fmt.Sprintf(`
resource "hadr_vip_route" "this" {
  vip                            = %q
  route_table_ids                = %s
  network_interface_ids          = [%q, %q]
  preferred_network_interface_id = %q
  %s
}`, vip, hclList(tables), a.nodes["a"].eni, a.nodes["b"].eni, preferred, extra)
}

func hclList(in []string) string {
	s := "["
	for _, v := range in {
		s += fmt.Sprintf("%q, ", v)
	}
	return s + "]"
}

func (a *testAWS) move(t *testing.T, vip, eni string) {
	for _, table := range a.tables {
		a.lead(t, table, vip, eni)
	}
}

func (a *testAWS) lead(t *testing.T, table, vip, eni string) {
	t.Helper()
	_, err := a.ec2.ReplaceRoute(t.Context(), &ec2.ReplaceRouteInput{RouteTableId: &table,
		DestinationCidrBlock: aws.String(vip + "/32"), NetworkInterfaceId: &eni})
	must(t, err)
}

const testVIP, vipAddress = "192.168.170.10", "hadr_vip_route.this"

func targetsAre(a *testAWS, eni string, tables []string) statecheck.StateCheck {
	want := map[string]knownvalue.Check{}
	for _, table := range tables {
		want[table] = knownvalue.StringExact(eni)
	}
	return statecheck.ExpectKnownValue(vipAddress, tfjsonpath.New("active_targets"), knownvalue.MapExact(want))
}

// A takeover moves the routes; Terraform never moves them back, not even when
// it changes something else.
func TestVIPRouteIsLeftAloneAfterTakeover(t *testing.T) {
	a := startAWS(t).build(t)
	nodeA, nodeB := a.nodes["a"].eni, a.nodes["b"].eni
	config := a.route(testVIP, nodeA, a.tables, "")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, nodeA, a.tables)}},
			{
				ResourceName: vipAddress, ImportState: true, ImportStateVerify: true,
				ImportStateIdFunc: func(*terraform.State) (string, error) {
					return fmt.Sprintf("%s/%s,%s/%s,%s", testVIP, a.tables[0], a.tables[1], nodeA, nodeB), nil
				},
			},
			{
				PreConfig:        func() { a.move(t, testVIP, nodeB) },
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{ // a changed preference moves nothing either
				Config:            a.route(testVIP, nodeB, a.tables, ""),
				ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, nodeB, a.tables)},
			},
			{
				PreConfig:         func() { a.move(t, testVIP, nodeA) },
				Config:            a.route(testVIP, nodeB, a.tables[:1], ""),
				ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, nodeA, a.tables[:1])},
			},
		},
	})
	for _, eni := range []string{nodeA, nodeB} {
		i, err := a.networkInterface(t.Context(), eni)
		must(t, err)
		if aws.ToBool(i.SourceDestCheck) {
			t.Errorf("%s drops packets for the address: its source/destination check is on", eni)
		}
	}
}

func TestVIPRouteAdopts(t *testing.T) {
	a := startAWS(t).build(t)
	nodeA, nodeB := a.nodes["a"].eni, a.nodes["b"].eni
	for _, table := range a.tables {
		_, err := a.ec2.CreateRoute(t.Context(), &ec2.CreateRouteInput{RouteTableId: &table,
			DestinationCidrBlock: aws.String(testVIP + "/32"), NetworkInterfaceId: &nodeB})
		must(t, err)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config:            a.route(testVIP, nodeA, a.tables, ""),
			ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, nodeB, a.tables)},
		}},
	})
}

// A new route of a group that is failed over leads to the recorded primary.
func TestVIPRouteFollowsTheRecord(t *testing.T) {
	a := startAWS(t).build(t)
	withRecord := a.group(nil) + a.route(testVIP, a.nodes["a"].eni, a.tables, `
  table_name = "hadr"
  group      = "orders"
  depends_on = [hadr_group.this]`)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil)},
			{
				PreConfig: func() {
					prev, err := a.record("hadr").Load(t.Context(), "orders")
					must(t, err)
					next := prev
					next.Epoch, next.Primary = prev.Epoch+1, "b"
					must(t, a.record("hadr").Save(t.Context(), prev, next))
				},
				Config:            withRecord,
				ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, a.nodes["b"].eni, a.tables)},
			},
			{
				PreConfig: func() {
					a.setOperation(t, &failover.Operation{ID: "01OPERATION", Kind: failover.Takeover}, failover.TakingOver)
				},
				Config: a.group(nil), ExpectError: regexp.MustCompile(`Deleting VIP route[\s\S]*01OPERATION`),
			},
			{PreConfig: func() { a.setOperation(t, nil, failover.Steady) }, Config: withRecord},
		},
	})
}

// A route table that is gone takes no route of another one with it: neither out of the state nor out of
// Terraform's reach.
func TestVIPRouteOutlivesARouteTable(t *testing.T) {
	tests := map[string]func(a *testAWS, all, rest string) resource.TestStep{
		"the plan tells, and the apply": func(a *testAWS, all, _ string) resource.TestStep {
			return resource.TestStep{Config: all,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(vipAddress, plancheck.ResourceActionUpdate)}},
				ExpectError: regexp.MustCompile(`(?s)Reading\s+route\s+tables\s+` + a.tables[0] + `\n.*no\s+such\s+route\s+table`)}
		},
		"the others stay": func(a *testAWS, _, rest string) resource.TestStep {
			return resource.TestStep{Config: rest,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, a.nodes["a"].eni, a.tables[1:])}}
		},
		"destroy removes them": func(_ *testAWS, all, _ string) resource.TestStep {
			return resource.TestStep{Config: all, Destroy: true}
		},
	}
	for name, step := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t).build(t)
			eni := a.nodes["a"].eni
			all := a.route(testVIP, eni, a.tables, "")
			next := step(a, all, a.route(testVIP, eni, a.tables[1:], ""))
			next.PreConfig = func() {
				_, err := a.ec2.DeleteRouteTable(t.Context(), &ec2.DeleteRouteTableInput{RouteTableId: &a.tables[0]})
				must(t, err)
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    []resource.TestStep{{Config: all}, next},
			})
			if to := a.leadsTo(t, a.tables[1], testVIP); to != "" {
				t.Errorf("after destroy the route in %s leads to %s", a.tables[1], to)
			}
		})
	}
}

// leadsTo is where the route of an address leads, "" where there is none.
func (a *testAWS) leadsTo(t *testing.T, table, vip string) string {
	t.Helper()
	found, err := a.ec2.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}})
	must(t, err)
	for _, r := range found.RouteTables[0].Routes {
		if aws.ToString(r.DestinationCidrBlock) == vip+"/32" {
			return aws.ToString(r.NetworkInterfaceId)
		}
	}
	return ""
}

func (a *testAWS) setOperation(t *testing.T, op *failover.Operation, phase failover.Phase) {
	t.Helper()
	prev, err := a.record("hadr").Load(t.Context(), "orders")
	must(t, err)
	next := prev
	next.Operation, next.Phase = op, phase
	must(t, a.record("hadr").Save(t.Context(), prev, next))
}

// A route that is there although AWS's answer did not come is kept, and removed like any other.
func TestVIPRouteWithLostAnswer(t *testing.T) {
	a := startAWS(t).build(t)
	if a.sb == nil {
		t.Skip("only the sandbox loses answers: unset " + endpointVar)
	}
	_, err := a.sb.Faults.Inject(t.Context(), fault.Fault{Kind: fault.Lost, Selector: fault.Selector{Service: "ec2", Operation: "CreateRoute"},
		Limits: fault.Limits{Count: 1}, Effect: fault.Effect{When: fault.After}})
	must(t, err)
	eni := a.nodes["a"].eni
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{Config: a.route(testVIP, eni, a.tables, ""),
			ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, eni, a.tables)}}},
	})
	a.haveRoutes(t, map[string]string{a.tables[0]: "", a.tables[1]: ""})
}

// The ids of interfaces that are made in the same apply are not known when it is planned.
func TestVIPRoutePlansWithUnknownInterfaces(t *testing.T) {
	a := startAWS(t).build(t)
	eni := a.nodes["a"].eni
	config := fmt.Sprintf("resource \"terraform_data\" \"eni\" { input = %q }\n", eni) +
		strings.ReplaceAll(a.route(testVIP, eni, a.tables, ""), fmt.Sprintf("%q", eni), "terraform_data.eni.output")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: config, ConfigStateChecks: []statecheck.StateCheck{targetsAre(a, eni, a.tables)}}},
	})
}

func TestVIPRouteRefuses(t *testing.T) {
	a := startAWS(t).build(t)
	eni := a.nodes["a"].eni
	taken, other := "192.168.170.99", a.newInterface(t)
	a.addRoute(t, a.tables[0], taken, other)
	tests := map[string]struct{ config, want string }{
		"address inside the VPC":  {a.route("10.0.3.4", eni, a.tables, ""), `10\.0\.3\.4\s+lies\s+inside\s+10\.0\.0\.0/16`},
		"network, not an address": {a.route("192.168.170.0/24", eni, a.tables, ""), `IPv4\s+address\s+of\s+a\s+host`},
		"no such route table":     {a.route(testVIP, eni, []string{"rtb-0123456789abcdef0"}, ""), `no\s+such\s+route\s+table`},
		"preferred is not a node": {a.route(testVIP, "eni-0123456789abcdef0", a.tables, ""), `none\s+of\s+network_interface_ids`},
		"route to somewhere else": {a.route(taken, eni, a.tables[:1], ""), `leads\s+to\s+eni-`},
		"group without a table":   {a.route(testVIP, eni, a.tables, `group = "orders"`), `table_name`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    []resource.TestStep{{Config: tt.config, ExpectError: regexp.MustCompile(tt.want)}},
			})
			if to := a.leadsTo(t, a.tables[0], taken); to != other {
				t.Errorf("the route of somebody else leads to %q, want %s as before", to, other)
			}
		})
	}
}

// newInterface makes an interface of no machine.
func (a *testAWS) newInterface(t *testing.T) string {
	t.Helper()
	inVPC := ec2types.Filter{Name: aws.String("vpc-id"), Values: []string{a.vpc}}
	subnet, err := a.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{inVPC}})
	must(t, err)
	out, err := a.ec2.CreateNetworkInterface(t.Context(), &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.Subnets[0].SubnetId})
	must(t, err)
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

func (a *testAWS) addRoute(t *testing.T, table, vip, eni string) {
	t.Helper()
	_, err := a.ec2.CreateRoute(t.Context(), &ec2.CreateRouteInput{RouteTableId: &table,
		DestinationCidrBlock: aws.String(vip + "/32"), NetworkInterfaceId: &eni})
	must(t, err)
}

// A route of somebody else is refused as often as it is asked for, and no change and no destroy deletes it.
// Those that were made beside it are deleted.
func TestVIPRouteLeavesRoutesOfOthers(t *testing.T) {
	refused := regexp.MustCompile(`leads\s+to\s+eni-[0-9a-f]+,\s+which\s+is\s+none\s+of\s+network_interface_ids`)
	tests := map[string]func(t *testing.T, a *testAWS, other, both, second string) []resource.TestStep{
		"found when its table is added": func(t *testing.T, a *testAWS, other, both, second string) []resource.TestStep {
			a.addRoute(t, a.tables[0], testVIP, other)
			return []resource.TestStep{
				{Config: second},
				{Config: both, ExpectError: refused},
				{Config: both, ExpectError: refused},
				{Config: second, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
			}
		},
		"the route was led there, and its table is taken away": func(t *testing.T, a *testAWS, other, both, second string) []resource.TestStep {
			return []resource.TestStep{
				{Config: both},
				{PreConfig: func() { a.lead(t, a.tables[0], testVIP, other) }, Config: second},
			}
		},
		"the route was led there, and all is destroyed": func(t *testing.T, a *testAWS, other, both, _ string) []resource.TestStep {
			return []resource.TestStep{
				{Config: both},
				{PreConfig: func() { a.lead(t, a.tables[0], testVIP, other) }, Config: both, Destroy: true},
			}
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t).build(t)
			other, eni := a.newInterface(t), a.nodes["a"].eni
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    steps(t, a, other, a.route(testVIP, eni, a.tables, ""), a.route(testVIP, eni, a.tables[1:], "")),
			})
			a.haveRoutes(t, map[string]string{a.tables[0]: other, a.tables[1]: ""})
		})
	}
}

// haveRoutes checks where the test's address leads in each table.
func (a *testAWS) haveRoutes(t *testing.T, want map[string]string) {
	t.Helper()
	for table, eni := range want {
		if to := a.leadsTo(t, table, testVIP); to != eni {
			t.Errorf("in the end the route in %s leads to %q, want %q", table, to, eni)
		}
	}
}

// What the resource has made is removed, whatever became of the interface that it leads to.
func TestVIPRouteRemovesItsOwn(t *testing.T) {
	tests := map[string]func(t *testing.T, a *testAWS, config func(tables []string) string) []resource.TestStep{
		"to an interface that drops packets": func(t *testing.T, a *testAWS, config func([]string) string) []resource.TestStep {
			return []resource.TestStep{
				{PreConfig: func() {
					_, err := a.ec2.ModifyNetworkInterfaceAttribute(t.Context(), &ec2.ModifyNetworkInterfaceAttributeInput{
						NetworkInterfaceId: aws.String(a.nodes["a"].eni), SourceDestCheck: &ec2types.AttributeBooleanValue{Value: aws.Bool(true)}})
					must(t, err)
				}, RefreshState: true, ExpectNonEmptyPlan: true},
				{RefreshState: true, ExpectNonEmptyPlan: true}, // the interface is missing in the state by now
				{Config: config(a.tables), Destroy: true},
			}
		},
		"to an interface that is gone": func(t *testing.T, a *testAWS, config func([]string) string) []resource.TestStep {
			return []resource.TestStep{{PreConfig: func() {
				_, err := a.ec2.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(a.nodes["a"].eni)})
				must(t, err)
			}, Config: config(a.tables), Destroy: true}}
		},
		"to an interface that was replaced, which is refused": func(t *testing.T, a *testAWS, config func([]string) string) []resource.TestStep {
			a.nodes["a"] = testNode{eni: a.newInterface(t)}
			return []resource.TestStep{{Config: config(a.tables), ExpectError: regexp.MustCompile(`none\s+of\s+network_interface_ids`)}}
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t).build(t)
			a.nodes["a"] = testNode{eni: a.newInterface(t)}
			config := func(tables []string) string { return a.route(testVIP, a.nodes["a"].eni, tables, "") }
			made := resource.TestStep{Config: config(a.tables)}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    append([]resource.TestStep{made}, steps(t, a, config)...),
			})
			a.haveRoutes(t, map[string]string{a.tables[0]: "", a.tables[1]: ""})
		})
	}
}
