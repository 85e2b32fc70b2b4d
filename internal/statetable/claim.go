package statetable

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// R11: nothing of what the writer read has changed.
const unchanged = "#version = :version AND #epoch = :epoch AND #phase = :phase AND #primary = :primary"

// Maintenance that is on without an end is in force; so is whatever a person
// typed that is not understood, because no comparison holds for it.
const maintenanceOff = " AND (attribute_not_exists(#maintenance) OR #maintenance = :off OR (#maintenance = :on AND #maintenance_until <= :now))"

// How often a write whose fate is unknown is read back and asked for again.
const (
	writeTries = 4
	writePause = 200 * time.Millisecond
)

// Claim implements control.Store.
func (t *Table) Claim(ctx context.Context, prev, next failover.State) error {
	return t.swap(ctx, prev, next, true)
}

// Save implements control.Store. The version on the record becomes
// prev.Version + 1.
func (t *Table) Save(ctx context.Context, prev, next failover.State) error {
	return t.swap(ctx, prev, next, false)
}

// swap saves next over prev. An answer that does not come is looked for in the
// record: the write is there, or it can be asked for again, or somebody else
// was faster.
func (t *Table) swap(ctx context.Context, prev, next failover.State, claim bool) error {
	a := authorityOf(next, prev.Version+1, newULID(t.clock.Now()))
	attributes, err := a.attributes()
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := t.update(ctx, groupPK(prev.Group), skState, attributes, t.swapCondition(prev, claim))
		if err == nil {
			return nil
		}
		conflict := awsclient.IsConditionFailed(err)
		if !conflict && awsclient.Outcome(err) == failover.Failed {
			return err
		}
		now, readErr := t.readState(ctx, prev.Group)
		switch {
		case readErr != nil && conflict:
			return readErr
		case readErr != nil:
			err = fmt.Errorf("%w (and the record could not be read back: %w)", err, readErr)
		case now.WriteToken == a.WriteToken:
			return nil // this very write: its answer was lost, or the SDK repeated it
		case conflict || now.Version != prev.Version:
			return t.refused(prev, next, now, claim)
		}
		if try == writeTries {
			return err
		}
		if err := t.clock.Sleep(ctx, time.Duration(try)*writePause); err != nil {
			return fmt.Errorf("save the state of group %q: %w", prev.Group, err)
		}
	}
}

func (t *Table) swapCondition(prev failover.State, claim bool) condition {
	c := condition{text: unchanged, values: item{
		":version": number(prev.Version), ":epoch": number(prev.Epoch),
		":phase": str(string(prev.Phase)), ":primary": str(prev.Primary),
	}}
	if claim {
		c.text += maintenanceOff
		c.values[":on"], c.values[":off"] = boolean(true), boolean(false)
		c.values[":now"] = number(t.clock.Now().Unix())
	}
	return c
}

// refused says why a condition did not hold.
func (t *Table) refused(prev, next failover.State, now stored, claim bool) error {
	// R2: whoever finds his own operation on the record has won.
	if claim && next.Operation != nil && now.Operation != nil && now.Operation.ID == next.Operation.ID {
		return nil
	}
	same := now.Version == prev.Version && now.Epoch == prev.Epoch && now.Phase == prev.Phase && now.Primary == prev.Primary
	if claim && same {
		m := now.maintenance()
		return fmt.Errorf("group %q: %w (until %s, reason %q): end it with maintenance = false in the item %s/%s",
			prev.Group, control.ErrMaintenance, until(m), m.Reason, groupPK(prev.Group), skState)
	}
	return fmt.Errorf("group %q: %w: expected version %d, epoch %d, phase %s, primary %q; found version %d, epoch %d, phase %s, primary %q",
		prev.Group, control.ErrConflict, prev.Version, prev.Epoch, prev.Phase, prev.Primary,
		now.Version, now.Epoch, now.Phase, now.Primary)
}

func until(m failover.Maintenance) string {
	if m.Until.IsZero() {
		return "it is ended by hand"
	}
	return m.Until.Format(time.RFC3339)
}
