package failover

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// alarmSettling is how long after a change of primary a red alarm of the
	// new one is taken for old news (R3).
	alarmSettling = 2 * time.Minute
	// quiet is how long a refusal by watch is not repeated in the history.
	quiet = 15 * time.Minute
)

// RedAlarm is an alarm that is in ALARM now.
type RedAlarm struct {
	ARN    string
	Node   string    // that it is bound to (R1)
	Since  time.Time // of its transition
	Reason string
}

// Watched is what the minutely look found. It is level-triggered: whatever an
// event missed is seen here (R3, R32).
type Watched struct {
	At          time.Time
	OperationID string // to use if something is started
	Alarms      []RedAlarm
	Nodes       map[string]Observation
	// Owners are the network interfaces that the VIP leads to, by route table;
	// "" = no route. A table that could not be read is not in it.
	Owners map[string]string
	// Lease is that of the primary, empty if there is none or it could not be read.
	Lease Lease
}

func (Watched) isEvent() {}

// EndMaintenance clears maintenance that has expired.
type EndMaintenance struct{}

// Repair leads the VIP in one route table back to the recorded primary.
type Repair struct {
	Table string
	Node  string
	Epoch uint64
}

func (EndMaintenance) isEffect() {}
func (Repair) isEffect()         {}

// Repaired is the result of a Repair.
type Repaired struct {
	At    time.Time
	Table string
	Node  string
	Was   string // interface that the route led to
	OK    bool
	Error string
}

func (Repaired) isEvent() {}

// watched looks at a group without an event.
func (s State) watched(e Watched) (State, []Effect) {
	s, unseal := s.unsealed(e)
	next, effects := s.surveyed(e)
	return next, append(unseal, effects...)
}

// surveyed goes on with what was interrupted, or finds what events missed.
func (s State) surveyed(e Watched) (State, []Effect) {
	if op := s.Operation; op != nil && op.Blocked == "" {
		if op.Kind == Rejoin && !s.busy() && !s.Maintenance.Active(e.At) {
			if a, ok := s.newlyRed(e); ok { // R30: the second failure of the night
				return s.lookAt(e, a)
			}
		}
		if op.Force != WithinWindow {
			return s.abandoned(e.At)
		}
		return s.takeUp(e.At) // whoever ran it may be dead (R32)
	}
	if s.Maintenance.Active(e.At) {
		return s, nil
	}
	var effects []Effect
	if s.Maintenance.On {
		entry := Entry{At: e.At, Event: "maintenance_ended", Epoch: s.Epoch, Reason: "maintenance expired at " + s.Maintenance.Until.UTC().Format(time.RFC3339), Actor: "watch"}
		effects = append(effects, EndMaintenance{}, Record{Entry: entry})
		s.Maintenance = Maintenance{}
	}
	for node, o := range e.Nodes {
		s.noteMachine(node, o.Instance, e.At)
	}
	effects = append(effects, s.fenceAgain(e)...)
	if s.Operation != nil {
		next, more := s.unblocked(e)
		return next, append(effects, more...)
	}
	if s.takenOverByHand(e) {
		next, more := s.follow(e)
		return next, append(effects, more...)
	}
	if a, ok := s.newlyRed(e); ok { // it may stay red for long: a route does not wait for that
		next, repairs := s.led(e)
		next, look := next.lookAt(e, a)
		return next, slices.Concat(effects, repairs, look)
	}
	next, more := s.withoutPrimary(e)
	next, repairs := next.led(e)
	return next, append(append(effects, more...), repairs...)
}

