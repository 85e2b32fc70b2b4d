package db2

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Manual implements control.Engine.
func (e *Engine) Manual() failover.Manual {
	return failover.Manual{
		Role: "db2pd -hadr", Start: "db2 activate db", Kill: "db2_kill",
		Reseed: "db2 backup, db2 restore, db2 start hadr ... as standby",
	}
}

// Rejoin implements control.Engine: START HADR AS STANDBY on an old primary
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=dhadr-reintegrating-database-after-takeover-operation).
// It returns at once; whether the node catches up is read afterwards.
func (e *Engine) Rejoin(ctx context.Context, p control.Promotion) control.PromotionResult {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error()}
	}
	vip := p.VIP
	if vip == "" {
		vip = "none"
	}
	step := string(failover.StepReintegrate)
	parameters := map[string]string{
		"group": p.Group, "table_arn": s.TableARN, "database": s.Database, "owner": s.Owner, "vip": vip,
		"epoch": strconv.FormatUint(p.Epoch, 10), "operation": p.OperationID, "step": step,
		"attempt": strconv.Itoa(p.Attempt), "deadline": strconv.FormatInt(p.Deadline.Unix(), 10),
	}
	if err := check("rejoin", s.RejoinDocument, parameters); err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error()}
	}
	res := e.runner.Run(ctx, command.Request{
		Document: s.RejoinDocument, Version: s.versions["rejoin"], Instance: p.Node.Instance, Parameters: parameters,
		Comment: fmt.Sprintf("%s/%s/%d", p.OperationID, step, p.Attempt), Resume: true, // R21
	})
	out := control.PromotionResult{CommandID: res.CommandID, Outcome: failover.Unknown, Detail: res.Detail}
	if res.Outcome != command.OK && res.Outcome != command.Failed {
		return out
	}
	report, err := sections(res.Stdout)
	if err != nil {
		out.Detail = err.Error()
		return out
	}
	out.Outcome = failover.Failed
	if res.Outcome == command.OK {
		out.Outcome = failover.OK
	}
	if reply := ParseReply(report["rejoin"]); reply.Decisive != nil {
		out.Code = reply.Decisive.String()
	}
	if strings.TrimSpace(report["outcome"]) == failover.NotReady {
		out.Code, out.Next = failover.NotReady, "on node "+p.Node.ID+": "+strings.TrimSpace(report["next"])
	}
	out.Detail = strings.TrimSpace(strings.TrimSpace(report["reason"]) + " " + beginning(report["rejoin"]))
	return out
}
