package provider

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestMaintenanceAsARefreshShowsIt(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	declared := func(on bool, until, reason string) types.Object {
		return types.ObjectValueMust(maintenanceType, map[string]attr.Value{
			"enabled": types.BoolValue(on), "until": tfString(&until), "reason": tfString(&reason),
		})
	}
	off := failover.Maintenance{}
	tests := map[string]struct {
		declared types.Object
		record   failover.Maintenance
		want     types.Object
	}{
		"not declared":                          {types.ObjectNull(maintenanceType), failover.Maintenance{On: true}, types.ObjectNull(maintenanceType)},
		"in force":                              {declared(true, "2026-11-29T14:00:00+01:00", "patches"), failover.Maintenance{On: true, Until: at.Add(time.Hour), Reason: "patches"}, declared(true, "2026-11-29T14:00:00+01:00", "patches")},
		"in force, and switched off by hand":    {declared(true, "2026-11-29T13:00:00Z", ""), off, declared(false, "", "")},
		"without an end, and switched off":      {declared(true, "", "patches"), off, declared(false, "", "")},
		"expired, and on for nobody looked":     {declared(true, "2026-11-29T11:00:00Z", "patches"), failover.Maintenance{On: true, Until: at.Add(-time.Hour), Reason: "patches"}, declared(true, "2026-11-29T11:00:00Z", "patches")},
		"expired, and switched off":             {declared(true, "2026-11-29T11:00:00Z", "patches"), off, declared(true, "2026-11-29T11:00:00Z", "patches")},
		"expired this moment":                   {declared(true, "2026-11-29T12:00:00Z", ""), off, declared(true, "2026-11-29T12:00:00Z", "")},
		"expired, and switched on by hand":      {declared(true, "2026-11-29T11:00:00Z", ""), failover.Maintenance{On: true}, declared(true, "", "")},
		"declared off, and switched on by hand": {declared(false, "", ""), failover.Maintenance{On: true}, declared(true, "", "")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			m := groupModel{Maintenance: tt.declared}
			m.flattenMaintenance(t.Context(), tt.record, at, &diags)
			if !m.Maintenance.Equal(tt.want) || diags.HasError() {
				t.Errorf("shows %s (%v), want %s", m.Maintenance, diags, tt.want)
			}
		})
	}
}

// Declared maintenance that has expired is neither a change nor switched on again.
func TestGroupWithExpiredMaintenance(t *testing.T) {
	a := startAWS(t).build(t)
	past := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	config := func(cooldown int) string {
		return a.group(func(c *groupConfig) {
			c.Cooldown, c.Extra = cooldown, `maintenance = { enabled = true, until = "2025-01-02T03:04:05Z", reason = "patches" }`
		})
	}
	on := failover.Maintenance{On: true, Until: past, Reason: "patches"}
	set := func(m failover.Maintenance) func() {
		return func() { must(t, a.record("hadr").SetMaintenance(t.Context(), "orders", m)) }
	}
	isOff := func() {
		s, err := a.record("hadr").Load(t.Context(), "orders")
		must(t, err)
		if s.Maintenance != (failover.Maintenance{}) {
			t.Errorf("maintenance is %+v, want it off", s.Maintenance)
		}
	}
	unchanged := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config(900)},
			{PreConfig: set(on), Config: config(900), ConfigPlanChecks: unchanged}, // nobody has looked yet
			{PreConfig: func() { must(t, a.record("hadr").EndMaintenance(t.Context(), "orders", on)) }, Config: config(900), ConfigPlanChecks: unchanged},
			{PreConfig: set(failover.Maintenance{On: true}), Config: config(600)}, // by hand, where it is declared
			{PreConfig: isOff, Config: config(600), ConfigPlanChecks: unchanged},
		},
	})
}
