package provider

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// breaker is a way to AWS on which one call of DynamoDB fails.
type breaker struct {
	operation string
	calls     atomic.Int64 // until it fails
}

// breakable leads Terraform and the provider through a breaker.
func (a *testAWS) breakable(t *testing.T) *breaker {
	t.Helper()
	to, err := url.Parse(a.url)
	must(t, err)
	b := &breaker{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+b.operation) && b.calls.Add(-1) == 0 {
			const answer = `{"__type": "ValidationException", "message": "broken on purpose"}`
			w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(answer))))
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, answer)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	return b
}

// fail makes one of the next calls of an operation fail.
func (b *breaker) fail(operation string, call int) func() {
	return func() {
		b.operation = operation
		b.calls.Store(int64(call))
	}
}

// A group whose creation or removal broke off stays in Terraform's hands: the next apply completes it or makes it
// anew, and a destroy leaves nothing. No epoch comes twice.
func TestGroupInPart(t *testing.T) {
	const name = "hadr_group.this"
	broken := regexp.MustCompile(`broken\s+on\s+purpose`)
	has := func(config string, epoch int64) resource.TestStep {
		return resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(name, tfjsonpath.New("epoch"), knownvalue.Int64Exact(epoch)),
			statecheck.ExpectKnownValue(name, tfjsonpath.New("phase"), knownvalue.StringExact("steady")),
		}}
	}
	imported := resource.TestStep{ResourceName: name, ImportState: true, ImportStateId: "hadr/orders",
		ImportStateCheck: func(all []*terraform.InstanceState) error {
			if len(all) != 1 || all[0].ID != "hadr/orders" {
				return fmt.Errorf("imported %v", all)
			}
			return nil
		}}
	type story func(b *breaker, config string) []resource.TestStep
	creating := func(call int, then ...resource.TestStep) story {
		return func(b *breaker, config string) []resource.TestStep {
			return append([]resource.TestStep{{PreConfig: b.fail("PutItem", call), Config: config, ExpectError: broken}}, then...)
		}
	}
	destroying := func(call int) story {
		return func(b *breaker, config string) []resource.TestStep {
			return []resource.TestStep{{Config: config}, {PreConfig: b.fail("DeleteItem", call), Config: config, Destroy: true, ExpectError: broken}}
		}
	}
	again := func(s story, epoch int64) story {
		return func(b *breaker, config string) []resource.TestStep { return append(s(b, config), has(config, epoch)) }
	}
	tests := map[string]story{
		"a state and no configuration, imported":     creating(2, imported),
		"a state and no configuration":               again(creating(2), 2),
		"an alarm was not bound":                     again(creating(3), 2),
		"the state was not deleted":                  again(destroying(1), 1),
		"no state, and an alarm is bound, destroyed": destroying(2),
		"nothing is left but the configuration":      again(destroying(4), 2),
	}
	for what, steps := range tests {
		t.Run(what, func(t *testing.T) {
			a := startAWS(t).build(t)
			a.newTable(t, "")
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    steps(a.breakable(t), inTable(`"hadr"`, a.group(nil))),
			})
			left, err := a.record("hadr").Left(t.Context(), "orders")
			if err != nil || len(left) > 0 {
				t.Errorf("after destroy there is %v (%v)", left, err)
			}
			must(t, a.record("hadr").BindAlarms(t.Context(), "stock", "a", []string{"arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a-failed"}))
		})
	}
}

// What somebody deleted of a group that lives is written again, and its primary and epoch stay.
func TestGroupIsCompleted(t *testing.T) {
	a := startAWS(t).build(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil)},
			{
				PreConfig: func() { must(t, a.record("hadr").DeleteConfig(t.Context(), "orders")) },
				Config:    a.group(nil),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction("hadr_group.this", plancheck.ResourceActionUpdate)}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("hadr_group.this", tfjsonpath.New("epoch"), knownvalue.Int64Exact(1))},
			},
		},
	})
}
