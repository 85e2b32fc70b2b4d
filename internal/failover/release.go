package failover

import (
	"fmt"
	"strings"
	"time"
)

// ReleaseAsked: a person wants the fence of a node to end without a rejoin,
// because its partner is gone and nobody else can serve. Machines is what the
// two machines read.
type ReleaseAsked struct {
	At       time.Time
	Node     string
	Actor    string
	Reason   string
	Machines map[string]InstanceState
}

func (ReleaseAsked) isEvent() {}

// releaseAsked ends a fence only where the other node is certainly down: then
// the released node can't become a second writer, whatever role it has.
func (s State) releaseAsked(e ReleaseAsked) (State, []Effect) {
	other := s.Config.Other(e.Node)
	entry := Entry{At: e.At, Event: "released", Epoch: s.Epoch, From: e.Node, Outcome: "released", Actor: e.Actor}
	refuse := func(why, next string) (State, []Effect) {
		entry.Event, entry.Outcome, entry.Reason, entry.Next = "refused", "refused", "not released: "+why, next
		return s, []Effect{Record{Entry: entry}}
	}
	status := "hadr status " + s.Group
	switch {
	case s.Operation != nil && s.Operation.Blocked == "":
		return refuse(fmt.Sprintf("operation %s is at step %s", s.Operation.ID, s.Operation.Step), status)
	case s.Operation != nil:
		return refuse(fmt.Sprintf("operation %s is blocked: %s", s.Operation.ID, s.Operation.Blocked), fmt.Sprintf("do what it asks for (%s), or end it: hadr cancel %s", s.Operation.Next, s.Group))
	case !s.marked(e.Node):
		return refuse(fmt.Sprintf("node %s is not fenced", e.Node), status)
	case !e.Machines[other].Down():
		return refuse(fmt.Sprintf("the machine of node %s reads %q; while it may run, node %s could become a second writer", other, e.Machines[other], e.Node),
			fmt.Sprintf("bring node %s back as standby instead: hadr rejoin %s --node %s", e.Node, s.Group, e.Node))
	}
	n, _ := s.Config.Node(e.Node)
	cut := s.Fenced[e.Node].Groups
	delete(s.Fenced, e.Node)
	entry.Reason = fmt.Sprintf("the fence of node %s ends, as node %s is %s: %s", e.Node, other, e.Machines[other], e.Reason)
	entry.Next = fmt.Sprintf("aws ec2 start-instances --instance-ids %s, then: hadr status %s; if it reads PRIMARY the group follows it, if it reads STANDBY: hadr takeover-after-window %s --from %s --reason WHY", n.Instance, s.Group, s.Group, other)
	if len(cut) > 0 {
		entry.Next = fmt.Sprintf("aws ec2 modify-network-interface-attribute --network-interface-id %s --groups %s, then: %s", n.ENI, strings.Join(cut, " "), entry.Next)
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}
