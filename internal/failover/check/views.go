package check

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// view is what can be read of a node.
type view struct {
	answers  bool
	machine  machine
	unread   bool // the machine's state
	impaired bool
	database database
	role     role
	window   uint8 // as standby: ticks in which it may be forced
	fit      bool
	waits    bool // as primary, for its standby
	lost     bool // it does not hear its partner
	settled  bool
	flows    bool // its agent sees log of its primary come
	skew     bool
	proof    proof
	probe    probe // of its agent
	deadMan  bool
}

type probe uint8

const (
	noProbe probe = iota
	commits
	fails
)

// view reads node i. A silent one gives no answer in time.
func (w *world) view(s *Setup, i int, silent bool) view {
	n := w.nodes[i]
	v := view{machine: n.machine, impaired: n.machine == frozen || n.impaired, deadMan: s.Agents && !n.mute}
	acks, _ := w.acknowledges(i)
	if s.Agents && n.heard() {
		v.probe = fails
		if acks || n.role == standby && n.serves() {
			v.probe = commits
		}
	}
	if !n.reached() || n.machine != running || silent {
		return v
	}
	v.answers, v.database = true, n.database
	if n.database == hung {
		v.database = active // its status command still answers
	}
	if n.database == down {
		return v
	}
	if v.role = n.role; n.database == inactive {
		return v
	}
	v.lost = w.conn == gone
	if n.role == primary {
		v.waits = v.lost && n.window > 0
		return v
	}
	v.lost = v.lost && !w.deaf
	v.proof = w.proof
	v.fit = w.conn == peer || w.conn == gone && n.window > 0
	v.settled, v.skew = n.settled, w.skew
	if acks, replicated := w.acknowledges(1 - i); s.Agents && n.heard() {
		v.flows = acks && replicated
	}
	switch {
	case w.conn == peer && w.skew:
		v.window = peerWindow + skewed
	case w.conn == peer:
		v.window = peerWindow
	default:
		v.window = n.window
	}
	return v
}

// observation is a view as the core gets it.
func (v view) observation(i int) failover.Observation {
	o := failover.Observation{Node: names[i], Source: "command", ReadAt: now, ClockOffsetAt: now, Answer: failover.Silent}
	if !v.unread {
		o.Instance = instances[v.machine]
	}
	if v.impaired {
		o.InstanceCheck = "impaired"
	}
	switch v.probe {
	case commits:
		o.LastGoodProbe = now
	case fails:
		o.LastBadProbe = now
	}
	if v.deadMan {
		o.DeadManUntil = now.Add(long)
	}
	if !v.answers {
		return o
	}
	o.Answer, o.HostTime, o.PartnerLost = failover.Answered, now, v.lost
	o.Database = [...]failover.DatabaseState{active: failover.DatabaseActive, hung: failover.DatabaseActive, inactive: failover.DatabaseInactive, down: failover.DatabaseDown}[v.database]
	o.Fitness = failover.Unfit
	if v.database == down {
		return o
	}
	o.Role = [...]failover.Role{primary: failover.RolePrimary, standby: failover.RoleStandby}[v.role]
	if v.database == inactive {
		return o
	}
	o.WaitsForStandby = v.waits
	if v.role == primary && !v.lost {
		o.BlockedUntil = now.Add(peerWindow * tick)
	}
	if v.role == primary {
		return o
	}
	if v.skew {
		o.ClockOffset = -skewed * tick
	}
	if v.settled {
		o.ConnectedSince = now.Add(-while)
	}
	if v.flows {
		o.LogFlows = now
	}
	o.ProvenUntil, o.HeardLast = v.proof.times()
	if v.fit {
		o.Fitness = failover.Fit
		o.PromoteUntil = now.Add(time.Duration(v.window) * tick)
	}
	return o
}

// times are until when the standby certainly had every commit, and when it heard
// its primary last, as compared with the stop, which counts as just read.
func (p proof) times() (until, heard time.Time) {
	switch p {
	case inTime:
		return now.Add(tick), now.Add(-long)
	case late:
		return now.Add(-long), now.Add(-long)
	case reconnected:
		return now.Add(tick), now.Add(tick)
	}
	return time.Time{}, time.Time{}
}

// evidence is what a suspect's own view says against it.
func (v view) evidence(add func(failover.Signal, bool)) {
	switch {
	case v.unread:
	case v.machine == stopped:
		add(failover.SignalInstance, true)
	case v.machine == stopping || v.impaired:
		add(failover.SignalInstance, false)
	}
	if !v.answers {
		add(failover.SignalSilent, false)
	}
	if v.answers && v.database >= inactive {
		add(failover.SignalDatabaseDown, v.database == down)
	}
	if v.probe == fails {
		add(failover.SignalProbe, false)
	}
}
