package failover

import (
	"fmt"
	"time"
)

// Force is how far a person goes beyond the standby's window (R19). Nothing
// goes there by itself.
type Force string

// How far a takeover goes.
const (
	// WithinWindow loses nothing: the engine itself refuses it otherwise.
	WithinWindow Force = ""
	// AfterWindow loses nothing either: the old primary was stopped for certain
	// before the window ended, so that it can't have committed alone.
	AfterWindow Force = "after_window"
	// DataLoss is for everything else: commits may be lost, and a person
	// accepts that.
	DataLoss Force = "data_loss"
)

// forcedPatience is how long a step of a takeover by force may last before its
// command counts as dead. A promotion replays its log first.
const forcedPatience = 20 * time.Minute

// guards are what is asked before such an attempt.
func (a *Attempt) guards() []func(question) *Decision {
	if a.Switch {
		return []func(question) *Decision{maintenance, adopt, redirects, switchable, standbyUnread, standbyRole, settings, fitness}
	}
	switch a.Force {
	case AfterWindow:
		return []func(question) *Decision{maintenance, adopt, redirects, standbyUnread, standbyRole, stoppedInTime}
	case DataLoss:
		return []func(question) *Decision{maintenance, adopt, redirects, standbyUnread, standbyRole}
	}
	return []func(question) *Decision{
		maintenance, adopt, redirects, orderly, waitsForStandby, commits, unproven,
		standbyUnread, standbyRole, settings, fitness, clocks, window, cooldown, policy,
	}
}

// stoppedInTime asks for the proof that the old primary took no commit with it:
// its machine was read as stopped before the end of the window that its standby
// still shows, was not started since, and was not connected since.
func stoppedInTime(q question) *Decision {
	why := q.notStoppedInTime()
	if why == "" || !q.state.on(R19) {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardStopped,
		Reason: "it is not proven that nothing would be lost: " + why,
		Next: fmt.Sprintf("bring node %s back if that is possible (hadr resume %s, or start its database); only if what it committed last may be lost: hadr takeover %s --from %s --allow-data-loss --reason WHY",
			q.suspect.Node, q.state.Group, q.state.Group, q.suspect.Node),
	}
}

func (q question) notStoppedInTime() string {
	fence := q.state.Fenced[q.suspect.Node]
	stopped := fence.ConfirmedAt
	switch {
	case !q.suspect.Instance.Down():
		return fmt.Sprintf("the machine of node %s reads %q, not stopped", q.suspect.Node, q.suspect.Instance)
	case !fence.Confirmed || stopped.IsZero():
		return fmt.Sprintf("the record does not say when node %s was stopped", q.suspect.Node)
	case q.standby.ProvenUntil.IsZero():
		return fmt.Sprintf("node %s (%s %s) does not say until when it had every commit", q.standby.Node, q.standby.State, q.standby.PartnerStatus)
	}
	if why := q.clocksAt(stopped); why != "" {
		return why
	}
	offset := q.config.MaxClockOffset
	switch {
	case stopped.Add(offset).After(q.standby.ProvenUntil):
		return fmt.Sprintf("node %s was read as stopped at %s, and node %s certainly has every commit only until %s (clocks may differ by %s)",
			q.suspect.Node, stamp(stopped), q.standby.Node, stamp(q.standby.ProvenUntil), offset)
	case q.standby.HeardLast.After(stopped.Add(offset)):
		return fmt.Sprintf("node %s heard its primary at %s, after node %s was read as stopped at %s: they were connected again",
			q.standby.Node, stamp(q.standby.HeardLast), q.suspect.Node, stamp(stopped))
	}
	return ""
}

