package statetable

import (
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const (
	// fenceMost and fenceLeast bound how long a self-fence may take.
	fenceMost  = 5 * time.Second
	fenceLeast = time.Second
	// fenceSlack is for the agent's own ticker.
	fenceSlack = 200 * time.Millisecond
)

// SelfFence is how a primary that can't renew its lease stops its own database,
// counted from the sending of the last good renewal.
type SelfFence struct {
	After time.Duration // when it begins
	Limit time.Duration // for how long it may take
}

// SelfFence is as late as the lease allows: a short gap of the network stops no
// database.
func (p Probe) SelfFence() SelfFence {
	limit := min(max(p.LeaseDuration/4, fenceLeast), fenceMost)
	return SelfFence{After: p.LeaseDuration - failover.DefaultDrift - limit - fenceSlack, Limit: limit}
}

// CheckLease says why the lease is unsafe or of no use, "" if it is neither.
// watchdog is after how long a hung agent is killed, 0 = never: whoever kills it
// fences for it, and that must be over before the lease expires, too.
func (p Probe) CheckLease(watchdog time.Duration) string {
	t := failover.LeaseTiming{Duration: p.LeaseDuration, Interval: p.LeaseInterval, Drift: failover.DefaultDrift}
	if !p.SelfFencing {
		return t.Check()
	}
	f := p.SelfFence()
	t.Demote = f.After + f.Limit
	if watchdog > 0 {
		t.Watchdog = watchdog + f.Limit
	}
	if why := t.Check(); why != "" {
		return why
	}
	if f.After < 2*p.LeaseInterval {
		return fmt.Sprintf("a primary that can't renew stops itself after %s, and renewals are %s apart: one lost renewal would stop a healthy database", f.After, p.LeaseInterval)
	}
	return ""
}
