// Package evidence turns what was read - alarms, machines, nodes - into dated
// evidence about a node, which the core weighs.
package evidence

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Of returns the evidence against suspect in what was read of all nodes at
// now. Good news is no evidence: the core knows what vetoes (R4, R5).
func Of(suspect string, nodes map[string]failover.Observation, now time.Time, c failover.Config) []failover.Evidence {
	var found []failover.Evidence
	add := func(e failover.Evidence) {
		e.Node = suspect
		if e.At.IsZero() {
			e.At = now
		}
		found = append(found, e)
	}
	own, read := nodes[suspect]
	if read {
		for _, e := range []*failover.Evidence{machine(own), silence(own), database(own), probe(own, c)} {
			if e != nil {
				add(*e)
			}
		}
	}
	for _, n := range c.Nodes {
		if o, ok := nodes[n.ID]; ok && n.ID != suspect {
			if e := standbyView(suspect, o); e != nil {
				add(*e)
			}
		}
	}
	return found
}

// machine: what EC2 says about the node's instance. A stop that is only
// accepted may still be a graceful one that somebody ordered.
func machine(o failover.Observation) *failover.Evidence {
	e := failover.Evidence{Signal: failover.SignalInstance, Source: "ec2:DescribeInstances", At: o.ReadAt}
	switch {
	case o.Instance.Down() || o.Instance == failover.InstanceShuttingDown:
		e.Conclusive = true
		e.Detail = "the instance is " + string(o.Instance)
	case o.Instance == failover.InstanceStopping:
		e.Detail = "the instance is stopping"
	case o.InstanceCheck == "impaired":
		e.Detail, e.Source = "the status check of the instance fails", "ec2:DescribeInstanceStatus"
	default:
		return nil
	}
	return &e
}

// silence: the status command got no answer. Output that is not understood is
// an answer of a living host.
func silence(o failover.Observation) *failover.Evidence {
	if o.Answer != failover.Silent && o.Answer != failover.Undeliverable {
		return nil
	}
	detail := "the node does not answer its status command"
	if o.AnswerError != "" {
		detail += ": " + o.AnswerError
	}
	return &failover.Evidence{Signal: failover.SignalSilent, Source: "ssm:SendCommand", At: o.ReadAt, Detail: detail}
}

// database: the node itself says that nothing serves. An inactive database is
// started by its next client, and an operator may have stopped it in order
// (R6), so it stands alone only if the whole server is gone.
func database(o failover.Observation) *failover.Evidence {
	if o.Answer != failover.Answered {
		return nil
	}
	e := failover.Evidence{Signal: failover.SignalDatabaseDown, Source: o.Source, At: o.ReadAt}
	switch o.Database {
	case failover.DatabaseDown:
		e.Conclusive = true
		e.Detail = "the node says that its database server does not run"
	case failover.DatabaseInactive:
		e.Detail = "the node says that its database is not active"
	default:
		return nil
	}
	return &e
}

// probe: the agent's own record of its probe. Slow counts as failed.
func probe(o failover.Observation, c failover.Config) *failover.Evidence {
	if o.LastBadProbe.IsZero() || !o.LastBadProbe.After(o.LastGoodProbe) {
		return nil
	}
	detail := "the last probe failed or was slow"
	if o.Latency > 0 && c.LatencyThreshold > 0 {
		detail = fmt.Sprintf("the last probe took %s, more than %s", o.Latency, c.LatencyThreshold)
	}
	return &failover.Evidence{Signal: failover.SignalProbe, Source: "agent", At: o.LastBadProbe, Detail: detail}
}

// standbyView: a standby says that its primary is gone.
func standbyView(suspect string, o failover.Observation) *failover.Evidence {
	if o.Answer != failover.Answered || o.Role != failover.RoleStandby || !o.PartnerLost {
		return nil
	}
	return &failover.Evidence{
		Signal: failover.SignalStandbyView, Source: o.Source, At: o.ReadAt,
		Detail: fmt.Sprintf("node %s does not hear node %s: %s %s, silent for %s", o.Node, suspect, o.State, o.PartnerStatus, o.PartnerSilence.Round(time.Second)),
	}
}
