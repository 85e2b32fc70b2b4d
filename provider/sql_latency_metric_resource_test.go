package provider

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

func probeConfig(rest string) string {
	return sprintf(`
resource "hadr_state_table" "this" {
  name                = "hadr-orders"
  deletion_protection = false
}

resource "hadr_sql_latency_metric" "a" {
  table_name = hadr_state_table.this.name
  group      = "orders"
  node       = "a"
  %s
}`, rest)
}

// The lease is on the record that the agent reads, comes and goes with its
// block, and is refused where one lost renewal would look like a death.
func TestLeaseOfSQLLatencyMetric(t *testing.T) {
	a := startAWS(t)
	recorded := func(duration, interval time.Duration, function string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			p, err := a.clients.record("hadr-orders").ReadProbe(t.Context(), "orders", "a")
			if err == nil && (p.LeaseDuration != duration || p.LeaseInterval != interval || p.Function != function) {
				t.Errorf("on the record: lease %s, renewed every %s, function %q", p.LeaseDuration, p.LeaseInterval, p.Function)
			}
			return err
		}
	}
	const address = "hadr_sql_latency_metric.a"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: probeConfig(`lease = { function = "orders-takeover" }`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("lease").AtMapKey("duration_seconds"), knownvalue.Int64Exact(20)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("lease").AtMapKey("interval_seconds"), knownvalue.Int64Exact(5)),
				},
				Check: recorded(20*time.Second, 5*time.Second, "orders-takeover"),
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true},
			{
				Config: probeConfig(`lease = { function = "orders-takeover", duration_seconds = 6, interval_seconds = 2 }`),
				Check:  recorded(6*time.Second, 2*time.Second, "orders-takeover"),
			},
			{
				Config:      probeConfig(`lease = { function = "orders-takeover", duration_seconds = 6, interval_seconds = 3 }`),
				ExpectError: regexp.MustCompile(`(?s)one lost\s+renewal`),
			},
			{Config: probeConfig(``), Check: recorded(0, 0, "")},
		},
	})
}

// A probe whose lost values would look healthy, or that lasts into the next one,
// is refused by the plan.
func TestUnsafeSQLLatencyMetric(t *testing.T) {
	startAWS(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: probeConfig(`sentinel_milliseconds = 20000`), PlanOnly: true, ExpectError: regexp.MustCompile(`(?s)not\s+above\s+the\s+threshold`)},
			{Config: probeConfig(`timeout_seconds = 20`), PlanOnly: true, ExpectError: regexp.MustCompile(`(?s)as\s+long\s+as\s+the\s+interval`)},
		},
	})
}

// The policy as a data source says the same as the resource.
func TestHostPolicyDocument(t *testing.T) {
	startAWS(t)
	config := func(rest string) string {
		return sprintf(`
data "hadr_host_policy_document" "this" {
  table_arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"
  groups    = ["orders"]
  %s
}

output "json" { value = data.hadr_host_policy_document.this.json }`, rest)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config: config(`function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:orders-takeover"`),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("json", knownvalue.StringRegexp(regexp.MustCompile(
				`GROUP#orders.*HADR.*lambda:InvokeFunction"\],"Resource":\["arn:aws:lambda:eu-central-1:123456789012:function:orders-takeover"\]`)))},
		}},
	})
}

// TestHostPolicyKeepsLease: an agent keeps a lease only where it may report a
// lost one.
func TestHostPolicyKeepsLease(t *testing.T) {
	for _, function := range []string{"", "arn:aws:lambda:eu-central-1:123456789012:function:orders-takeover"} {
		text, err := HostPolicy(t.Context(), "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr", function, "orders")
		must(t, err)
		for _, action := range []string{"dynamodb:UpdateItem", "lambda:InvokeFunction"} {
			if strings.Contains(text, action) != (function != "") {
				t.Errorf("function %q: %s in %s", function, action, text)
			}
		}
	}
}
