package failover

import (
	"fmt"
	"time"
)

// Reported: the control plane's own agent or function suspects Node, or that
// the operation on the record does not go on (R32). Like an alarm it is a hint.
type Reported struct {
	At          time.Time
	Node        string
	OperationID string // to use if something is started
	Reason      string // for people
}

func (Reported) isEvent() {}

// reported goes on with the operation on the record, whose runner may be dead,
// or asks every guard about the suspect. It is repeated until the record shows
// an answer, so a refusal is told once and not again for a while.
func (s State) reported(e Reported) (State, []Effect) {
	op := s.Operation
	switch {
	case op != nil && op.Blocked == "" && op.Kind != Rejoin:
		if op.Force != WithinWindow { // R19: only a person goes on with it
			return s, nil
		}
		return s.takeUp(e.At)
	case op != nil && !s.RouteOnly() && op.Kind != Rejoin:
		return s, nil // blocked: a person is needed, and knows
	case e.Node != s.Primary:
		return s, nil // of an older epoch, or about a standby
	}
	s.Attempt = &Attempt{OperationID: e.OperationID, Suspect: e.Node, Trigger: e.Reason, Since: e.At, Watch: true}
	return s.look(e.At)
}

// orderly: a database that somebody stopped on purpose, and said so, has not
// failed (R6).
func orderly(q question) *Decision {
	if q.human || q.suspect.StoppedInOrder == "" || !q.state.on(R6) {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardOrderly,
		Reason: fmt.Sprintf("the database of node %s was stopped in order: %s", q.suspect.Node, q.suspect.StoppedInOrder),
		Next:   fmt.Sprintf("start it again, or let the standby take over: hadr takeover %s --from %s --reason WHY", q.state.Group, q.suspect.Node),
	}
}

// lastBad is the newest bad datum about the suspect. A lease that expired is
// one, too: until then nothing good had come from its holder (R5).
func (q question) lastBad() time.Time {
	bad := q.suspect.LastBadProbe
	for _, e := range q.evidence {
		if e.Signal == SignalLease && e.Node == q.suspect.Node && e.At.After(bad) {
			bad = e.At
		}
	}
	return bad
}
