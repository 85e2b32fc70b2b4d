package casefile

import (
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// result are events that tell how an effect went.
func (c *Case) result(name string) (happening, bool) {
	from, to := c.sides()
	switch name {
	case "sealed":
		e := failover.Sealed{At: Now, OK: true}
		return happening{fields{"ok": yes(&e.OK), "why": text(&e.Why)}, func() failover.Event { return e }}, true
	case "claimed":
		e := failover.Claimed{At: Now, OK: true}
		return happening{
			fields{"ok": yes(&e.OK), "why": text(&e.Why)},
			func() failover.Event {
				if !e.OK {
					e.State = c.record
				}
				return e
			},
		}, true
	case "stop_requested":
		e := failover.StopRequested{At: Now, Node: from, Outcome: failover.OK}
		return happening{fields{"node": node(&e.Node), "outcome": outcome(&e.Outcome), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "promoted":
		e := failover.Promoted{At: Now, Node: to, CommandID: "cmd1", Outcome: failover.OK, Code: "DB20000I"}
		return happening{
			fields{"node": node(&e.Node), "outcome": outcome(&e.Outcome), "code": textOrNone(&e.Code), "detail": text(&e.Detail)},
			func() failover.Event { return e },
		}, true
	case "started":
		e := failover.Started{At: Now, Node: from, Outcome: failover.OK}
		return happening{fields{"node": node(&e.Node), "outcome": outcome(&e.Outcome), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "reintegrated":
		e := failover.Reintegrated{At: Now, Node: from, Outcome: failover.OK, Code: "DB20000I"}
		return happening{
			fields{"node": node(&e.Node), "outcome": outcome(&e.Outcome), "code": textOrNone(&e.Code), "detail": text(&e.Detail), "next": text(&e.Next)},
			func() failover.Event { return e },
		}, true
	case "route_moved":
		e := failover.RouteMoved{At: Now, Table: "rtb-1", OK: true}
		return happening{fields{"table": text(&e.Table), "ok": yes(&e.OK), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "groups_set":
		e := failover.GroupsSet{At: Now, Node: from, OK: true}
		return happening{fields{"node": node(&e.Node), "ok": yes(&e.OK), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "repaired":
		e := failover.Repaired{At: Now, Table: "rtb-1", Node: c.State.Primary, OK: true, Was: portOf + c.State.Config.Other(c.State.Primary)}
		was := func(_, v string) (err error) { e.Was, err = interfaceOf(v); return err }
		return happening{
			fields{"table": text(&e.Table), "node": node(&e.Node), "was": was, "ok": yes(&e.OK), "error": text(&e.Error)},
			func() failover.Event { return e },
		}, true
	}
	return happening{}, false
}

// reading are events that tell what was read.
func (c *Case) reading(name string) (happening, bool) {
	from, to := c.sides()
	switch name {
	case "instance_read":
		id, problem := from, ""
		return happening{
			fields{"node": node(&id), "error": text(&problem)},
			func() failover.Event {
				return failover.InstanceRead{At: Now, Node: id, State: c.Nodes[id].Instance, Error: problem}
			},
		}, true
	case "node_read":
		id := to
		return happening{
			fields{"node": node(&id)},
			func() failover.Event { return failover.NodeRead{At: Now, Observation: c.Nodes[id]} },
		}, true
	case "route_read":
		e := failover.RouteRead{At: Now, Table: "rtb-1", Owner: portOf + "a"}
		where := func(_, v string) (err error) { e.Owner, err = interfaceOf(v); return err }
		return happening{fields{"table": text(&e.Table), "owner": where, "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "groups_read":
		e := failover.GroupsRead{At: Now, Node: from, Groups: []string{"sg-1", "sg-2"}}
		return happening{fields{"node": node(&e.Node), "groups": names(&e.Groups), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	case "path_checked":
		e := failover.PathChecked{At: Now, Table: "rtb-1", OK: true}
		return happening{fields{"table": text(&e.Table), "ok": yes(&e.OK), "error": text(&e.Error)}, func() failover.Event { return e }}, true
	}
	return happening{}, false
}

// sides are the nodes of the operation, or of one that could begin.
func (c *Case) sides() (from, to string) {
	if op := c.State.Operation; op != nil {
		return op.From, op.To
	}
	return c.State.Primary, c.State.Config.Other(c.State.Primary)
}

func outcome(to *failover.Outcome) setter {
	return word(to, failover.OK, failover.Failed, failover.Unknown)
}
