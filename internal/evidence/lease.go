package evidence

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// silenceSlack is what a standby's word on how long it has heard nothing may
// lag behind a lease that stood still: it counts in whole seconds, and the last
// message may have come as late after the last renewal as the next one was due.
// A lease is renewed three times within its duration or more often. A primary
// that lives commits at every renewal that it tries, so that its standby never
// hears nothing for as long as what is left.
func silenceSlack(stood time.Duration) time.Duration { return time.Second + stood/3 }

// Lease is the evidence of a lease that stands still: a watcher has seen it so
// for its whole duration, on its own clock and without a gap (R6), and it is
// read again where it was seen.
//
// A holder's agent commits a row before each renewal, and its standby receives
// it. So a standby that has heard nothing for as long as the lease stands still
// by now is a second witness, long before the database itself gives its partner
// up; one that does hear something tells of a primary that only lost its way to
// the record.
func Lease(suspect, watcher failover.Observation, now failover.Lease) []failover.Evidence {
	seen := watcher.LeaseStill
	if now.Holder != suspect.Node || !seen.Holds(now) {
		return nil
	}
	found := []failover.Evidence{{
		Node: suspect.Node, Signal: failover.SignalLease, Source: "agent " + watcher.Node, At: seen.At,
		Detail: fmt.Sprintf("node %s has not renewed its lease for %s (counter %d of epoch %d)", suspect.Node, seen.Stood.Round(100*time.Millisecond), seen.Counter, seen.Epoch),
	}}
	if quiet(suspect, now) || watcher.Answer != failover.Answered || watcher.Role != failover.RoleStandby {
		return found
	}
	if watcher.PartnerSilence+silenceSlack(seen.Stood) >= seen.Stood+since(watcher, seen) {
		found = append(found, failover.Evidence{
			Node: suspect.Node, Signal: failover.SignalStandbyView, Source: watcher.Source, At: watcher.ReadAt,
			Detail: fmt.Sprintf("node %s has heard nothing of node %s for %s, which commits a row before every renewal", watcher.Node, suspect.Node, watcher.PartnerSilence.Round(time.Second)),
		})
	}
	return found
}

// quiet reports whether nothing need be heard of a primary that is well: its last
// word was that its commits take long, or that it waits for this very standby
// (R4); or it says itself that its database serves, and the silence is that of its
// agent, whose commits are all that a standby hears of a database without work.
func quiet(suspect failover.Observation, last failover.Lease) bool {
	return last.Slow || last.WaitingForStandby || suspect.ServesAsPrimary()
}

// since is how long before the watcher's view the lease had expired, on its own
// clock.
func since(watcher failover.Observation, seen failover.LeaseSight) time.Duration {
	viewed := watcher.HostTime
	if !watcher.ViewedAt.IsZero() {
		viewed = watcher.ViewedAt
	}
	return max(0, viewed.Sub(seen.At))
}
