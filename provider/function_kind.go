package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// Kinds of functions: the names of their handlers.
const (
	kindTakeover = "takeover"
	kindWatch    = "watch"
)

// functionKind is what is particular to a kind of function.
type functionKind struct {
	timeout, eventAge, retries int64 // defaults
	policy                     func(functionScope) policy
}

var kinds = map[string]functionKind{
	// The event of an alarm comes once: it is kept and tried again.
	kindTakeover: {timeout: maxFunctionTimeout, eventAge: 360, retries: maxRetries, policy: takeoverPolicy},
	// The schedule comes again in a minute, with a look at what is then.
	kindWatch: {timeout: 300, eventAge: minEventAge, retries: 0, policy: watchPolicy},
}

func (m functionModel) kind() functionKind { return kinds[m.Kind.ValueString()] }

// fillDefaults sets what the configuration leaves to the kind of the function.
func (m *functionModel) fillDefaults(config functionModel) {
	k, ok := kinds[m.Kind.ValueString()]
	if !ok {
		return // not known yet
	}
	for _, d := range []struct {
		declared types.Int64
		planned  *types.Int64
		value    int64
	}{
		{config.TimeoutSeconds, &m.TimeoutSeconds, k.timeout},
		{config.MaximumEventAge, &m.MaximumEventAge, k.eventAge},
		{config.MaximumRetryAttempts, &m.MaximumRetryAttempts, k.retries},
	} {
		if d.declared.IsNull() {
			*d.planned = types.Int64Value(d.value)
		}
	}
}

// validateKind refuses what does not go with the kind of the function.
func (m functionModel) validateKind() (diags diag.Diagnostics) {
	problem := func(attribute, why, next string) {
		diags.Append(diagnose.Problem{Tried: "checking function", Object: m.Name.ValueString(), Cause: why, Next: next}.ErrorAt(path.Root(attribute)))
	}
	switch m.Kind.ValueString() {
	case kindWatch:
		if m.Groups.IsNull() {
			problem("groups", "A function of kind watch looks at groups, and none is named", "Set groups to the names of the groups")
		}
		if !m.AlarmNames.IsNull() {
			problem("alarm_names", "A function of kind watch is invoked by a schedule, not by alarms", "Remove alarm_names, and name the alarms in the function of kind takeover")
		}
	case kindTakeover:
		if !m.Groups.IsNull() {
			problem("groups", "A function of kind takeover serves the group that an alarm is bound to", "Remove groups, or set kind to watch")
		}
	}
	return diags
}
