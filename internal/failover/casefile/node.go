package casefile

import (
	"fmt"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const windowLength = 5 * time.Minute

// baseNode is a node of a group that is well.
func baseNode(id string, primary bool) failover.Observation {
	o := failover.Observation{
		Node: id, Source: "command", ReadAt: Now, Instance: failover.InstanceRunning, InstanceCheck: "ok",
		Answer: failover.Answered, HostTime: Now, Database: failover.DatabaseActive,
		State: "PEER", PartnerStatus: "CONNECTED", SyncMode: "NEARSYNC",
		ClockOffsetAt: Now.Add(-5 * time.Second), Position: 1000,
	}
	if primary {
		o.Fitness, o.FitnessWhy = failover.Unfit, "it is primary already"
		o.Role, o.LastGoodProbe, o.Latency = failover.RolePrimary, Now.Add(-5*time.Second), 4*time.Millisecond
		return o
	}
	o.Role, o.Fitness, o.ConnectedSince, o.HeardLast = failover.RoleStandby, failover.Fit, Now.Add(-24*time.Hour), Now
	o.PromoteUntil = Now.Add(windowLength)
	return o
}

// unheard takes away what a node that does not answer can't say.
func unheard(o *failover.Observation) {
	o.Role, o.Database, o.State, o.PartnerStatus, o.Position = "", "", "", "", 0
	o.Fitness, o.FitnessWhy, o.PromoteUntil = failover.FitnessUnknown, "", time.Time{}
	o.ConnectedSince, o.HeardLast = time.Time{}, time.Time{}
}

// vanish lets the host of the primary be gone for gone.
func vanish(primary, standby *failover.Observation) {
	const gone = 100 * time.Second
	primary.InstanceCheck, primary.Answer, primary.AnswerError = "impaired", failover.Silent, "no answer in 3s"
	unheard(primary)
	primary.LastGoodProbe, primary.ClockOffsetAt = Now.Add(-gone), Now.Add(-gone)
	standby.PartnerLost, standby.PartnerSilence = true, gone
	standby.PartnerStatus = "DISCONNECTED"
	standby.PromoteUntil, standby.HeardLast = Now.Add(windowLength-gone), Now.Add(-gone)
}

// vanishedEvidence is what the alarm, the machine, the status command and the
// standby say then.
func vanishedEvidence(primary, standby string) []failover.Evidence {
	return []failover.Evidence{
		evidenceOf(failover.SignalAlarm, primary, Now.Add(-40*time.Second), "SQL latency above 20 s, or no data"),
		evidenceOf(failover.SignalInstance, primary, Now, "the status check of the instance fails"),
		evidenceOf(failover.SignalSilent, primary, Now, "the node does not answer its status command: no answer in 3s"),
		evidenceOf(failover.SignalStandbyView, primary, Now, fmt.Sprintf("node %s does not hear node %s: PEER DISCONNECTED, silent for 1m40s", standby, primary)),
	}
}

// draft is a node whose times are not all known yet.
type draft struct {
	failover.Observation
	window time.Duration // of a standby, from the node's clock on; 0 = none
	ahead  time.Duration // of the node's clock
}

func draftOf(o failover.Observation) *draft {
	d := &draft{Observation: o}
	if !o.PromoteUntil.IsZero() {
		d.window = o.PromoteUntil.Sub(o.HostTime)
	}
	return d
}

// done fills in what depends on several lines.
func (d *draft) done() failover.Observation {
	o := d.Observation
	o.HostTime = o.ReadAt.Add(d.ahead)
	o.PromoteUntil = time.Time{}
	if d.window != 0 {
		o.PromoteUntil = o.HostTime.Add(d.window)
	}
	return o
}

func (d *draft) fields() fields {
	o := &d.Observation
	instances := []failover.InstanceState{
		failover.InstanceUnknown, failover.InstancePending, failover.InstanceRunning, failover.InstanceStopping,
		failover.InstanceStopped, failover.InstanceShuttingDown, failover.InstanceTerminated,
	}
	return fields{
		"source":            word(&o.Source, "command", "agent"),
		"read":              moment(&o.ReadAt),
		"machine":           word(&o.Instance, instances...),
		"check":             word(&o.InstanceCheck, "ok", "impaired", ""),
		"answer":            word(&o.Answer, failover.AnswerNone, failover.Answered, failover.Silent, failover.Undeliverable, failover.Unreadable),
		"error":             text(&o.AnswerError),
		"clock_ahead":       length(&d.ahead),
		"database":          word(&o.Database, failover.DatabaseUnknown, failover.DatabaseActive, failover.DatabaseInactive, failover.DatabaseDown),
		"role":              word(&o.Role, failover.RoleUnknown, failover.RolePrimary, failover.RoleStandby, failover.RoleStandalone),
		"state":             textOrNone(&o.State),
		"sync_mode":         text(&o.SyncMode),
		"partner":           textOrNone(&o.PartnerStatus),
		"silence":           length(&o.PartnerSilence),
		"partner_lost":      yes(&o.PartnerLost),
		"settings_differ":   text(&o.SettingsDiffer),
		"fitness":           fitness(o),
		"fitness_next":      text(&o.FitnessNext),
		"window":            window(&d.window),
		"proven_until":      moment(&o.ProvenUntil),
		"waits_for_standby": yes(&o.WaitsForStandby),
		"position":          number(&o.Position),
		"connected":         moment(&o.ConnectedSince),
		"heard":             moment(&o.HeardLast),
		"log_flows":         moment(&o.LogFlows),
		"good_probe":        moment(&o.LastGoodProbe),
		"bad_probe":         moment(&o.LastBadProbe),
		"latency":           length(&o.Latency),
		"clock_offset":      length(&o.ClockOffset),
		"clock_measured":    moment(&o.ClockOffsetAt),
		"dead_man":          moment(&o.DeadManUntil),
		"stopped_in_order":  text(&o.StoppedInOrder),
		"trouble":           text(&o.Trouble),
	}
}

// fitness takes "fit", "unknown" or "unfit: WHY".
func fitness(o *failover.Observation) setter {
	return func(_, v string) error {
		how, why, _ := strings.Cut(v, ": ")
		switch how {
		case "fit":
			o.Fitness = failover.Fit
		case "unfit":
			o.Fitness = failover.Unfit
		case "unknown":
			o.Fitness = failover.FitnessUnknown
		default:
			return fmt.Errorf("%q; want fit, unknown, or unfit: WHY", v)
		}
		o.FitnessWhy = why
		return nil
	}
}

// window takes a length, or "none".
func window(to *time.Duration) setter {
	return func(arg, v string) error {
		if v == "none" {
			*to = 0
			return nil
		}
		return length(to)(arg, v)
	}
}