// clocksAt says why the clocks of both nodes can't be compared with the moment
// of the stop, "" if they can. The window's end is on the old primary's clock,
// which can't be read any more: what counts is its last measurement.
func (q question) clocksAt(stopped time.Time) string {
	for _, measured := range []struct {
		node   string
		at     time.Time
		offset time.Duration
		until  time.Time
	}{
		{q.suspect.Node, q.suspect.ClockOffsetAt, q.suspect.ClockOffset, stopped},
		{q.standby.Node, q.standby.ClockOffsetAt, q.standby.ClockOffset, q.at},
	} {
		switch {
		case measured.at.IsZero() || measured.until.Sub(measured.at) > clockOffsetAge:
			return fmt.Sprintf("the clock of node %s was not measured within the %s before", measured.node, clockOffsetAge)
		case measured.offset.Abs() > q.config.MaxClockOffset:
			return fmt.Sprintf("the clock of node %s was off by %s", measured.node, measured.offset.Round(10*time.Millisecond))
		}
	}
	return ""
}

// forced is the decision for a takeover by force that no guard speaks against.
func (q question) forced(f Force) Decision {
	d := Decision{Verdict: Act, Guard: GuardNone, Evidence: q.evidence, Fencing: Strict}
	if f == AfterWindow {
		d.Reason = fmt.Sprintf("node %s was stopped at %s, before the end of the window of node %s at %s: nothing is lost",
			q.suspect.Node, stamp(q.state.Fenced[q.suspect.Node].ConfirmedAt), q.standby.Node, stamp(q.standby.ProvenUntil))
		return d
	}
	d.Reason = fmt.Sprintf("a person accepts that commits of node %s may be lost; node %s (%s %s) has its log up to position %d",
		q.suspect.Node, q.standby.Node, q.standby.State, q.standby.PartnerStatus, q.standby.Position)
	if q.suspect.Position > q.standby.Position {
		d.Reason += fmt.Sprintf(", node %s was last seen at %d: at least %d bytes of log are missing", q.suspect.Node, q.suspect.Position, q.suspect.Position-q.standby.Position)
	}
	return d
}

// recheckedForced reads the standby again, just before the fence: it must still
// be one, and still without its primary where that is the proof.
func (s State) recheckedForced(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	switch {
	case o.Role != RoleStandby:
		return s.giveUp(e.At, fmt.Sprintf("node %s is not a standby any more: role %s", op.To, orNone(string(o.Role))))
	case op.Force == AfterWindow && (o.ProvenUntil.IsZero() || o.HeardLast.After(s.Fenced[op.From].ConfirmedAt.Add(op.Config.MaxClockOffset))):
		return s.giveUp(e.At, fmt.Sprintf("node %s was connected to its primary again (%s %s)", op.To, o.State, o.PartnerStatus))
	}
	s.enter(StepFence, e.At, op.Config.FenceTimeout)
	return s, []Effect{s.stepped(e.At, "stop node "+op.From), ReadInstance{Node: op.From}}
}

// abandoned blocks a takeover by force whose command has died: no function may
// go on with it, because none may promote by force.
func (s State) abandoned(at time.Time) (State, []Effect) {
	op := s.Operation
	if at.Before(op.StepSince.Add(forcedPatience)) {
		return s, nil
	}
	return s.block(at,
		fmt.Sprintf("the command that ran this takeover by force ended at step %s", op.Step),
		fmt.Sprintf("go on with it: hadr resume %s", s.Group))
}

// stoppedSince reports whether the old primary was read as stopped before a
// moment, and never as running since.
func (s State) stoppedSince(at time.Time) bool {
	f := s.Fenced[s.Operation.From]
	return f.Confirmed && !f.ConfirmedAt.After(at)
}

// proofGone stops a takeover after the window whose proof has gone: somebody has
// started the old primary since. It may have found its standby and committed,
// so it is left alone (R19).
func (s State) proofGone(e InstanceRead) (State, []Effect) {
	op := s.Operation
	return s.block(e.At,
		fmt.Sprintf("it is not proven any more that nothing would be lost: node %s was started again since it was stopped (its machine reads %s); nothing was promoted", op.From, machineReads(e.State, e.Error)),
		fmt.Sprintf("let node %s serve: hadr cancel %s, and start its database if it does not; only if what it committed last may be lost: hadr cancel %s, then hadr takeover %s --from %s --allow-data-loss --reason WHY", op.From, s.Group, s.Group, s.Group, op.From))
}
