package check

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// ids are the identifiers of operations, by what set them off.
var ids = [...]string{alarmA: "alarm-a", alarmB: "alarm-b", look: "look", human: "human"}

// sealID is the seal on the lease.
const sealID = "seal"

// idApproval is an operation that waits for a person, or has waited.
const idApproval = "approval"

// Security groups: the one that cuts a node off, and its own.
const (
	cutGroup = "sg-cut"
	ownGroup = "sg-own"
)

var tables = [2]string{"rtb-1", "rtb-2"}

// hint is an event of the core in a few bytes.
type hint struct {
	kind   kind
	node   uint8
	table  uint8
	answer answer
	code   uint8 // an instance's state, an owner, a source, a force: as the kind wants it
	alarms uint8 // bit n: the alarm of node n is red
	lease  bool  // the suspect's has expired, or the primary's is sealed
	stale  bool
	core   coreID // what the record holds, where a claim was lost
	views  [2]view
}

type kind uint8

const (
	noEvent kind = iota
	alarmed
	asked
	watched
	gathered
	sealed
	claimed
	resumed
	elapsed
	stopRequested
	instanceRead
	nodeRead
	promoted
	routeMoved
	routeRead
	pathChecked
	started
	reintegrated
	repaired
	retried
	cancelled
	rejoinAsked
	switchAsked
	approved
	acknowledged
	releaseAsked
	groupsRead
	groupsSet
)

type answer uint8

const (
	good answer = iota
	failed
	unknown
)

var outcomes = [...]failover.Outcome{good: failover.OK, failed: failover.Failed, unknown: failover.Unknown}

var instances = [...]failover.InstanceState{
	running: failover.InstanceRunning, frozen: failover.InstanceRunning, booting: failover.InstanceRunning,
	stopping: failover.InstanceStopping, stopped: failover.InstanceStopped,
}

// owners of a route in a hint.
const (
	ownerA uint8 = iota
	ownerB
	ownerUnread
)

// event returns the event of a question, as of now.
func (c *cores) event(q question) failover.Event {
	h := q.hint
	id, table := names[h.node], tables[h.table]
	switch h.kind {
	case alarmed:
		e := failover.Alarmed{At: now, Node: id, Alarm: arn(h.node), Changed: now, OperationID: ids[h.code]}
		if h.stale {
			e.Changed = now.Add(-time.Hour)
		}
		return e
	case asked:
		return failover.Asked{At: now, Node: id, OperationID: ids[human], Actor: "ann", Force: forces[h.code]}
	case watched:
		return c.watched(h)
	case gathered:
		return c.gathered(q)
	case sealed:
		return failover.Sealed{At: now, OK: h.answer == good, Why: "renewed"}
	case claimed:
		if h.answer == good {
			return failover.Claimed{At: now, OK: true}
		}
		s := c.state(h.core)
		s.Epoch = 1
		if h.stale {
			s.Epoch = 2
		}
		return failover.Claimed{At: now, Why: "changed", State: &s}
	case resumed:
		return failover.Resumed{At: now}
	case elapsed:
		return failover.Elapsed{At: now}
	}
	return c.result(h, id, table)
}

// result returns the event that an effect has led to, or a person.
func (c *cores) result(h hint, id, table string) failover.Event {
	text := ""
	if h.answer != good {
		text = "failed"
	}
	switch h.kind {
	case stopRequested:
		return failover.StopRequested{At: now, Node: id, Outcome: outcomes[h.answer], Error: text}
	case instanceRead:
		e := failover.InstanceRead{At: now, Node: id, Error: text}
		if h.answer == good {
			e.State = instances[h.code]
		}
		return e
	case nodeRead:
		return failover.NodeRead{At: now, Observation: h.views[h.node].observation(int(h.node))}
	case promoted:
		e := failover.Promoted{At: now, Node: id, CommandID: "c", Outcome: outcomes[h.answer]}
		if h.code == 1 {
			e.Role = failover.RolePrimary
		}
		return e
	case routeMoved:
		return failover.RouteMoved{At: now, Table: table, OK: h.answer == good, Error: text}
	case routeRead:
		e := failover.RouteRead{At: now, Table: table, Error: text}
		if h.answer == good {
			e.Owner = eni(h.code)
		}
		return e
	case pathChecked:
		return failover.PathChecked{At: now, Table: table, OK: h.answer == good, Error: text}
	case started:
		return failover.Started{At: now, Node: id, Outcome: outcomes[h.answer], Error: text}
	case reintegrated:
		return failover.Reintegrated{At: now, Node: id, Outcome: outcomes[h.answer]}
	case repaired:
		return failover.Repaired{At: now, Table: table, Node: id, OK: h.answer == good, Error: text}
	case groupsRead:
		e := failover.GroupsRead{At: now, Node: id, Error: text}
		if h.answer == good {
			e.Groups = []string{[]string{ownGroup, cutGroup}[h.code]}
		}
		return e
	case groupsSet:
		return failover.GroupsSet{At: now, Node: id, OK: h.answer == good, Error: text}
	}
	return c.order(h, id)
}

