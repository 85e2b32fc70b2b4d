package provider

import (
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

const scheduleAddress = "hadr_schedule.this"

func scheduleConfig(rest string) string {
	return sprintf(`
resource "hadr_state_table" "this" {
  name                = "hadr"
  deletion_protection = false
}
resource "hadr_function" "watch" {
  name      = "orders-watch"
  kind      = "watch"
  table_arn = hadr_state_table.this.arn
  groups    = ["stock", "orders"]
}
resource "hadr_schedule" "this" {
  name         = "orders-watch"
  function_arn = hadr_function.watch.arn
  %s
}`, rest)
}

func updates(address string) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}}
}

func TestSchedule(t *testing.T) {
	a := startAWS(t)
	get := func() *scheduler.GetScheduleOutput {
		s, err := a.scheduler.GetSchedule(t.Context(), &scheduler.GetScheduleInput{Name: aws.String("orders-watch")})
		must(t, err)
		return s
	}
	change := func(f func(*scheduler.UpdateScheduleInput)) func() {
		return func() {
			s := get()
			in := &scheduler.UpdateScheduleInput{Name: s.Name, ScheduleExpression: s.ScheduleExpression, FlexibleTimeWindow: s.FlexibleTimeWindow, Target: s.Target, State: s.State}
			f(in)
			_, err := a.scheduler.UpdateSchedule(t.Context(), in)
			must(t, err)
		}
	}
	repaired := func(behind func()) resource.TestStep {
		return resource.TestStep{PreConfig: behind, Config: scheduleConfig(""), ConfigPlanChecks: updates(scheduleAddress)}
	}
	own := ownRole{clients: a.clients, name: "orders-watch-schedule", policyName: ownSchedulePolicy}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: scheduleConfig(""),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(scheduleAddress, tfjsonpath.New("rate_minutes"), knownvalue.Int64Exact(1)),
					statecheck.ExpectKnownValue(scheduleAddress, tfjsonpath.New("enabled"), knownvalue.Bool(true)),
					statecheck.ExpectKnownValue(scheduleAddress, tfjsonpath.New("role_arn"), knownvalue.StringExact("arn:aws:iam::123456789012:role/orders-watch-schedule")),
					statecheck.ExpectKnownValue(scheduleAddress, tfjsonpath.New("policy"), knownvalue.StringRegexp(regexp.MustCompile(`function:orders-watch"`))),
				},
			},
			{
				PreConfig: func() {
					s := get()
					if e, p := aws.ToString(s.ScheduleExpression), s.Target.RetryPolicy; e != "rate(1 minute)" || *p.MaximumRetryAttempts != 0 || *p.MaximumEventAgeInSeconds != 60 {
						t.Errorf("the schedule is %s with %d retries in %d s", e, *p.MaximumRetryAttempts, *p.MaximumEventAgeInSeconds)
					}
				},
				ResourceName: scheduleAddress, ImportState: true, ImportStateVerify: true,
			},
			repaired(change(func(in *scheduler.UpdateScheduleInput) { in.State = schedulertypes.ScheduleStateDisabled })),
			repaired(change(func(in *scheduler.UpdateScheduleInput) { in.ScheduleExpression = aws.String("rate(1 hour)") })),
			repaired(change(func(in *scheduler.UpdateScheduleInput) { in.EndDate = aws.Time(time.Now().Add(time.Hour)) })),
			repaired(func() {
				must(t, own.allow(t.Context(), schedulePolicy("arn:aws:lambda:eu-central-1:123456789012:function:other").String()))
			}),
			{
				PreConfig: func() {
					_, err := a.scheduler.DeleteSchedule(t.Context(), &scheduler.DeleteScheduleInput{Name: aws.String("orders-watch")})
					must(t, err)
					must(t, own.delete(t.Context()))
				},
				Config:           scheduleConfig("rate_minutes = 5\n  enabled = false"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(scheduleAddress, plancheck.ResourceActionCreate)}},
			},
			{
				PreConfig: func() {
					if s := get(); aws.ToString(s.ScheduleExpression) != "rate(5 minutes)" || s.State != schedulertypes.ScheduleStateDisabled {
						t.Errorf("the schedule is %s, %s", aws.ToString(s.ScheduleExpression), s.State)
					}
				},
				Config: scheduleConfig("rate_minutes = 5"),
			},
		},
	})
	if _, err := a.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("orders-watch-schedule")}); !notFound(err) {
		t.Errorf("the execution role outlives its schedule: %v", err)
	}
}

// A role of the user's own is used as it is.
func TestScheduleWithARole(t *testing.T) {
	a := startAWS(t)
	out, err := a.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("minutely"),
		AssumeRolePolicyDocument: aws.String(assumeByScheduler("123456789012").String())})
	must(t, err)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: scheduleConfig(`role_arn = "` + aws.ToString(out.Role.Arn) + `"`)}},
	})
	if _, err := a.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("minutely")}); err != nil {
		t.Errorf("the user's role is gone: %v", err)
	}
}

func TestWatchFunction(t *testing.T) {
	startAWS(t)
	const watch = "hadr_function.watch"
	at := func(name string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(watch, tfjsonpath.New(name), check)
	}
	refused := func(from, to, want string) resource.TestStep {
		return resource.TestStep{Config: regexp.MustCompile(from).ReplaceAllString(scheduleConfig(""), to), ExpectError: regexp.MustCompile(want)}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			refused(`groups .*`, ``, `no[a-z\s]*is\s+named`),
			refused(`groups .*`, `groups = ["orders"]`+"\n"+`alarm_names = ["orders-a-failed"]`, `by\s+a\s+schedule,\s+not\s+by\s+alarms`),
			refused(`"watch"\n`, `"takeover"`+"\n", `set\s+kind\s+to\s+watch`),
			{
				Config: scheduleConfig(""),
				ConfigStateChecks: []statecheck.StateCheck{
					at("timeout_seconds", knownvalue.Int64Exact(300)),
					at("maximum_retry_attempts", knownvalue.Int64Exact(0)),
					at("maximum_event_age_seconds", knownvalue.Int64Exact(180)),
					at("environment", knownvalue.MapExact(map[string]knownvalue.Check{
						"HADR_TABLE": knownvalue.StringExact("hadr"), "HADR_GROUPS": knownvalue.StringExact("orders,stock"), "HADR_LOG_LEVEL": knownvalue.StringExact("info"),
					})),
					at("policy", knownvalue.StringRegexp(regexp.MustCompile(`dynamodb:Scan`))),
				},
			},
			{ResourceName: watch, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"policy"}},
		},
	})
}
