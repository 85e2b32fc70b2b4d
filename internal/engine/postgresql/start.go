package postgresql

import (
	"context"
	"errors"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// StartDatabase implements control.Engine: pg_ctl start, in the role on disk. A
// server that runs is no error. A primary that is alone waits for no standby
// (R29).
func (e *Engine) StartDatabase(ctx context.Context, p control.Promotion) (failover.Outcome, error) {
	return e.start(ctx, p, failover.StepRestart, "on_disk")
}

func (e *Engine) start(ctx context.Context, p control.Promotion, step failover.StepName, as string) (failover.Outcome, error) {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return failover.Failed, err
	}
	alone := map[bool]string{false: "no", true: "yes"}[p.Alone]
	a := e.run(ctx, order{kind: "start", step: step, settings: s, Promotion: p, extra: map[string]string{"as": as, "alone": alone}}, nil)
	switch {
	case a.err != nil:
		return failover.Failed, a.err
	case a.report == nil:
		return failover.Unknown, errors.New(a.Detail)
	case a.report["outcome"] == "started":
		return failover.OK, nil
	case a.report["outcome"] == "unknown":
		return failover.Unknown, errors.New(a.report["reason"])
	}
	return failover.Failed, errors.New(strings.TrimSpace(a.report["reason"] + " " + document.Beginning(a.report["log"])))
}