// withoutPrimary tells people that nobody serves: the recorded primary reads
// STANDBY, because an operator has moved the primary, and the other node, which
// nobody has seen as primary yet, is none any more.
func (s State) withoutPrimary(e Watched) (State, []Effect) {
	o, other := e.Nodes[s.Primary], s.Config.Other(s.Primary)
	if o.Answer != Answered || o.Role != RoleStandby || e.Nodes[other].ServesAsPrimary() {
		return s, nil
	}
	if s.Refused.Guard == GuardNotPrimary && e.At.Sub(s.Refused.At) < quiet {
		return s, nil
	}
	s.Refused = Refusal{Guard: GuardNotPrimary, At: e.At}
	entry := Entry{
		At: e.At, Event: "refused", Kind: Adopt, Epoch: s.Epoch, From: s.Primary, To: other, Outcome: "refused", Actor: "watch",
		Reason: fmt.Sprintf("node %s is the recorded primary and reads STANDBY, and node %s is not seen to serve: nobody does", s.Primary, other),
		Next:   fmt.Sprintf("bring node %s back; or, if it is lost, take over by hand on node %s within its window: the group follows it", other, s.Primary),
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// lookAt asks every guard about a red alarm.
func (s State) lookAt(e Watched, a RedAlarm) (State, []Effect) {
	s.Attempt = &Attempt{OperationID: e.OperationID, Suspect: a.Node, Alarm: a.ARN, Trigger: "watch: alarm " + a.ARN + " is red: " + a.Reason, Since: e.At, Watch: true}
	return s.look(e.At)
}

// unblocked goes on with a blocked operation where the cause is seen to be
// gone: the machine has stopped after all, or every route leads to the primary.
func (s State) unblocked(e Watched) (State, []Effect) {
	if s.Operation.Step == StepRestart && s.takenOverByHand(e) {
		return s.follow(e) // R7: a person has found another way
	}
	if node := s.awaitsStop(e.At); node != "" && e.Nodes[node].Instance.Down() {
		return s.retried(Retried{At: e.At, Actor: "watch, as node " + node + " is stopped now"})
	}
	if op := s.Operation; op.Step == StepRestart && e.Nodes[op.From].ServesAsPrimary() {
		return s.retried(Retried{At: e.At, Actor: "watch, as node " + op.From + " serves again"})
	}
	if op := s.Operation; op.Step == StepRestart && op.Starts == 0 && e.Nodes[op.From].crashed() { // it came too late to be helped
		return s.retried(Retried{At: e.At, Actor: "watch, as the machine of node " + op.From + " runs, and its database does not"})
	}
	if !s.RouteOnly() || s.fenceOpen() {
		return s, nil
	}
	a, red := s.newlyRed(e)
	dead := !e.Nodes[s.Primary].ServesAsPrimary()
	switch routed := len(s.astray(e)) == 0; {
	case red && !s.busy() && (dead || !routed): // R30: a route alone holds up no takeover
		next, more := s.lookAt(e, a)
		return next, append(s.repairs(e), more...)
	case routed:
		return s.retried(Retried{At: e.At, Actor: "watch, as every route leads to node " + s.Primary})
	}
	return s, s.repairs(e)
}

// awaitsStop is the node whose stop lets a blocked operation go on, "" if none
// does.
func (s State) awaitsStop(at time.Time) string {
	op := s.Operation
	switch {
	case op.Force != WithinWindow && (op.Step == StepFence || op.Step == StepFenced): // R19: a person goes on with it
	case op.Step == StepFence, op.Step == StepFenced, op.Step == StepVerify && s.fenceOpen():
		return op.From
	case op.Step == StepRestart && op.AwaitsStop:
		return op.From
	case op.Step == StepWithdraw:
		return op.To
	case op.Step == StepRestart && s.Fenced[op.To].ConfirmedAt.Equal(at):
		return op.To // seen now for the first time: the other one may start alone (R29)
	}
	return ""
}

// fenceAgain stops fenced nodes that run: automatic recovery, or a person who
// does not know, has started them (R18).
func (s State) fenceAgain(e Watched) []Effect {
	var effects []Effect
	for _, node := range slices.Sorted(keys(s.Fenced)) {
		o, seen := e.Nodes[node]
		if !seen || node == s.Primary && !s.promotionOpen() || !o.Instance.runs() {
			continue
		}
		entry := Entry{
			At: e.At, Event: "fenced_again", Epoch: s.Epoch, From: node, Actor: "watch",
			Reason: fmt.Sprintf("node %s is fenced since epoch %d and its machine is %s: stop it again, before its database ruins its log or accepts a write", node, s.Fenced[node].Epoch, o.Instance),
			Next:   fmt.Sprintf("to bring it back as standby: hadr rejoin %s --node %s", s.Group, node),
		}
		effects = append(effects, Record{Entry: entry}, Notify{Entry: entry}, Stop{Node: node, Epoch: s.Epoch})
	}
	return effects
}

// promotionOpen reports whether the other node may be primary already, although
// the record does not say so yet (R14).
func (s State) promotionOpen() bool {
	op := s.Operation
	return op != nil && op.Promotions > 0 && (op.Step == StepConfirm || op.Step == StepWithdraw)
}

// takenOverByHand: the other node reads PRIMARY, it is not a fenced old
// primary, and the recorded one does not serve as primary any more, or both
// read PRIMARY (R7).
func (s State) takenOverByHand(e Watched) bool {
	other := s.Config.Other(s.Primary)
	if _, fenced := s.Fenced[other]; fenced {
		return false
	}
	o := e.Nodes[other]
	return o.Answer == Answered && o.Role == RolePrimary && o.Database == DatabaseActive
}

// follow adopts what an operator did, with all guards.
func (s State) follow(e Watched) (State, []Effect) {
	s.Attempt = &Attempt{
		OperationID: e.OperationID, Suspect: s.Primary, Since: e.At, Watch: true,
		Trigger: fmt.Sprintf("watch: node %s reads PRIMARY, the record says %s", s.Config.Other(s.Primary), s.Primary),
	}
	return s.look(e.At)
}

// newlyRed finds an alarm of the primary that is evidence now, although no
// event told of it or its event came before the last change of primary (R3).
func (s State) newlyRed(e Watched) (RedAlarm, bool) {
	for _, a := range e.Alarms {
		if a.Node != s.Primary || !s.on(R3) {
			continue
		}
		if s.Changed.IsZero() || e.At.Sub(s.Changed) >= alarmSettling {
			return a, true
		}
	}
	return RedAlarm{}, false
}

// astray are the route tables whose route does not lead to the recorded
// primary.
func (s State) astray(e Watched) []string {
	n, _ := s.Config.Node(s.Primary)
	var tables []string
	for _, table := range slices.Sorted(keys(e.Owners)) {
		if e.Owners[table] != n.ENI && slices.Contains(s.Config.Routes, table) {
			tables = append(tables, table)
		}
	}
	return tables
}

// repairs leads routes back that differ from the record, if the recorded
// primary reads PRIMARY (R14, R25).
func (s State) repairs(e Watched) []Effect {
	o := e.Nodes[s.Primary]
	if s.Config.VIP == "" || o.Answer != Answered || o.Role != RolePrimary {
		return nil
	}
	var effects []Effect
	for _, table := range s.astray(e) {
		effects = append(effects, Repair{Table: table, Node: s.Primary, Epoch: s.Epoch})
	}
	return effects
}

// led leads routes back, or says that it would under the policy observe.
func (s State) led(e Watched) (State, []Effect) {
	repairs := s.repairs(e)
	if s.Config.Policy != Observe || len(repairs) == 0 {
		return s, repairs
	}
	if s.Refused.Guard == GuardRoute && e.At.Sub(s.Refused.At) < quiet {
		return s, nil
	}
	s.Refused = Refusal{Guard: GuardRoute, At: e.At}
	n, _ := s.Config.Node(s.Primary)
	tables := s.astray(e)
	entry := Entry{
		At: e.At, Event: "would_have_acted", Epoch: s.Epoch, To: s.Primary, Outcome: "observed", Actor: "watch",
		Reason: fmt.Sprintf("policy observe: the route of %s in %s does not lead to node %s, the recorded primary", s.Config.VIP, strings.Join(tables, ", "), s.Primary),
		Next:   fmt.Sprintf("aws ec2 replace-route --route-table-id %s --destination-cidr-block %s/32 --network-interface-id %s", tables[0], s.Config.VIP, n.ENI),
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

func (s State) repaired(e Repaired) (State, []Effect) {
	was := e.Was
	if was == "" {
		was = "nowhere"
	}
	if !e.OK {
		return s.notRepaired(e, was)
	}
	entry := Entry{
		At: e.At, Event: "route_repaired", Epoch: s.Epoch, To: e.Node, Actor: "watch",
		Reason: fmt.Sprintf("the route of %s in %s led to %s and leads to node %s again, the recorded primary", s.Config.VIP, e.Table, was, e.Node),
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// sameLook is within what the routes of one look are tried.
const sameLook = 30 * time.Second

// notRepaired tells people of a route that can't be led back, once in a while:
// the next look tries again (R26). A blocked operation names it already.
func (s State) notRepaired(e Repaired, was string) (State, []Effect) {
	if s.Operation != nil {
		return s, nil
	}
	switch since := e.At.Sub(s.Refused.At); {
	case s.Refused.Guard != GuardRoute || since >= quiet:
		s.Refused = Refusal{Guard: GuardRoute, At: e.At}
	case since >= sameLook:
		return s, nil
	}
	n, _ := s.Config.Node(e.Node)
	entry := Entry{
		At: e.At, Event: "route_astray", Epoch: s.Epoch, To: e.Node, Actor: "watch", Outcome: "failed",
		Reason: fmt.Sprintf("the route of %s in %s leads to %s and could not be led to node %s, the recorded primary: %s; it is tried again every minute", s.Config.VIP, e.Table, was, e.Node, orNone(e.Error)),
		Next:   fmt.Sprintf("allow ec2:ReplaceRoute and ec2:CreateRoute on %s, or by hand: aws ec2 replace-route --route-table-id %s --destination-cidr-block %s/32 --network-interface-id %s", e.Table, e.Table, s.Config.VIP, n.ENI),
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// silenced reports whether a refusal by watch was told a short while ago
// already, and remembers it otherwise.
func (s *State) silenced(at time.Time, g Guard) bool {
	if s.Attempt == nil || !s.Attempt.Watch {
		return false
	}
	if s.Refused.Guard == g && at.Sub(s.Refused.At) < quiet {
		return true
	}
	s.Refused = Refusal{Guard: g, At: at}
	return false
}
