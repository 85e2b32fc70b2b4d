package postgresql

import (
	"fmt"
	"strings"
	"time"

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
	FenceTimeout time.Duration // stop accepted to stopped, p99; 0 where the lease fences
	ClockOffset  time.Duration // between the nodes; default 2 s
}

const (
	defaultContact     = 20 * time.Second
	defaultDecision    = 10 * time.Second
	defaultResume      = 60 * time.Second
	defaultDelivery    = 5 * time.Second
	defaultClockOffset = 2 * time.Second
	budgetMargin       = 10 * time.Second
)

// Term is one part of a budget.
type Term struct {
	Name string
	For  time.Duration
}

// Budget compares the time that something needs with the time that it has.
type Budget struct {
	Terms     []Term
	Required  time.Duration
	Available time.Duration
	Strict    bool // the time has to be less, and not only no more
}

func budget(available time.Duration, terms ...Term) Budget {
	b := Budget{Terms: terms, Available: available}
	for _, t := range terms {
		b.Required += t.For
	}
	return b
}

// Fits reports whether the time is enough.
func (b Budget) Fits() bool {
	return b.Required < b.Available || !b.Strict && b.Required == b.Available
}

// String lists the terms and both sums in seconds.
func (b Budget) String() string {
	parts := make([]string, len(b.Terms))
	for i, t := range b.Terms {
		parts[i] = fmt.Sprintf("%s %g", t.Name, t.For.Seconds())
	}
	sign := map[[2]bool]string{{true, false}: "<=", {true, true}: "<", {false, false}: ">", {false, true}: ">="}[[2]bool{b.Fits(), b.Strict}]
	return fmt.Sprintf("%s = %g s %s %g s", strings.Join(parts, " + "), b.Required.Seconds(), sign, b.Available.Seconds())
}

// CheckTiming adds up a takeover: it must begin before the last proof of what
// the standby has is too old, even if the primary failed just before its next
// word, and one runner dies on the way.
func CheckTiming(s Settings, t Timing) Budget {
	return budget(s.Window,
		Term{"contact", either(t.Contact, defaultContact)},
		Term{"detection", t.Detection},
		Term{"decision", either(t.Decision, defaultDecision)},
		Term{"one resume", either(t.Resume, defaultResume)},
		Term{"command delivery", either(t.Delivery, defaultDelivery)},
		Term{"fence", t.FenceTimeout},
		Term{"clock offset", either(t.ClockOffset, defaultClockOffset)},
		Term{"margin", budgetMargin},
	)
}

func either(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
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
func CheckLease(l Lease) Budget {
	fenced := []Term{{"demote after", l.Demote}, {"fence", l.Fence}}
	if l.Watchdog > l.Demote+l.Fence {
		fenced = []Term{{"watchdog", l.Watchdog}}
	}
	b := budget(l.Duration, append(fenced, Term{"clock drift", l.Drift})...)
	b.Strict = true
	return b
}

// Finding is something about the declared settings that a plan tells.
type Finding struct {
	Error   bool   // otherwise a warning
	Setting string // such as "max_rpo_seconds"
	Summary string
	Detail  string // cause with numbers, and the fix
}

// CheckSettings judges settings under a policy. What would let an automatic
// takeover lose more than is declared, or fail for want of time, is an error
// under the policy automatic and a warning otherwise.
func CheckSettings(s Settings, policy failover.Policy, t Timing) (found []Finding) {
	fatal := policy == failover.Automatic
	setting, meaning := "sync_window_seconds", "how long a standby trusts that its primary waited for it"
	if s.Mode == Async {
		setting, meaning = "max_rpo_seconds", "the seconds of commits that may be lost"
	}
	if b := CheckTiming(s, t); !b.Fits() {
		found = append(found, Finding{
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
func CheckLeaseSettings(s Settings, policy failover.Policy, l Lease) (found []Finding) {
	fatal := policy == failover.Automatic
	if b := CheckLease(l); !b.Fits() {
		found = append(found, Finding{
			Error: true, Setting: "lease_seconds", Summary: "The primary may outlive its lease",
			Detail: fmt.Sprintf("Two nodes could write: %s. Lengthen the lease, or demote earlier.", b),
		})
	}
	if l.Interval*2 > l.Demote {
		found = append(found, Finding{
			Setting: "lease_interval_seconds", Summary: "One lost renewal demotes a healthy primary",
			Detail: fmt.Sprintf("The fence begins %g s after the last renewal, and renewals are %g s apart: at least two must fit.", l.Demote.Seconds(), l.Interval.Seconds()),
		})
	}
	if l.Watchdog <= 0 && s.Mode == Async {
		found = append(found, Finding{
			Error: fatal, Setting: "watchdog_seconds", Summary: "No watchdog backs the lease",
			Detail: "If the agent hangs and the database does not, nobody fences an asynchronous primary that lost its lease. " +
				"Set a watchdog (a synchronous primary alone can acknowledge nothing), or fence = strict.",
		})
	}
	return found
}
