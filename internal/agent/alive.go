package agent

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// beat is the last sign of life of a loop.
type beat struct{ at, limit time.Duration }

// beat says that a loop lives; it must do so again within limit.
func (a *Agent) beat(loop string, limit time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.beats == nil {
		a.beats = map[string]beat{}
	}
	a.beats[loop] = beat{a.mono(), limit}
}

func (a *Agent) done(loop string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.beats, loop)
}

// Alive returns an error if a loop hangs. What feeds the service manager's
// watchdog asks it: a hung agent must not look alive (R16).
func (a *Agent) Alive() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for loop, b := range a.beats {
		if silent := a.mono() - b.at; silent > b.limit {
			return fmt.Errorf("the loop %s shows no life for %s; at most %s is expected", loop, silent.Round(time.Second), b.limit)
		}
	}
	return nil
}

// Status is what the agent says of itself.
type Status struct {
	Observation failover.Observation
	Primary     string // node that is recorded
	Epoch       uint64
	Interval    time.Duration
	Lease       LeaseStatus
	DeadMan     bool     // in force (R16)
	Troubles    []string // areas in which something does not work
}

// LeaseStatus is the lease as this node keeps or sees it.
type LeaseStatus struct {
	Holding  bool
	Renewals uint64
	Failures uint64
	Margin   time.Duration // until it expires, counted from the sending of the last good renewal
	Stood    time.Duration // the other node's lease, for how long it stands still
}

// Status returns what the agent knows now.
func (a *Agent) Status() Status {
	d := a.declaration()
	s := Status{
		Observation: a.observation(a.health.latency()), Primary: d.state.Primary, Epoch: d.state.Epoch,
		Interval: d.probe.Interval, Troubles: a.troubles.areas(),
	}
	s.DeadMan = !s.Observation.DeadManUntil.IsZero()
	s.Lease = a.holding.status(a.mono(), d.probe.LeaseDuration)
	s.Lease.Stood = a.watching.stood()
	return s
}

// Line is a line for people, such as systemctl status shows.
func (s Status) Line() string {
	o := s.Observation
	text := fmt.Sprintf("%s %s", orUnknown(string(o.Role)), orUnknown(o.State))
	switch {
	case o.Answer != failover.Answered:
		text = "no view of the database: " + orUnknown(o.AnswerError)
	case o.Database != failover.DatabaseActive:
		text = "database " + string(o.Database)
	case s.Lease.Holding:
		text += fmt.Sprintf(", SQL in %s, lease for %s", o.Latency.Round(time.Millisecond), s.Lease.Margin.Round(time.Second))
	}
	if o.Trouble != "" {
		text += "; trouble: " + o.Trouble
	}
	return text
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
