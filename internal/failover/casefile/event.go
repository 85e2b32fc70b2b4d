package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// happening is an event with the keys that its section may have.
type happening struct {
	fields fields
	event  func() failover.Event
}

// happen returns an event by its name, with defaults that fit the state.
func (c *Case) happen(name string) (happening, bool) {
	for _, of := range []func(string) (happening, bool){c.trigger, c.word, c.result, c.reading} {
		if h, ok := of(name); ok {
			return h, true
		}
	}
	return happening{}, false
}

// eventNames are told where a name is unknown.
var eventNames = []string{
	"acknowledged", "alarmed", "approved", "asked", "cancelled", "claimed", "elapsed", "gathered", "groups_read", "groups_set", "instance_read", "node_read",
	"path_checked", "promoted", "reintegrated", "rejoin_asked", "release_asked", "repaired", "reported", "resumed", "retried",
	"route_moved", "route_read", "sealed", "started", "stop_requested", "switch_asked", "watched",
}

// fresh is the id of an operation that would be started.
func (c *Case) fresh() string {
	if c.State.Operation != nil || c.State.Pending != nil {
		return "op2"
	}
	return "op1"
}

// trigger are events that come from outside of an operation, or by time.
func (c *Case) trigger(name string) (happening, bool) {
	s := c.State
	switch name {
	case "alarmed":
		e := failover.Alarmed{At: Now, Node: s.Primary, Changed: Now.Add(-40 * time.Second), OperationID: c.fresh(), Reason: "SQL latency above 20 s, or no data"}
		return happening{
			fields{"node": node(&e.Node), "changed": moment(&e.Changed), "id": text(&e.OperationID), "reason": text(&e.Reason)},
			func() failover.Event { e.Alarm = alarmOf + e.Node; return e },
		}, true
	case "reported":
		e := failover.Reported{At: Now, Node: s.Primary, OperationID: c.fresh(), Reason: "agent of node " + s.Config.Other(s.Primary) + ": the lease stands still"}
		return happening{
			fields{"node": node(&e.Node), "id": text(&e.OperationID), "reason": text(&e.Reason)},
			func() failover.Event { return e },
		}, true
	case "watched":
		e := failover.Watched{At: Now, OperationID: c.fresh(), Owners: map[string]string{}}
		return happening{
			fields{"red *": red(&e.Alarms), "owner *": owner(e.Owners), "sealed": sealedLease(&e.Lease, s.Primary)},
			func() failover.Event { e.Nodes = c.Nodes; return e },
		}, true
	case "gathered":
		return happening{fields{}, func() failover.Event { return c.gathered() }}, true
	case "resumed":
		return happening{fields{}, func() failover.Event { return failover.Resumed{At: Now} }}, true
	case "elapsed":
		return happening{fields{}, func() failover.Event { return failover.Elapsed{At: Now} }}, true
	}
	return happening{}, false
}

// gathered is a look at the group as the case describes it.
func (c *Case) gathered() failover.Gathered {
	return failover.Gathered{At: Now, Nodes: maps.Clone(c.Nodes), Evidence: slices.Clone(c.Evidence)}
}

// red takes "TIME, TEXT": an alarm of a node that is in ALARM.
func red(to *[]failover.RedAlarm) setter {
	return func(id, v string) error {
		if id != "a" && id != "b" {
			return fmt.Errorf("no node %q; want a or b", id)
		}
		at, reason, _ := strings.Cut(v, ", ")
		since, err := parseMoment(at)
		*to = append(*to, failover.RedAlarm{ARN: alarmOf + id, Node: id, Since: since, Reason: reason})
		return err
	}
}

// sealedLease takes "TIME, epoch 7, by op9": the lease of the primary, as it was
// sealed.
func sealedLease(to *failover.Lease, holder string) setter {
	return func(_, v string) (err error) {
		*to = failover.Lease{Holder: holder, Counter: 41, Sealed: true, SealID: "seal1"}
		for i, part := range strings.Split(v, ", ") {
			name, value, _ := strings.Cut(part, " ")
			switch {
			case i == 0:
				to.SealedAt, err = parseMoment(part)
			case name == "epoch":
				to.Epoch, err = strconv.ParseUint(value, 10, 31)
			case name == "by":
				to.SealedBy = value
			default:
				err = fmt.Errorf("%q; want such as: -2m, epoch 7, by op9", v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// owner takes the node that a route leads to, or "nowhere".
func owner(to map[string]string) setter {
	return func(table, v string) (err error) {
		to[table], err = interfaceOf(v)
		return err
	}
}

func interfaceOf(v string) (string, error) {
	switch v {
	case "a", "b":
		return portOf + v, nil
	case "nowhere":
		return "", nil
	}
	return "", fmt.Errorf("%q; want a, b or nowhere", v)
}

// word are events that a person sets off.
func (c *Case) word(name string) (happening, bool) {
	s := c.State
	other := s.Config.Other(s.Primary)
	switch name {
	case "asked":
		e := failover.Asked{At: Now, Node: s.Primary, OperationID: c.fresh(), Actor: "ann", Reason: "the host is gone"}
		return happening{
			fields{"node": node(&e.Node), "id": text(&e.OperationID), "actor": text(&e.Actor), "reason": text(&e.Reason), "force": force(&e.Force)},
			func() failover.Event { return e },
		}, true
	case "switch_asked":
		e := failover.SwitchAsked{At: Now, To: other, OperationID: c.fresh(), Actor: "ann", Reason: "patching"}
		return happening{
			fields{"to": text(&e.To), "id": text(&e.OperationID), "actor": text(&e.Actor), "reason": text(&e.Reason)},
			func() failover.Event { return e },
		}, true
	case "rejoin_asked":
		e := failover.RejoinAsked{At: Now, Node: other, OperationID: c.fresh(), Actor: "ann"}
		return happening{
			fields{"node": text(&e.Node), "id": text(&e.OperationID), "actor": text(&e.Actor)},
			func() failover.Event { return e },
		}, true
	case "approved":
		e := failover.Approved{At: Now, OperationID: "op1", Actor: "ann"}
		return happening{fields{"id": text(&e.OperationID), "actor": text(&e.Actor)}, func() failover.Event { return e }}, true
	case "acknowledged":
		e := failover.Acknowledged{At: Now, Actor: "ann"}
		return happening{fields{"actor": text(&e.Actor)}, func() failover.Event { return e }}, true
	case "retried":
		e := failover.Retried{At: Now, Actor: "ann"}
		return happening{fields{"actor": text(&e.Actor)}, func() failover.Event { return e }}, true
	case "cancelled":
		e := failover.Cancelled{At: Now, Actor: "ann"}
		return happening{fields{"actor": text(&e.Actor)}, func() failover.Event { return e }}, true
	case "release_asked":
		e := failover.ReleaseAsked{At: Now, Node: other, Actor: "ann", Reason: "the other host is lost", Machines: map[string]failover.InstanceState{}}
		return happening{
			fields{"node": node(&e.Node), "actor": text(&e.Actor), "reason": text(&e.Reason)},
			func() failover.Event {
				for id, o := range c.Nodes {
					e.Machines[id] = o.Instance
				}
				return e
			},
		}, true
	}
	return happening{}, false
}
