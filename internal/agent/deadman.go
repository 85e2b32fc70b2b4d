package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// deadMan ends a primary that is cut off from its standby and from the record,
// before its window does (R16). Until the end of the window it acknowledges
// nothing without its standby; after that it would, while the standby may have
// been promoted.
//
// margin before the end it must hear of its lease once more: from then on no
// takeover can begin that the window would still allow, since that needs more
// of the window than is left (R8), and one that seals its lease later waits
// until this machine is stopped. If it hears nothing within an interval, the
// database is killed.
type deadMan struct {
	mu     sync.Mutex
	margin time.Duration // failover.Config.LastSeal
	armed  bool          // the window is open, and the standby is not heard
	end    time.Duration // of the window, on the agent's stopwatch
	hears  bool          // it was heard, at heard
	heard  time.Duration // when a view began that heard the standby
	window bool          // this primary has a window that can protect it
	killed bool
}

const (
	// killTime is what killing the database takes, with a second try.
	killTime = 5 * time.Second
	// restartTime is what a killed agent takes until it guards again.
	restartTime = 10 * time.Second
	// promiseTime is how long a promise is worth after the agent was last seen:
	// its machine may be gone since.
	promiseTime = time.Minute
	guardPause  = time.Second
)

// see takes a view that began at a reading of the stopwatch, of a group that is
// declared so.
func (m *deadMan) see(o failover.Observation, began time.Duration, c failover.Config) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.margin = c.LastSeal()
	if o.Answer != failover.Answered {
		return // nothing is known: what was known holds
	}
	m.killed = m.killed && o.Database != failover.DatabaseActive
	if !o.ServesAsPrimary() {
		// A server that does not run writes nothing: what was promised of it holds
		// for as long as the rest of the promise does.
		m.armed, m.window = false, m.window && o.Answer == failover.Answered && o.Database == failover.DatabaseDown
		return
	}
	left := o.BlockedUntil.Sub(o.HostTime)
	m.window = !o.BlockedUntil.IsZero() && !o.HostTime.IsZero()
	if !o.PartnerLost {
		m.hears, m.heard = true, began
		m.armed, m.end = m.window, began+left
		return
	}
	switch {
	case m.window && left > 0:
		m.armed, m.end = true, began+left
	case m.armed && began < m.end-m.margin:
		m.armed = false // the window was closed in order, such as by the standby's own stop
	}
}

// due reports whether the database must be killed now. seen is when the lease
// was last seen as this node's own, if ever; interval is that of its renewals.
func (m *deadMan) due(now, seen time.Duration, ever bool, interval time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.end - m.margin
	if !m.armed || now < last+interval+callSlack {
		return false
	}
	if ever && seen >= last || m.hears && m.heard >= last {
		m.armed = false
		return false
	}
	return true
}

// callSlack is for a renewal that was sent just before the last moment.
const callSlack = 2 * time.Second

// guarding is the loop of the dead-man. It waits for nothing but its ticker.
func (a *Agent) guarding(ctx context.Context) error {
	ticker := a.Clock.NewTicker(guardPause)
	defer ticker.Stop()
	for {
		a.beat("guarding", 3*killTime+guardPause)
		d := a.declaration()
		seen, ever := a.holding.sight()
		if a.deadMan.due(a.mono(), seen, ever, d.probe.LeaseInterval) {
			a.kill(ctx, d)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

func (a *Agent) kill(ctx context.Context, d declaration) {
	a.Log.Error("dead-man: neither the standby nor the lease is seen, and the peer window ends: the database is killed before two nodes could write",
		"group", a.Group, "node", a.Node, "epoch", d.state.Epoch)
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, 2*killTime)
	defer cancel()
	if err := a.Database.Kill(ctx, d.settings()); err != nil {
		a.raise("deadman", fmt.Errorf("%w: kill it by hand (db2_kill), or stop this host", err))
		return // the next tick tries again
	}
	a.clear("deadman")
	a.deadMan.mu.Lock()
	defer a.deadMan.mu.Unlock()
	a.deadMan.armed, a.deadMan.killed = false, true
}

// promise is until when others may rely on the dead-man, zero if they may not:
// it must have time to act even if the agent hangs now and its watchdog starts
// it again.
func (a *Agent) promise(now time.Time) time.Time {
	d := a.declaration()
	if a.Watchdog <= 0 || !d.leases() || !d.mayHold(a.Node) || a.troubles.text() != "" {
		return time.Time{}
	}
	seen, ever := a.holding.sight()
	m := &a.deadMan
	m.mu.Lock()
	defer m.mu.Unlock()
	at := a.mono()
	interval := d.probe.LeaseInterval
	again := at + a.Watchdog + restartTime + 2*interval // when a hung agent guards again
	acts := max(again, m.end-m.margin+interval+callSlack)
	switch {
	case !m.window || m.killed || !ever || !m.hears:
		return time.Time{}
	case at-m.heard > 3*interval+time.Second, at-seen > d.probe.LeaseDuration:
		return time.Time{} // only one that is well may promise
	case acts+guardPause+2*killTime > m.end:
		return time.Time{} // the window is too short for it
	}
	return now.Add(promiseTime)
}
