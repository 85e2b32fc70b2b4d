package failover

import (
	"fmt"
	"time"
)

// Alone is for how long a runner that the record gives no answer may finish the
// redirect of its operation without it, since it last had one (R27): a
// promotion that was just sent, and the routes after it.
func (c Config) Alone() time.Duration { return c.PromoteTimeout + c.RedirectTimeout }

// callTime is what a call to AWS that was sent in time may take to have effect.
const callTime = 10 * time.Second

// noteTime is how long a note of a change of runners will do.
const noteTime = 15 * time.Second

// succeeded notes that the operation has got another runner while the one before
// may finish the redirect without the record. That one saw it last before this
// one saves, or else meets the change. Runners that take turns, each because the
// other has saved, must not do so for ever: what was noted a moment ago will do.
func (s *State) succeeded(at time.Time) {
	op := s.Operation
	if op == nil || op.Blocked != "" || !s.on(R27) {
		return
	}
	switch op.Step {
	case StepPromote, StepConfirm, StepRedirect:
	default:
		return
	}
	least := at.Add(op.Config.Alone() + op.Config.MaxClockOffset + callTime)
	if s.ClaimsWait.Before(least) {
		s.ClaimsWait = least.Add(noteTime)
	}
}

// redirects holds a claim back while a route may still be led to where it would
// be wrong afterwards (R27).
func redirects(q question) *Decision {
	if !q.at.Before(q.state.ClaimsWait) || !q.state.on(R27) {
		return nil
	}
	return &Decision{
		Verdict: Hold, Guard: GuardRedirects,
		Reason: fmt.Sprintf("a function that worked on the last operation and has lost the state table may still move routes for it until %s; nothing new is begun before", stamp(q.state.ClaimsWait)),
		Next:   fmt.Sprintf("wait until %s, then: hadr status %s", stamp(q.state.ClaimsWait), q.state.Group),
	}
}
