package provider

import (
	"regexp"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// groupConfig is a pair as a test wants it; empty fields are as they should be.
type groupConfig struct {
	Name, SyncMode, Policy, InstanceA, EniA, ZoneA, RegionA, Extra, Again, Documents string
	PeerWindow, Cooldown                                                             int
	Verify                                                                           bool // read the nodes of a startPair
	A, B                                                                             testNode
	Tables                                                                           []string
}

var groupTemplate = template.Must(template.New("").Parse(`
resource "hadr_state_table" "this" {
  name                = "hadr"
  deletion_protection = false
}
{{if .Verify}}
resource "hadr_command_document" "status" {
  name = "hadr-status"
  kind = "db2_status"
}
{{end}}
{{define "group"}}
  table_name = hadr_state_table.this.name
  name       = "{{.Name}}"
  policy     = "{{.Policy}}"
  db2 = {
    database             = "SAMPLE"
    instance_owner       = "db2inst1"
    syncmode             = "{{.SyncMode}}"
    peer_window_seconds  = {{.PeerWindow}}
    hadr_timeout_seconds = 60
    status_document      = "hadr-status"
    takeover_document    = "hadr-takeover"
    path_check_document  = "hadr-path-check"
    {{.Documents}}
  }
  nodes = {
    a = {
      instance_id          = "{{.InstanceA}}"
      network_interface_id = "{{.EniA}}"
      availability_zone    = "{{.ZoneA}}"
      {{with .RegionA}}region = "{{.}}"{{end}}
      failure_alarm_arns   = ["arn:aws:cloudwatch:eu-central-1:123456789012:alarm:{{.Name}}-a-failed"]
    }
    b = { instance_id = "{{.B.instance}}", network_interface_id = "{{.B.eni}}" }
  }
  preferred_primary = "a"
  endpoint          = { vip = "192.168.170.10", port = 50000, route_table_ids = ["{{index .Tables 0}}", "{{index .Tables 1}}"] }
  timing            = { cooldown_seconds = {{.Cooldown}} }
  {{if .Verify}}depends_on = [hadr_command_document.status]{{else}}verify_on_create = false{{end}}
  {{.Extra}}
{{end}}
resource "hadr_group" "this" { {{template "group" .}} }
{{if .Again}}resource "hadr_group" "again" {
  depends_on = [hadr_group.this]
{{template "group" .}} }{{end}}
`))

func (a *testAWS) group(change func(*groupConfig)) string {
	c := groupConfig{Name: "orders", SyncMode: "NEARSYNC", Policy: "automatic", PeerWindow: 600, Cooldown: 900,
		A: a.nodes["a"], B: a.nodes["b"], Tables: a.tables}
	c.InstanceA, c.EniA, c.ZoneA = c.A.instance, c.A.eni, c.A.zone
	if change != nil {
		change(&c)
	}
	var b strings.Builder
	text := map[string]any{"Name": c.Name, "SyncMode": c.SyncMode, "Policy": c.Policy, "InstanceA": c.InstanceA, "EniA": c.EniA, "ZoneA": c.ZoneA, "RegionA": c.RegionA,
		"Extra": c.Extra, "Again": c.Again, "Documents": c.Documents, "PeerWindow": c.PeerWindow, "Cooldown": c.Cooldown, "Tables": c.Tables, "Verify": c.Verify,
		"B": map[string]string{"instance": c.B.instance, "eni": c.B.eni}}
	if err := groupTemplate.Execute(&b, text); err != nil {
		panic(err)
	}
	return b.String()
}

func TestGroup(t *testing.T) {
	a := startAWS(t).build(t)
	const name = "hadr_group.this"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: a.group(nil),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("active_primary"), knownvalue.StringExact("a")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("epoch"), knownvalue.Int64Exact(1)),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("phase"), knownvalue.StringExact("steady")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("failed_over_since"), knownvalue.Null()),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("timing").AtMapKey("promote_margin_seconds"), knownvalue.Int64Exact(10)),
				},
			},
			{ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"verify_on_create"}},
			{
				PreConfig: func() {
					group, node, err := a.record("hadr").Binding(t.Context(), "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a-failed")
					if err != nil || group != "orders" || node != "a" {
						t.Errorf("the alarm is bound to %q, %q (%v), want orders, a", group, node, err)
					}
					for _, n := range a.nodes {
						i, err := a.instance(t.Context(), n.instance)
						must(t, err)
						if o := ownerOf(i.Tags); o.group != "orders" || !strings.HasSuffix(o.tableARN, ":table/hadr") {
							t.Errorf("tags of %s name %+v", n.instance, o)
						}
					}
				},
				Config: a.group(func(c *groupConfig) { c.Cooldown = 600 }),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate)}},
			},
		},
	})
}

