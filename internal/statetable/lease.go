package statetable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Lease is the liveness of a primary.
type Lease = failover.Lease

// ReadLease returns the lease of a group, or control.ErrNotFound.
func (t *Table) ReadLease(ctx context.Context, group string) (Lease, error) {
	it, err := t.get(ctx, groupPK(group), skLease)
	if err != nil {
		return Lease{}, err
	}
	var l Lease
	return l, decode(it, &l)
}

// Seal implements control.Store (R10). A lease that an earlier operation of
// the same epoch sealed is sealed anew: that one's seal may be taken off.
func (t *Table) Seal(ctx context.Context, group, node string, epoch uint64, operationID string) (bool, string, error) {
	seen, err := t.ReadLease(ctx, group)
	none := errors.Is(err, control.ErrNotFound)
	if err != nil && !none {
		return false, "", err
	}
	switch {
	case seen.Epoch > epoch:
		return false, fmt.Sprintf("the lease belongs to %q in epoch %d, newer than epoch %d", seen.Holder, seen.Epoch, epoch), nil
	case !none && seen.Epoch == epoch && seen.Holder != node:
		return false, fmt.Sprintf("the lease of epoch %d belongs to %q, not to %q", epoch, seen.Holder, node), nil
	}
	seal, id := t.seal(node, epoch, operationID)
	c := condition{text: "attribute_not_exists(#pk)"}
	if none {
		seal["counter"] = number(uint64(0))
	} else {
		c = condition{text: "#counter = :counter AND #epoch = :epoch", values: item{
			":counter": number(seen.Counter), ":epoch": number(seen.Epoch),
		}}
	}
	writeErr := t.update(ctx, groupPK(group), skLease, seal, c)
	if writeErr == nil {
		return true, "", nil
	}
	now, err := t.ReadLease(ctx, group)
	if err != nil {
		return false, "", fmt.Errorf("%w (and the lease could not be read back: %w)", writeErr, err)
	}
	switch {
	case now.SealID == id:
		return true, "", nil // this very seal: its answer was lost
	case awsclient.IsConditionFailed(writeErr):
		return false, outrun(seen, now), nil
	}
	return false, "", writeErr
}

// outrun says who was faster than a seal.
func outrun(seen, now Lease) string {
	if now.Sealed && now.Counter == seen.Counter {
		return fmt.Sprintf("operation %s sealed it at the same moment, and goes on", now.SealedBy)
	}
	return fmt.Sprintf("%q renewed its lease meanwhile (counter %d, then %d)", now.Holder, seen.Counter, now.Counter)
}

// Unseal implements control.Leases. The counter stays: to whoever watches it the
// lease still stands still, until its holder renews it.
func (t *Table) Unseal(ctx context.Context, group, sealID string) error {
	err := t.update(ctx, groupPK(group), skLease, item{"sealed": nil, "sealed_by": nil, "sealed_at": nil, "seal_id": nil}, condition{
		text: "#seal_id = :seal_id", values: item{":seal_id": str(sealID)},
	})
	if awsclient.IsConditionFailed(err) {
		return nil // it is off, or another one is on
	}
	return err
}

// seal are the attributes of a seal, and what tells it from every other one.
func (t *Table) seal(node string, epoch uint64, operationID string) (attributes item, id string) {
	now := t.clock.Now()
	id = newULID(now)
	return item{
		"sealed": boolean(true), "sealed_by": str(operationID), "seal_id": str(id),
		"sealed_at": str(now.UTC().Format(time.RFC3339Nano)),
		"holder":    str(node), "epoch": number(epoch),
	}, id
}
