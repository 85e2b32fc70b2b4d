package db2

import (
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// promotion reads the report of the takeover document. Only what is certain is
// OK or Failed; the rest is Unknown, and the role is read next (R23).
func promotion(res command.Result, database string) control.PromotionResult {
	out := control.PromotionResult{CommandID: res.CommandID, Outcome: failover.Unknown, Detail: res.Detail}
	if res.CommandID == "" && res.Outcome != command.Unknown {
		out.Outcome = failover.Failed // never sent
		return out
	}
	if res.Outcome != command.OK && res.Outcome != command.Failed {
		return out
	}
	report, err := sections(res.Stdout)
	if err != nil {
		out.Detail = strings.TrimSpace(err.Error() + " " + beginning(res.Stderr))
		return out
	}
	reason := strings.TrimSpace(report["reason"])
	reply := ParseReply(report["takeover"])
	class := reply.Classify("takeover hadr")
	if reply.Decisive != nil {
		out.Code = reply.Decisive.String()
	}
	out.Detail = reason
	switch strings.TrimSpace(report["outcome"]) {
	case "primary":
		out.Outcome, out.Role = failover.OK, failover.RolePrimary // the document read it
	case "refused": // by the document, before it asked Db2
		out.Outcome, out.Code = failover.Failed, "refused"
		out.Next = "read the node: db2pd -db " + database + " -hadr"
	case "standby": // by Db2, and the role was read afterwards
		out.Detail = strings.TrimSpace(reason + ": " + beginning(report["takeover"]))
		out.Next = strings.ReplaceAll(class.Next, "DATABASE", database)
		if reply.Decisive != nil && !class.OK {
			out.Outcome = failover.Failed
		}
	default:
		if text := beginning(report["takeover"]); text != "" {
			out.Detail = strings.TrimSpace(reason + ": " + text)
		}
		out.Next = "read the role on the node: db2pd -db " + database + " -hadr"
	}
	return out
}
