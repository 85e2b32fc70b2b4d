package hosts

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// apart is the time between the starts of the two databases.
const apart = 7 * time.Millisecond

// SetupDb2 writes the disks of a Db2 pair, node a primary and node b standby.
// The machines may be off: then their services start at the next boot. On
// machines that run, the unit db2 is started, the standby's first.
func (h *Hosts) SetupDb2(ctx context.Context, p db2.Pair, primary, standby world.Machine) error {
	sides := []db2.Side{h.side(primary, "a"), h.side(standby, "b")}
	if err := p.Create(sides[0], sides[1]); err != nil {
		return fmt.Errorf("set up the Db2 pair on %s and %s: %w", primary.InstanceID, standby.InstanceID, err)
	}
	for _, info := range []world.Machine{standby, primary} {
		m := h.machine(info.InstanceID)
		if m == nil || !m.running() {
			continue
		}
		if text, code := m.Unit(ctx, "start", unitDb2); code != 0 {
			return fmt.Errorf("start Db2 on %s: %s", info.InstanceID, text)
		}
		// No two machines do something at the very same moment, and what is
		// played again must not depend on who is first then.
		if err := h.world.Clock.Sleep(ctx, apart); err != nil {
			return fmt.Errorf("set up the Db2 pair: %w", err)
		}
	}
	return nil
}

func (h *Hosts) side(m world.Machine, node string) db2.Side {
	return db2.Side{Root: h.Root(m.InstanceID), Hostname: Hostname(m.PrivateIP), IP: m.PrivateIP, Node: node}
}

// Commits returns every transaction of the load generator that the log of an
// instance's database holds, whether the machine runs or not.
func (h *Hosts) Commits(instanceID, database string) ([]db2.Row, error) {
	l, err := db2.FindLayout(h.Root(instanceID))
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", instanceID, err)
	}
	rows, err := db2.Rows(l, database)
	if err != nil {
		return nil, fmt.Errorf("audit database %s of %s: %w", database, instanceID, err)
	}
	return rows, nil
}
