package schedule

import (
	"context"
	"time"
	_ "time/tzdata" // zones are named by callers, wherever the sandbox runs

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Keeper does work when it is due.
type Keeper struct {
	clock clock.Clock
	wake  chan struct{}
}

// NewKeeper returns a Keeper that reads c.
func NewKeeper(c clock.Clock) *Keeper { return &Keeper{clock: c, wake: make(chan struct{}, 1)} }

// Ring makes Run look again, after appointments have changed.
func (k *Keeper) Ring() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// idle is how long Run sleeps without an appointment.
const idle = time.Hour

// Run calls work until ctx ends: at once, after Ring, and when the time has
// come that work returned, which is zero if nothing is planned.
func (k *Keeper) Run(ctx context.Context, work func(now time.Time) time.Time) {
	for ctx.Err() == nil {
		now := k.clock.Now()
		wait := idle
		if next := work(now); !next.IsZero() {
			wait = min(wait, next.Sub(now))
		}
		timer := k.clock.AfterFunc(wait, k.Ring)
		select {
		case <-k.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Zone returns the time zone of that name in the IANA database, UTC for none.
func Zone(name string) (*time.Location, error) {
	if name == "Local" { // the zone of this machine is nobody's business
		name = "local"
	}
	return time.LoadLocation(name)
}
