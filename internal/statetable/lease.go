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
// the same epoch sealed stays sealed and counts.
func (t *Table) Seal(ctx context.Context, group, node string, epoch uint64, operationID string) (bool, string, error) {
	seen, err := t.ReadLease(ctx, group)
	none := errors.Is(err, control.ErrNotFound)
	if err != nil && !none {
		return false, "", err
	}
	switch {
	case seen.Epoch > epoch:
		return false, fmt.Sprintf("the lease belongs to %q in epoch %d, newer than epoch %d", seen.Holder, seen.Epoch, epoch), nil
	case seen.Sealed && seen.Epoch == epoch:
		return true, "", nil
	case !none && seen.Epoch == epoch && seen.Holder != node:
		return false, fmt.Sprintf("the lease of epoch %d belongs to %q, not to %q", epoch, seen.Holder, node), nil
	}
	seal := t.seal(node, epoch, operationID)
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
	case now.Sealed && now.Epoch == epoch:
		return true, "", nil
	case awsclient.IsConditionFailed(writeErr):
		return false, fmt.Sprintf("%q renewed its lease meanwhile (counter %d, then %d)", now.Holder, seen.Counter, now.Counter), nil
	}
	return false, "", writeErr
}

// seal are the attributes of a seal.
func (t *Table) seal(node string, epoch uint64, operationID string) item {
	return item{
		"sealed": boolean(true), "sealed_by": str(operationID),
		"sealed_at": str(t.clock.Now().UTC().Format(time.RFC3339Nano)),
		"holder":    str(node), "epoch": number(epoch),
	}
}
