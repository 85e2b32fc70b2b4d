package agent

import (
	"errors"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// sample is a value to publish.
type sample struct {
	latency time.Duration
	err     error
}

// health is what is known of the database. Its durations are readings of the
// agent's stopwatch.
type health struct {
	mu sync.Mutex

	view     failover.Observation // ViewedAt is when it began, on the host's clock
	viewedAt time.Duration        // the same
	views    int
	log      logEnd        // of the last view of a standby that hears its primary
	grew     time.Duration // as standby, it received log of its primary after this; 0 = not yet

	asking    time.Duration // since when a probe is under way
	underway  bool
	good      bool          // the last probe committed below the threshold
	committed time.Duration // when the last good probe came back
	took      time.Duration // the last probe
	lastGood  time.Time
	lastBad   time.Time

	worst    sample // since the last take
	measured bool   // something was, since the last take
	last     time.Duration
}

// logEnd is how far a standby's log reached in a view that began then.
type logEnd struct {
	position uint64
	at       time.Duration
}

func (h *health) begun() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.views > 0
}

// viewed notes a view that began and ended at readings of the stopwatch. A
// standby's log flows if it grew within pace. A view without an answer takes
// nothing of that back: what was seen before has its time.
func (h *health) viewed(o failover.Observation, err error, began, ended time.Duration, now time.Time, pace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.ViewedAt = now.Add(began - ended)
	h.growth(o, began)
	switch {
	case o.Answer != failover.Answered:
		o.LogFlows = h.view.LogFlows
	case h.grew > 0 && began-h.grew <= pace && o.Role == failover.RoleStandby:
		o.LogFlows = o.ViewedAt
	}
	h.view, h.viewedAt = o, began
	h.views++
	if err != nil {
		h.good, h.underway = false, false
		h.bad(err, now)
	}
	if err != nil || o.Role != failover.RolePrimary {
		h.note(sample{ended - began, err})
	}
}

// growth notes that a standby has more log than in the view before that had an
// answer: its primary sent it after that view began. A standby without its
// primary may read log of its own disk.
func (h *health) growth(o failover.Observation, began time.Duration) {
	switch {
	case o.Answer != failover.Answered: // says nothing
		return
	case o.Role != failover.RoleStandby:
		h.grew, h.log = 0, logEnd{}
		return
	case o.PartnerLost:
		h.log = logEnd{}
		return
	case h.log.position > 0 && o.Position > h.log.position:
		h.grew = h.log.at
	}
	h.log = logEnd{o.Position, began}
}

// bad notes a failure of the database. What only keeps the agent from judging
// it is none.
func (h *health) bad(err error, now time.Time) {
	var setup SetupError
	if !errors.As(err, &setup) {
		h.lastBad = now
	}
}

func (h *health) note(s sample) {
	h.last = s.latency
	if !h.measured || s.err != nil && h.worst.err == nil || s.err == nil && h.worst.err == nil && s.latency > h.worst.latency {
		h.worst = s
	}
	h.measured = true
}

func (h *health) probing(began time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking, h.underway = began, true
}

// probed notes a probe that came back.
func (h *health) probed(err error, began, ended, threshold time.Duration, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.underway = false
	latency := ended - began
	h.took = latency
	h.good = err == nil && latency < threshold
	switch {
	case h.good:
		h.committed, h.lastGood = ended, now
	case err == nil:
		h.lastBad = now
	default:
		h.bad(err, now)
	}
	h.note(sample{latency, err})
}

// take returns the worst value since the last take. A probe that is under way
// counts with its age.
func (h *health) take(now time.Duration) sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.underway {
		h.note(sample{latency: now - h.asking})
	}
	s := h.worst
	if !h.measured {
		s = sample{err: errNotServing}
	}
	h.worst, h.measured = sample{}, false
	return s
}

func (h *health) latency() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// lastView returns when the last view began.
func (h *health) lastView() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewedAt
}

// primary reports whether the last view shows an active primary.
func (h *health) primary() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view.ServesAsPrimary()
}

// observation is the last view with what the probes say.
func (h *health) observation() failover.Observation {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.view
	o.LastBadProbe = h.lastBad
	// R5: only a committed write of the primary is positive evidence.
	if o.Role == failover.RolePrimary {
		o.LastGoodProbe = h.lastGood
	}
	return o
}

// verdict says what a primary's health means for its lease.
type verdict struct {
	renew   bool
	waiting bool   // R4: for its standby
	slow    bool   // commits take long, or come late
	suspend string // why the lease's silence will prove nothing (R6)
}

// judge says whether the database lives: the agent's own life proves nothing.
// It lives if its last probe committed, and no longer ago than a probe may
// take; or if its log waits for its standby (R4). It commits once in each
// interval of its lease: commits that take longer than half of one, or come
// later by as much, leave its standby without a word of it for longer than usual.
func (h *health) judge(now, threshold, fresh, interval time.Duration, setup string) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	viewed := h.views > 0 && now-h.viewedAt < fresh
	switch {
	case viewed && h.view.StoppedInOrder != "":
		return verdict{suspend: "stopped in order: " + h.view.StoppedInOrder}
	case viewed && h.view.ServesAsPrimary() && h.view.WaitsForStandby:
		return verdict{renew: true, waiting: true}
	case h.good && now-h.committed < max(threshold, fresh):
		late := interval / 2
		return verdict{renew: true, slow: h.took > late || h.underway && now-h.asking > late || now-h.committed > interval+late}
	case setup != "" && !h.good:
		return verdict{suspend: "its agent can't measure: " + setup}
	}
	return verdict{}
}