// order returns the event of a person's command.
func (c *cores) order(h hint, id string) failover.Event {
	const actor = "ann"
	switch h.kind {
	case retried:
		return failover.Retried{At: now, Actor: actor}
	case cancelled:
		return failover.Cancelled{At: now, Actor: actor}
	case rejoinAsked:
		return failover.RejoinAsked{At: now, Node: id, OperationID: ids[human], Actor: actor}
	case switchAsked:
		return failover.SwitchAsked{At: now, To: id, OperationID: ids[human], Actor: actor}
	case acknowledged:
		return failover.Acknowledged{At: now, Actor: actor}
	case approved:
		return failover.Approved{At: now, OperationID: append(ids[:], idApproval)[h.code], Actor: actor}
	case releaseAsked:
		machines := map[string]failover.InstanceState{}
		for i, v := range h.views {
			machines[names[i]] = instances[v.machine]
		}
		return failover.ReleaseAsked{At: now, Node: id, Actor: actor, Machines: machines}
	}
	return nil
}

// forces by the code of a hint.
var forces = [...]failover.Force{failover.WithinWindow, failover.AfterWindow, failover.DataLoss}

func (c *cores) watched(h hint) failover.Event {
	e := failover.Watched{At: now, OperationID: ids[look], Nodes: map[string]failover.Observation{}, Owners: map[string]string{}}
	if h.lease {
		e.Lease = failover.Lease{Holder: names[h.node], Epoch: 1, Sealed: true, SealID: sealID, SealedAt: now}
		if h.stale {
			e.Lease.SealedAt = now.Add(-sealAge * tick)
		}
	}
	for i, v := range h.views {
		e.Nodes[names[i]] = v.observation(i)
		if h.alarms&(1<<i) != 0 {
			e.Alarms = append(e.Alarms, failover.RedAlarm{ARN: arn(uint8(i)), Node: names[i], Since: now})
		}
	}
	for i := range c.config.Routes {
		switch h.code >> (2 * i) & 3 {
		case ownerA:
			e.Owners[tables[i]] = eni(0)
		case ownerB:
			e.Owners[tables[i]] = eni(1)
		}
	}
	return e
}

// gathered is what is known of both nodes, and the evidence in it.
func (c *cores) gathered(q question) failover.Event {
	h := q.hint
	g := failover.Gathered{At: now, Nodes: map[string]failover.Observation{}}
	for i, v := range h.views {
		g.Nodes[names[i]] = v.observation(i)
	}
	suspect := c.about(q.core).suspect
	add := func(signal failover.Signal, conclusive bool) {
		g.Evidence = append(g.Evidence, failover.Evidence{Node: names[suspect], Signal: signal, At: now, Conclusive: conclusive})
	}
	if h.alarms != 0 {
		add(failover.SignalAlarm, false)
	}
	if h.lease {
		add(failover.SignalLease, false)
	}
	h.views[suspect].evidence(add)
	if o := h.views[1-suspect]; o.answers && o.role == standby && o.lost && o.database == active {
		add(failover.SignalStandbyView, false)
	}
	return g
}

func arn(node uint8) string { return "arn:" + names[node] }
func eni(node uint8) string { return "eni-" + names[node] }

// setupConfig is the group's configuration: every wait lasts a tick or two.
func setupConfig(s *Setup) failover.Config {
	c := failover.Config{
		Engine: "db2", VIP: "10.0.0.1", Port: 50000, Preferred: "a", Policy: s.Policy, Fencing: s.Fencing,
		Nodes:         []failover.NodeConfig{{ID: "a", Instance: "i-a", ENI: "eni-a"}, {ID: "b", Instance: "i-b", ENI: "eni-b"}},
		Routes:        tables[:s.Tables],
		Checkers:      map[string]string{tables[0]: "i-c"},
		PromoteMargin: tick, PromoteDelay: tick, EvidenceWait: 2 * tick,
		FenceTimeout: 2 * tick, PromoteTimeout: 2 * tick, RedirectTimeout: 2 * tick,
	}
	if s.Cuts {
		c.Isolation = cutGroup
	}
	if s.Drifts {
		c.PromoteMargin, c.MaxClockOffset = (drift+1)*tick, drift*tick // the margin must be longer
	}
	return c.WithDefaults()
}
