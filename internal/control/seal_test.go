package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// leases is the lease of the group, as the record keeps it.
type leases struct {
	lease failover.Lease
	seals int
	clock interface{ Now() time.Time }
	fail  bool // Unseal
}

func (l *leases) seal(operationID string) (bool, string, error) {
	l.seals++
	l.lease.Sealed, l.lease.SealedBy, l.lease.SealedAt = true, operationID, l.clock.Now()
	l.lease.SealID = operationID + "/" + string(rune('0'+l.seals))
	return true, "", nil
}

func (l *leases) ReadLease(context.Context, string) (failover.Lease, error) { return l.lease, nil }

func (l *leases) SealSeen(_ context.Context, _ string, _ failover.Lease, operationID string) (bool, string, error) {
	return l.seal(operationID)
}

func (l *leases) Unseal(_ context.Context, _, sealID string) error {
	if l.fail {
		return errors.New("throttled")
	}
	if l.lease.SealID == sealID {
		l.lease.Sealed, l.lease.SealedBy, l.lease.SealID = false, "", ""
	}
	return nil
}

// claims is a store on which something happens between a seal and its claim.
type claims struct {
	*store
	leases *leases
	before func() // once, before a claim
}

func (c *claims) Seal(_ context.Context, _, _ string, _ uint64, operationID string) (bool, string, error) {
	return c.leases.seal(operationID)
}

func (c *claims) Claim(ctx context.Context, prev, next failover.State) error {
	if before := c.before; before != nil {
		c.before = nil
		before()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.store.Claim(ctx, prev, next)
}

// TestRunnerDiesBeforeItsClaim (R10): between a seal and its claim a runner
// dies, or is frozen and wakes up late. The primary gets its lease back, and
// nobody is taken over on a seal that is void.
func TestRunnerDiesBeforeItsClaim(t *testing.T) {
	setup := func() (*Runner, *claims, *site) {
		r, st, si := setup()
		c := &claims{store: st, leases: &leases{lease: failover.Lease{Holder: "a", Epoch: 7, Counter: 41}, clock: r.Clock}}
		r.Store, r.Leases = c, c.leases
		return r, c, si
	}
	look := func(t *testing.T, r *Runner, c *claims) {
		t.Helper()
		time.Sleep(time.Minute)
		calm := *r
		calm.Alarms = calmly{}
		if _, err := calm.Watch(t.Context(), group, "op2"); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("it dies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, c, si := setup()
			ctx, die := context.WithCancel(t.Context())
			c.before = die
			_, _ = r.Run(ctx, group, event(r.Clock))
			if !c.leases.lease.Sealed || c.state.Operation != nil {
				t.Fatalf("lease %+v, operation %+v", c.leases.lease, c.state.Operation)
			}
			c.leases.fail = true // whoever takes it off dies, too
			look(t, r, c)
			c.leases.fail = false
			look(t, r, c)
			if c.leases.lease.Sealed || c.state.Operation != nil || len(si.calls) > 0 {
				t.Errorf("lease %+v, operation %+v, calls %q", c.leases.lease, c.state.Operation, si.calls)
			}
			if n := len(c.history); n != 1 || c.history[0].Event != "unsealed" {
				t.Errorf("history: %+v", c.history)
			}
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil { // delivered again: a seal of its own
				t.Fatal(err)
			}
			checkTakenOver(t, c.store, si)
			if !c.leases.lease.Sealed {
				t.Errorf("taken over without a seal: %+v", c.leases.lease)
			}
		})
	})
	t.Run("it wakes up late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, c, si := setup()
			var sealed bool
			c.before = func() {
				look(t, r, c)
				sealed = c.leases.lease.Sealed
				c.before = func() { sealed = c.leases.lease.Sealed }
			}
			if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
				t.Fatal(err)
			}
			checkTakenOver(t, c.store, si) // it met another version of the record, and looked and sealed again
			if !sealed || c.leases.seals != 2 {
				t.Errorf("claimed on a lease that was sealed: %v, after %d seals", sealed, c.leases.seals)
			}
		})
	})
}

// calmly are alarms that are not red any more.
type calmly struct{}

func (calmly) Evidence(context.Context, []string) ([]failover.Evidence, error) { return nil, nil }