// A group whose machine is gone, and with it its tags, can be planned and
// destroyed. Another machine that there is not is refused in the plan.
func TestGroupOutlivesItsMachine(t *testing.T) {
	a := startAWS(t).build(t)
	terminate := func() {
		id := []string{a.nodes["b"].instance}
		_, err := a.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: id})
		must(t, err)
		must(t, ec2.NewInstanceTerminatedWaiter(a.ec2, func(o *ec2.InstanceTerminatedWaiterOptions) {
			o.MinDelay, o.MaxDelay = 100*time.Millisecond, 200*time.Millisecond
		}).Wait(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: id}, time.Minute))
		_, err = a.ec2.DeleteTags(t.Context(), &ec2.DeleteTagsInput{Resources: id, Tags: []ec2types.Tag{{Key: aws.String(tagTable)}, {Key: aws.String(tagGroup)}}})
		must(t, err)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil)},
			{Config: a.group(func(c *groupConfig) { c.B.instance = "i-0123456789abcdef0" }), PlanOnly: true,
				ExpectError: regexp.MustCompile(`There\s+is\s+no\s+instance\s+i-0123456789abcdef0`)},
			{PreConfig: terminate, Config: a.group(nil), PlanOnly: true},
		},
	})
}

// TestGroupTellsPeople: the topics are on the record, where whoever runs an
// operation reads them, and follow the configuration.
func TestGroupTellsPeople(t *testing.T) {
	a := startAWS(t).build(t)
	const name = "hadr_group.this"
	const first, second = "arn:aws:sns:eu-central-1:123456789012:on-call", "arn:aws:sns:eu-west-1:123456789012:managers"
	recorded := func(want string) func() {
		return func() {
			cfg, err := a.record("hadr").ReadConfig(t.Context(), "orders")
			must(t, err)
			if got := cfg.Settings["notification_arns"]; got != want {
				t.Errorf("topics on the record: %q, want %q", got, want)
			}
		}
	}
	telling := func(topics string) string {
		return a.group(func(c *groupConfig) { c.Extra = "notification_arns = [" + topics + "]" })
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: telling(`"arn:aws:sqs:eu-central-1:123456789012:lost"`), ExpectError: regexp.MustCompile(`must\s+be\s+an\s+ARN\s+of\s+sns`)},
			{Config: telling(`"` + second + `", "` + first + `"`)},
			{PreConfig: recorded(first + "," + second), ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"verify_on_create"}},
			{Config: telling(`"` + second + `"`)},
			{PreConfig: recorded(second), Config: a.group(nil)},
			{PreConfig: recorded(""), Config: a.group(nil), PlanOnly: true},
		},
	})
}

// After a takeover Terraform has nothing to do, and never moves the primary
// back (DESIGN 8).
func TestGroupIsLeftAloneAfterTakeover(t *testing.T) {
	a := startAWS(t).build(t)
	takeover := func() {
		prev, err := a.record("hadr").Load(t.Context(), "orders")
		must(t, err)
		next := prev
		next.Epoch, next.Primary, next.Changed = prev.Epoch+1, "b", time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
		must(t, a.record("hadr").Save(t.Context(), prev, next))
	}
	const name = "hadr_group.this"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil)},
			{
				PreConfig:        takeover,
				Config:           a.group(nil),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				Config: a.group(func(c *groupConfig) { c.Cooldown = 600 }),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("active_primary"), knownvalue.StringExact("b")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("epoch"), knownvalue.Int64Exact(2)),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("failed_over_since"), knownvalue.StringExact("2026-11-29T12:00:00Z")),
				},
			},
		},
	})
}

func TestGroupIsNotChangedDuringAnOperation(t *testing.T) {
	a := startAWS(t).build(t)
	operation := func(op *failover.Operation, phase failover.Phase) func() {
		return func() {
			prev, err := a.record("hadr").Load(t.Context(), "orders")
			must(t, err)
			next := prev
			next.Operation, next.Phase = op, phase
			must(t, a.record("hadr").Save(t.Context(), prev, next))
		}
	}
	running := &failover.Operation{ID: "01OPERATION", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepPromote,
		Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	changed := a.group(func(c *groupConfig) { c.Cooldown = 600 })
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil)},
			{PreConfig: operation(running, failover.TakingOver), Config: changed, ExpectError: regexp.MustCompile(`01OPERATION \(takeover, step promote\)`)},
			{Config: a.group(nil), Destroy: true, ExpectError: regexp.MustCompile(`force_destroy`)},
			{PreConfig: operation(nil, failover.Steady), Config: changed},
		},
	})
}

func TestGroupNameTwice(t *testing.T) {
	a := startAWS(t).build(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config:      a.group(func(c *groupConfig) { c.Again = "yes" }),
			ExpectError: regexp.MustCompile(`(?s)already\s+holds\s+a\s+group\s+"orders".*` + a.nodes["a"].instance),
		}},
	})
}

func TestGroupRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*groupConfig)
		want   string
	}{
		"instance that does not exist": {func(c *groupConfig) { c.InstanceA = "i-0123456789abcdef0" }, `There\s+is\s+no\s+instance\s+i-0123456789abcdef0`},
		"malformed instance id":        {func(c *groupConfig) { c.InstanceA = "web-1" }, `must\s+be\s+the\s+id\s+of\s+an\s+EC2\s+instance`},
		"interface of the other node":  {func(c *groupConfig) { c.EniA, c.B.eni = c.B.eni, c.A.eni }, `not\s+attached\s+to`},
		"one machine for both nodes":   {func(c *groupConfig) { c.InstanceA = c.B.instance }, `declared\s+for\s+node\s+a`},
		"wrong zone":                   {func(c *groupConfig) { c.ZoneA = "eu-central-1c" }, `is\s+in\s+eu-central-1a,\s+not\s+in\s+eu-central-1c`},
		"peer window too short":        {func(c *groupConfig) { c.PeerWindow = 120 }, `(?s)peer window is too short.*needs\s+347\s+s\s+and\s+has\s+105\s+s`},
		"no peer window":               {func(c *groupConfig) { c.PeerWindow = 0 }, `HADR_PEER_WINDOW is 0`},
		"ASYNC under automatic":        {func(c *groupConfig) { c.SyncMode = "ASYNC" }, `ASYNC has no peer window`},
		"name":                         {func(c *groupConfig) { c.Name = "Orders" }, `lower-case`},
		"peer_window with clients on the hosts": {func(c *groupConfig) { c.Extra = "fencing = \"peer_window\"\nhost_applications = true" },
			`(?s)moving\s+the\s+endpoint\s+leaves\s+them\s+on\s+the\s+old\s+primary.*Set\s+fencing\s+to\s+strict`},
		"node of another Region": {func(c *groupConfig) { c.RegionA = "eu-west-1" },
			`(?s)Checking\s+node\s+a\n.*declared\s+in\s+eu-west-1,\s+and\s+the\s+provider's\s+Region\s+is\s+eu-central-1.*Leave\s+region\s+away`},
		"isolation by a name": {func(c *groupConfig) { c.Extra = `isolation_security_group_id = "default"` }, `must\s+be\s+the\s+id\s+of\s+a\s+security\s+group`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t).build(t)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    []resource.TestStep{{Config: a.group(tt.change), ExpectError: regexp.MustCompile(tt.want)}},
			})
		})
	}
}

// A person decides under the other policies, so the plan only warns.
func TestGroupAcceptsAsyncUnderApproval(t *testing.T) {
	a := startAWS(t).build(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: a.group(func(c *groupConfig) { c.SyncMode, c.Policy = "ASYNC", "approval" })}},
	})
}

// The record has what a person and an operation need: how far fencing goes, and
// the versions that an operation keeps to (R13, R16, R25).
func TestGroupPinsDocuments(t *testing.T) {
	a := startAWS(t).build(t)
	documents := func(version string) string {
		return a.group(func(c *groupConfig) {
			c.Extra = "host_applications = true\nisolation_security_group_id = \"sg-0123456789abcdef0\""
			c.Documents = `
    forced_takeover_document = "hadr-forced"
    switchover_document      = "hadr-switch"
    document_versions        = { db2_takeover = "` + version + `" }`
		})
	}
	declared := func(version string) func() {
		return func() {
			c, err := a.record("hadr").ReadConfig(t.Context(), "orders")
			must(t, err)
			if got := c.Settings["takeover_document_version"]; got != version || c.Settings["forced_takeover_document"] != "hadr-forced" ||
				!c.HostApplications || c.Isolation != "sg-0123456789abcdef0" {
				t.Errorf("version %q, want %q; config %+v", got, version, c)
			}
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: documents("1")},
			{ResourceName: "hadr_group.this", ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"verify_on_create"}},
			{PreConfig: declared("1"), Config: documents("two"), ExpectError: regexp.MustCompile(`must\s+be\s+a\s+version\s+number`)},
			{Config: documents("2")},
			{PreConfig: declared("2"), Config: documents("2")},
		},
	})
}

func TestGroupRefusesForeignNodes(t *testing.T) {
	a := startAWS(t).build(t)
	_, err := a.ec2.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{a.nodes["b"].instance}, Tags: []ec2types.Tag{
		{Key: aws.String(tagTable), Value: aws.String("arn:aws:dynamodb:eu-central-1:123456789012:table/other")},
		{Key: aws.String(tagGroup), Value: aws.String("stock")},
	}})
	must(t, err)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: a.group(nil), ExpectError: regexp.MustCompile(`(?s)"stock"\s+of\s+table.*table/other`)}},
	})
}

func TestFailedOverWarning(t *testing.T) {
	m := groupModel{Name: tfString(aws.String("orders")), ActivePrimary: tfString(aws.String("b")), FailedOverSince: tfString(aws.String("2026-11-29T12:00:00Z"))}
	m.Epoch = tfInt(aws.Int32(7))
	got := m.failedOver(tfString(aws.String("a")))
	if len(got) != 1 || got.HasError() {
		t.Fatalf("diagnostics %v, want one warning", got)
	}
	for _, want := range []string{"Group is failed over: orders runs on node b", "2026-11-29T12:00:00Z", "epoch 7"} {
		if !strings.Contains(got[0].Summary()+got[0].Detail(), want) {
			t.Errorf("the warning does not say %q:\n%s\n%s", want, got[0].Summary(), got[0].Detail())
		}
	}
	if got := m.failedOver(tfString(aws.String("b"))); len(got) != 0 {
		t.Errorf("warning although the preferred node is primary: %v", got)
	}
}
