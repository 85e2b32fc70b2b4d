package postgresql

import (
	"context"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const configureNext = "correct the configuration of the group, then terraform apply"

// Promote implements control.Engine: pg_promote, which waits for its end within
// a bound (https://www.postgresql.org/docs/15/functions-admin.html#FUNCTIONS-RECOVERY-CONTROL).
// The detail of a success says what may be lost (R33). Whether the standby has
// enough is the core's decision: PostgreSQL itself promotes any standby.
func (e *Engine) Promote(ctx context.Context, p control.Promotion, started func(commandID string)) control.PromotionResult {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error(), Next: configureNext}
	}
	if p.InOrder {
		return e.switchOver(ctx, s, p, started)
	}
	return e.promote(ctx, s, p, "none", started)
}

// promote promotes a standby that has replayed the log beyond atLeast.
func (e *Engine) promote(ctx context.Context, s Settings, p control.Promotion, atLeast string, started func(commandID string)) control.PromotionResult {
	a := e.run(ctx, order{kind: "promote", step: failover.StepPromote, settings: s, Promotion: p, extra: map[string]string{"at_least": atLeast}}, started)
	if a.err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: a.err.Error(), Next: configureNext}
	}
	out := control.PromotionResult{CommandID: a.CommandID, Outcome: failover.Unknown, Detail: a.Detail}
	if a.report == nil {
		return out
	}
	out.Detail, out.Code = a.report["reason"], a.report["outcome"]
	out.Next = "read the role on node " + p.Node.ID + ": psql -c 'SELECT pg_is_in_recovery()'"
	switch a.report["outcome"] {
	case "primary":
		out.Outcome, out.Next = failover.OK, ""
		if lost, known := e.exposure(s, atLeast, a.report); known {
			out.Detail = strings.TrimSpace(out.Detail + " " + lost.String())
		}
	case "refused", "standby": // certainly not promoted
		out.Outcome = failover.Failed
		out.Detail = strings.TrimSpace(out.Detail + " " + document.Beginning(a.report["promote"]))
	default:
		out.Detail = strings.TrimSpace(out.Detail + ": " + document.Beginning(a.report["promote"]))
	}
	return out
}

// exposure is what a promotion may have lost, if its report tells positions:
// that of a server which was primary already does not.
func (e *Engine) exposure(s Settings, atLeast string, r document.Report) (x Exposure, known bool) {
	positions := strings.Split(r["positions"], "|")
	if len(positions) != 3 {
		return Exposure{}, false
	}
	if atLeast != "none" { // a switchover waits for everything
		return Exposure{Mode: Sync}, true
	}
	c := parseContact(r["contact"])
	return Exposure{Mode: s.Mode, Missing: c.Missing, Since: covered(c, document.Time(positions[2])), At: e.at(r["promoted_at"])}, true
}
