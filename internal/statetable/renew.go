package statetable

import (
	"context"
	"errors"
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
)

// ErrLeaseLost: a lease can't be renewed by who asks: it is sealed, or belongs
// to another node or a newer epoch. Asking again does not help.
var ErrLeaseLost = errors.New("the lease is lost")

// RenewLease writes the next state of a lease. next.Counter is one more than
// the counter that the holder wrote last; a lease of an older epoch, or none,
// gives way to any. What the holder does not write, such as a seal, can't be
// undone by it.
//
// It returns ErrLeaseLost as said there. After any other error the lease may
// or may not be renewed: the next renewal has the same counter, and finds out.
func (t *Table) RenewLease(ctx context.Context, group string, next Lease) error {
	attributes := item{
		"holder": str(next.Holder), "epoch": number(next.Epoch), "counter": number(next.Counter),
		"waiting_for_standby": boolean(next.WaitingForStandby), "slow": boolean(next.Slow), "suspended": nil,
		"sealed": nil, "sealed_by": nil, "sealed_at": nil, "seal_id": nil,
	}
	if next.Suspended != "" {
		attributes["suspended"] = str(next.Suspended)
	}
	before := next
	before.Counter--
	err := t.update(ctx, groupPK(group), skLease, attributes, condition{
		text: "attribute_not_exists(#pk) OR #epoch <= :older OR " +
			"(#epoch = :epoch AND #holder = :holder AND #counter = :counter AND (attribute_not_exists(#sealed) OR #sealed = :no))",
		values: item{
			":older": number(before.Epoch - 1), ":epoch": number(next.Epoch), ":holder": str(next.Holder),
			":counter": number(before.Counter), ":no": boolean(false),
		},
	})
	if err == nil {
		return nil
	}
	// An answer that was lost, or that is one to the SDK's second try, is looked
	// for in the record.
	now, readErr := t.ReadLease(ctx, group)
	switch {
	case errors.Is(readErr, control.ErrNotFound):
		return err
	case readErr != nil:
		return fmt.Errorf("%w (and the lease could not be read back: %w)", err, readErr)
	case now == next:
		return nil
	case now.Epoch > next.Epoch, now.Epoch == next.Epoch && (now.Sealed || now.Holder != next.Holder):
		return fmt.Errorf("lease of group %q, held by %q in epoch %d, sealed %t by %q: %w", group, now.Holder, now.Epoch, now.Sealed, now.SealedBy, ErrLeaseLost)
	case awsclient.IsConditionFailed(err):
		return fmt.Errorf("lease of group %q has counter %d in epoch %d, expected %d in epoch %d: somebody else renews it as node %q",
			group, now.Counter, now.Epoch, before.Counter, before.Epoch, next.Holder)
	}
	return err
}

// SealSeen seals a lease that was seen to stand still, if it still stands where
// it was seen (R10): one that was renewed meanwhile proves a living holder.
func (t *Table) SealSeen(ctx context.Context, group string, seen Lease, operationID string) (sealed bool, why string, err error) {
	seal, id := t.seal(seen.Holder, seen.Epoch, operationID)
	writeErr := t.update(ctx, groupPK(group), skLease, seal, condition{
		text: "#counter = :counter AND #epoch = :epoch AND #holder = :holder",
		values: item{
			":counter": number(seen.Counter), ":epoch": number(seen.Epoch), ":holder": str(seen.Holder),
		},
	})
	if writeErr == nil {
		return true, "", nil
	}
	now, err := t.ReadLease(ctx, group)
	switch {
	case err != nil:
		return false, "", fmt.Errorf("%w (and the lease could not be read back: %w)", writeErr, err)
	case now.SealID == id:
		return true, "", nil // this very seal: its answer was lost
	case awsclient.IsConditionFailed(writeErr):
		return false, fmt.Sprintf("%q renewed its lease meanwhile (counter %d of epoch %d, then %d of epoch %d)", now.Holder, seen.Counter, seen.Epoch, now.Counter, now.Epoch), nil
	}
	return false, "", writeErr
}
