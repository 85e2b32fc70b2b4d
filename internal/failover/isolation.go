package failover

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Where a stop stays unconfirmed although another node is primary, the old one
// is cut off from new connections (R16). That confirms nothing: connections that
// are tracked, and applications on the host, survive it (R17). So the operation
// ends blocked and loud all the same.

// ReadGroups reads the security groups of a node's network interface, so that
// they are on the record before they are replaced.
type ReadGroups struct{ Node string }

// SetGroups replaces the security groups of a node's network interface.
type SetGroups struct {
	Node   string
	Groups []string
	Epoch  uint64
}

// GroupsRead is the answer to ReadGroups.
type GroupsRead struct {
	At     time.Time
	Node   string
	Groups []string
	Error  string
}

// GroupsSet is the answer to SetGroups. An unknown outcome is an error: it is
// tried again.
type GroupsSet struct {
	At    time.Time
	Node  string
	OK    bool
	Error string
}

func (ReadGroups) isEffect() {}
func (SetGroups) isEffect()  {}
func (GroupsRead) isEvent()  {}
func (GroupsSet) isEvent()   {}

// isolate begins to cut the old primary off, where that was declared and not
// tried yet.
func (s State) isolate(at time.Time) (State, []Effect, bool) {
	op := s.Operation
	if op.Config.Isolation == "" || op.Isolated != "" || !s.on(R16) {
		return s, nil, false
	}
	step := s.stepped(at, fmt.Sprintf("node %s is not confirmed to be down: cut it off from new connections (security group %s)", op.From, op.Config.Isolation))
	return s, []Effect{step, ReadGroups{Node: op.From}}, true
}

func (s State) groupsRead(e GroupsRead) (State, []Effect) {
	op := s.Operation
	if op.Step != StepVerify || e.Node != op.From || op.Isolated != "" || !s.marked(op.From) {
		return s, nil
	}
	if e.Error != "" {
		op.Isolated = "its security groups can't be read: " + e.Error
		return s.settle(e.At)
	}
	if !slices.Equal(e.Groups, []string{op.Config.Isolation}) { // else an earlier try has replaced them
		f := s.Fenced[op.From]
		f.Groups = e.Groups
		s.Fenced[op.From] = f
	}
	return s, []Effect{SetGroups{Node: op.From, Groups: []string{op.Config.Isolation}, Epoch: s.Epoch}}
}

func (s State) groupsSet(e GroupsSet) (State, []Effect) {
	op := s.Operation
	switch {
	case op.Step == StepVerify && e.Node == op.From && op.Isolated == "":
		op.Isolated = "it is cut off from new connections; those that it has, and applications on the host, live on"
		if !e.OK {
			op.Isolated = "it could not be cut off: " + e.Error
		}
		return s.settle(e.At)
	case !s.marked(op.From): // late, of an operation that has ended
	case op.Step == StepBoot && e.Node == op.From && e.OK:
		f := s.Fenced[op.From]
		f.Groups = nil
		s.Fenced[op.From] = f
		return s.resume(e.At)
	case op.Step == StepBoot && e.Node == op.From && e.At.After(op.Deadline):
		return s.notBack(e.At, fmt.Sprintf("its security groups (%s) can't be put back: %s", strings.Join(s.Fenced[op.From].Groups, ", "), e.Error), "given_up",
			fmt.Sprintf("allow the call, or set them by hand, then: hadr rejoin %s --node %s", s.Group, op.From))
	case op.Step == StepBoot && e.Node == op.From:
		return s.again()
	}
	return s, nil
}

// reconnect gives a node that comes back its security groups again.
func (s State) reconnect() (Effect, bool) {
	op := s.Operation
	groups := s.Fenced[op.From].Groups
	return SetGroups{Node: op.From, Groups: groups, Epoch: s.Epoch}, len(groups) > 0
}
