package casefile

import (
	"fmt"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// sources are where each signal comes from.
var sources = map[failover.Signal]string{
	failover.SignalAlarm:        alarmOf,
	failover.SignalLease:        "lease",
	failover.SignalInstance:     "ec2:DescribeInstances",
	failover.SignalStandbyView:  "command",
	failover.SignalSilent:       "ssm:SendCommand",
	failover.SignalDatabaseDown: "command",
	failover.SignalProbe:        "agent",
}

func evidenceOf(signal failover.Signal, node string, at time.Time, detail string) failover.Evidence {
	e := failover.Evidence{Node: node, Signal: signal, At: at, Detail: detail, Source: sources[signal]}
	if signal == failover.SignalAlarm {
		e.Source += node
	}
	return e
}

// evidenceFields takes lines "SIGNAL NODE: TIME, [conclusive,] TEXT".
func evidenceFields(to *[]failover.Evidence) fields {
	f := fields{}
	for signal := range sources {
		f[string(signal)+" *"] = func(id, v string) error {
			if id != "a" && id != "b" {
				return fmt.Errorf("no node %q; want a or b", id)
			}
			at, detail, _ := strings.Cut(v, ", ")
			when, err := parseMoment(at)
			if err != nil {
				return err
			}
			e := evidenceOf(signal, id, when, detail)
			e.Detail, e.Conclusive = strings.CutPrefix(detail, "conclusive, ")
			*to = append(*to, e)
			return nil
		}
	}
	return f
}
