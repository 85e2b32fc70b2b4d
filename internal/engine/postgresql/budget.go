package postgresql

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/budget"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Timing is what a takeover has to fit into. Zero stands for the default where
// one is named.
type Timing struct {
	Contact      time.Duration // between two words of the primary to its standby, the agent's interval; default 20 s
	Detection    time.Duration // from the failure to the event, worst case
	Decision     time.Duration // reading both nodes and deciding; default 10 s
	Resume       time.Duration // one dead runner until the next goes on; default 60 s
	Delivery     time.Duration // from SendCommand to its start on the node; default 5 s
	Fencing      failover.Fencing
	FenceTimeout time.Duration // strict: stop accepted to stopped, p99; 0 where the lease fences
	ClockOffset  time.Duration // between the nodes; default 2 s
}

const (
	defaultContact     = 20 * time.Second
	defaultDecision    = 10 * time.Second
	defaultResume      = 60 * time.Second
	defaultDelivery    = 5 * time.Second
	defaultClockOffset = 2 * time.Second
	fenceAccepted      = 10 * time.Second // peer_window: until the stop is read as accepted
	budgetMargin       = 10 * time.Second
)

// CheckTiming adds up a takeover: it must begin before the last proof of what
// the standby has is too old, even if the primary failed just before its next
// word, and one runner dies on the way.
func CheckTiming(s Settings, t Timing) budget.Budget {
	fence := t.FenceTimeout
	if t.Fencing == failover.PeerWindow {
		fence = fenceAccepted
	}
	return budget.New(s.Window,
		budget.Term{Name: "contact", For: budget.Or(t.Contact, defaultContact)},
		budget.Term{Name: "detection", For: t.Detection},
		budget.Term{Name: "decision", For: budget.Or(t.Decision, defaultDecision)},
		budget.Term{Name: "one resume", For: budget.Or(t.Resume, defaultResume)},
		budget.Term{Name: "command delivery", For: budget.Or(t.Delivery, defaultDelivery)},
		budget.Term{Name: "fence", For: fence},
		budget.Term{Name: "clock offset", For: budget.Or(t.ClockOffset, defaultClockOffset)},
		budget.Term{Name: "margin", For: budgetMargin},
	)
}

// Lease is how the primary's lease and its own fence are set, all counted from
// the sending of the last good renewal.
type Lease struct {
	Duration time.Duration // after which another node may take it
	Interval time.Duration // between renewals
	Demote   time.Duration // without a renewal until the fence begins
	Fence    time.Duration // the fence's own limit, see Local.Fence
	Watchdog time.Duration // until the machine is reset; 0 = none
	Drift    time.Duration // of the clocks during one lease
}

// CheckLease adds up the end of a primary that can't renew: it must be fenced,
// by itself or by the watchdog where the agent hangs, before anybody else may
// take the lease.
func CheckLease(l Lease) budget.Budget {
	fenced := []budget.Term{{Name: "demote after", For: l.Demote}, {Name: "fence", For: l.Fence}}
	if l.Watchdog > l.Demote+l.Fence {
		fenced = []budget.Term{{Name: "watchdog", For: l.Watchdog}}
	}
	b := budget.New(l.Duration, append(fenced, budget.Term{Name: "clock drift", For: l.Drift})...)
	b.Strict = true
	return b
}

// CheckSettings judges settings under a policy. What would let an automatic
// takeover lose more than is declared, or fail for want of time, is an error
// under the policy automatic and a warning otherwise.
func CheckSettings(s Settings, policy failover.Policy, t Timing) (found []budget.Finding) {
	fatal := policy == failover.Automatic
	setting, meaning := "sync_window_seconds", "how long a standby trusts that its primary waited for it"
	if s.Mode == Async {
		setting, meaning = "max_rpo_seconds", "the seconds of commits that may be lost"
	}
	if b := CheckTiming(s, t); !b.Fits() {
		found = append(found, budget.Finding{
			Error: fatal, Setting: setting, Summary: "A takeover does not fit into " + setting,
			Detail: fmt.Sprintf("%s is %s. A takeover that begins later is refused, and it needs %g s: %s. "+
				"Declare at least %g, or detect faster (a shorter lease and agent interval).",
				setting, meaning, b.Required.Seconds(), b, b.Required.Seconds()),
		})
	}
	return found
}

// CheckLeaseSettings judges a lease. Without a watchdog a hung agent leaves
// nobody to fence the primary.
func CheckLeaseSettings(s Settings, policy failover.Policy, l Lease) (found []budget.Finding) {
	fatal := policy == failover.Automatic
	if b := CheckLease(l); !b.Fits() {
		found = append(found, budget.Finding{
			Error: true, Setting: "lease_seconds", Summary: "The primary may outlive its lease",
			Detail: fmt.Sprintf("Two nodes could write: %s. Lengthen the lease, or demote earlier.", b),
		})
	}
	if l.Interval*2 > l.Demote {
		found = append(found, budget.Finding{
			Setting: "lease_interval_seconds", Summary: "One lost renewal demotes a healthy primary",
			Detail: fmt.Sprintf("The fence begins %g s after the last renewal, and renewals are %g s apart: at least two must fit.", l.Demote.Seconds(), l.Interval.Seconds()),
		})
	}
	if l.Watchdog <= 0 && s.Mode == Async {
		found = append(found, budget.Finding{
			Error: fatal, Setting: "watchdog_seconds", Summary: "No watchdog backs the lease",
			Detail: "If the agent hangs and the database does not, nobody fences an asynchronous primary that lost its lease. " +
				"Set a watchdog (a synchronous primary alone can acknowledge nothing), or fence = strict.",
		})
	}
	return found
}
