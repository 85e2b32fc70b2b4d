package db2

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/budget"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Timing is what a takeover by force within the peer window has to fit into.
// Zero stands for the default where one is named.
type Timing struct {
	PeerWindow  time.Duration // HADR_PEER_WINDOW
	HADRTimeout time.Duration // HADR_TIMEOUT
	Heartbeat   time.Duration // as db2pd shows it; default: the longest that both parameters allow

	Detection    time.Duration // from the failure to the event, worst case
	Decision     time.Duration // reading both nodes and deciding; default 10 s
	Resume       time.Duration // one dead runner until the next goes on; default 60 s
	Delivery     time.Duration // from SendCommand to its start on the node; default 5 s
	Fencing      failover.Fencing
	FenceTimeout time.Duration // strict: stop accepted to stopped, p99
	ClockOffset  time.Duration // between the nodes; default 2 s
}

// The defaults of a Timing, and its margin. The runner that follows a dead one
// is started once a minute (R32).
const (
	defaultDecision    = 10 * time.Second
	defaultResume      = 60 * time.Second
	defaultDelivery    = 5 * time.Second
	defaultClockOffset = 2 * time.Second
	fenceAccepted      = 10 * time.Second // peer_window: until the stop is read as accepted
	budgetMargin       = 10 * time.Second
)

// CheckTiming adds up a takeover: it must begin before the peer window ends,
// even if the failure comes one heartbeat after the window's end was last sent,
// and one runner dies on the way. What it has is the peer window less one
// heartbeat, which may be lost before the failure.
func CheckTiming(t Timing) budget.Budget {
	fence := fenceAccepted
	if t.Fencing != failover.PeerWindow {
		fence = t.FenceTimeout
	}
	available := max(0, t.PeerWindow-budget.Or(t.Heartbeat, Heartbeat(t.HADRTimeout, t.PeerWindow)))
	return budget.New(available,
		budget.Term{Name: "detection", For: t.Detection},
		budget.Term{Name: "decision", For: budget.Or(t.Decision, defaultDecision)},
		budget.Term{Name: "one resume", For: budget.Or(t.Resume, defaultResume)},
		budget.Term{Name: "command delivery", For: budget.Or(t.Delivery, defaultDelivery)},
		budget.Term{Name: "fence", For: fence},
		budget.Term{Name: "clock offset", For: budget.Or(t.ClockOffset, defaultClockOffset)},
		budget.Term{Name: "margin", For: budgetMargin},
	)
}

// Heartbeat is the longest interval that Db2 derives from its parameters; the
// one that runs is read from db2pd and may be shorter
// (https://ibm.github.io/db2-hadr-wiki/hadrConfig.html).
func Heartbeat(hadrTimeout, peerWindow time.Duration) time.Duration {
	beat := 30 * time.Second
	for _, d := range []time.Duration{hadrTimeout / 4, peerWindow / 4} {
		if d > 0 {
			beat = min(beat, d)
		}
	}
	return beat
}

// CheckSettings judges settings under a policy. What would let an automatic
// takeover lose commits, or fail for want of time, is an error under the policy
// automatic and a warning otherwise.
func CheckSettings(s Settings, policy failover.Policy, t Timing) []budget.Finding {
	fatal := policy == failover.Automatic
	if s.SyncMode == "ASYNC" || s.SyncMode == "SUPERASYNC" {
		return []budget.Finding{{
			Error: fatal, Setting: "syncmode", Summary: "HADR_SYNCMODE " + s.SyncMode + " has no peer window",
			Detail: "Db2 refuses TAKEOVER BY FORCE PEER WINDOW ONLY in this mode, and any other takeover can lose acknowledged commits. " +
				"Use SYNC or NEARSYNC, or the policy approval or observe.",
		}}
	}
	if t.PeerWindow <= 0 {
		return []budget.Finding{{
			Error: fatal, Setting: "peer_window_seconds", Summary: "HADR_PEER_WINDOW is 0",
			Detail: fmt.Sprintf("Without a peer window nothing proves that the standby has every commit, so no takeover is safe. "+
				"Set HADR_PEER_WINDOW on both nodes and declare it here: this timing needs at least %g.", t.smallestWindow().Seconds()),
		}}
	}
	if b := CheckTiming(t); !b.Fits() {
		return []budget.Finding{{
			Error: fatal, Setting: "peer_window_seconds", Summary: "The peer window is too short for the declared timing",
			Detail: fmt.Sprintf("A takeover needs %g s and has %g s (HADR_PEER_WINDOW %g less one heartbeat): %s. "+
				"Set HADR_PEER_WINDOW to at least %g on both nodes, or detect faster.",
				b.Required.Seconds(), b.Available.Seconds(), t.PeerWindow.Seconds(), b, t.smallestWindow().Seconds()),
		}}
	}
	return nil
}

// smallestWindow is the shortest window in whole seconds that fits.
func (t Timing) smallestWindow() time.Duration {
	required := CheckTiming(t).Required.Truncate(time.Second)
	for t.PeerWindow = required; !CheckTiming(t).Fits(); t.PeerWindow += time.Second {
		if t.PeerWindow > required+t.Heartbeat+time.Minute {
			break
		}
	}
	return t.PeerWindow
}
