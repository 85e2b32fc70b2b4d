package alarm

import "time"

// Suppression holds back the actions of a composite alarm that has an action
// suppressor. It is a state machine without a clock: the caller tells it what
// happens and when, and asks it for its deadline.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-suppression.html
type Suppression struct {
	Wait      time.Duration // how long a change waits for the suppressor
	Extension time.Duration // how long actions stay suppressed after it

	by       SuppressedBy
	pending  State
	deadline time.Time
}

// SuppressedBy says why actions are held back.
type SuppressedBy string

// Reasons why actions are held back.
const (
	NotSuppressed     SuppressedBy = ""
	ByWaitPeriod      SuppressedBy = "WaitPeriod"
	ByAlarm           SuppressedBy = "Alarm"
	ByExtensionPeriod SuppressedBy = "ExtensionPeriod"
)

// By returns why actions are held back at present.
func (s *Suppression) By() SuppressedBy { return s.by }

// Deadline returns when the running period ends, or false if none runs.
func (s *Suppression) Deadline() (time.Time, bool) {
	return s.deadline, s.by == ByWaitPeriod || s.by == ByExtensionPeriod
}

// Changed tells that the composite alarm went to state while its suppressor was
// in ALARM or not. It reports whether the actions of state run at once. A change
// during a wait or extension period starts a new wait period.
func (s *Suppression) Changed(at time.Time, state State, suppressorAlarm bool) bool {
	switch {
	case suppressorAlarm:
		s.hold(ByAlarm, state, time.Time{})
	case s.Wait > 0:
		s.hold(ByWaitPeriod, state, at.Add(s.Wait))
	default:
		s.release()
		return true
	}
	return false
}

// Suppressor tells that the suppressor alarm entered ALARM or left it. If that
// ends the suppression at once, it returns the state whose actions run now, else
// Retain. A suppressor that comes after the actions ran changes nothing.
func (s *Suppression) Suppressor(at time.Time, alarm bool) State {
	switch {
	case s.by == NotSuppressed:
	case alarm:
		s.hold(ByAlarm, s.pending, time.Time{})
	case s.by != ByAlarm:
	case s.Extension > 0:
		s.hold(ByExtensionPeriod, s.pending, at.Add(s.Extension))
	default:
		return s.release()
	}
	return Retain
}

// Expire ends a period whose deadline has come and returns the state whose
// actions run now, else Retain.
func (s *Suppression) Expire(at time.Time) State {
	if d, ok := s.Deadline(); ok && !at.Before(d) {
		return s.release()
	}
	return Retain
}

func (s *Suppression) hold(by SuppressedBy, state State, deadline time.Time) {
	s.by, s.pending, s.deadline = by, state, deadline
}

func (s *Suppression) release() State {
	state := s.pending
	s.hold(NotSuppressed, Retain, time.Time{})
	return state
}
