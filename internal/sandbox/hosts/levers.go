package hosts

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// Vanish makes a machine disappear without EC2 knowing: power, processes and
// network at once.
func (h *Hosts) Vanish(instanceID string) { h.Off(instanceID) }

// KillProcess ends all processes of a machine with a name, such as db2sysc, as
// SIGKILL does. It returns how many there were.
func (h *Hosts) KillProcess(instanceID, name string) int {
	m := h.machine(instanceID)
	if m == nil {
		return 0
	}
	n, _ := m.Kill(context.Background(), name)
	return n
}

// Freeze stops the processes of a machine with the given names, or without
// names the whole machine, as SIGSTOP does.
func (h *Hosts) Freeze(instanceID string, names ...string) { h.freeze(instanceID, true, names) }

// Thaw lets them go on.
func (h *Hosts) Thaw(instanceID string, names ...string) { h.freeze(instanceID, false, names) }

func (h *Hosts) freeze(instanceID string, frozen bool, names []string) {
	m := h.machine(instanceID)
	if m == nil {
		return
	}
	for _, name := range names {
		for _, p := range m.named(name) {
			p.freeze(frozen)
			p.held.Store(frozen)
			if frozen && name == unitAgent { // the machine itself runs on, and systemd with it
				h.world.Clock.AfterFunc(watchdog, func() {
					if p.held.Load() {
						p.kill()
					}
				})
			}
		}
	}
	if len(names) == 0 {
		m.mu.Lock()
		m.frozen = frozen
		var all []*process
		for p := range m.procs {
			all = append(all, p)
		}
		m.mu.Unlock()
		for _, p := range all {
			p.freeze(frozen)
		}
		h.exec.freeze(m, frozen)
	}
	h.touch()
}

// leverLimit is how long a database may take to obey.
const leverLimit = 10 * time.Second

// HangSQL makes SQL on a machine never answer while HADR stays connected, or
// ends that.
func (h *Hosts) HangSQL(ctx context.Context, instanceID string, on bool) error {
	return h.sql(ctx, instanceID, on, 0)
}

// SlowSQL makes every SQL statement and commit on a machine take d longer;
// 0 ends that.
func (h *Hosts) SlowSQL(ctx context.Context, instanceID string, d time.Duration) error {
	return h.sql(ctx, instanceID, false, d)
}

// FillLogDevice leaves the database on a machine, where it is a standby, no room
// for the log that it receives, or ends that.
func (h *Hosts) FillLogDevice(ctx context.Context, instanceID string, full bool) error {
	return h.pull(ctx, instanceID, func(ctx context.Context, m *machine) error { return db2.FillLogDevice(ctx, m, full) })
}

func (h *Hosts) sql(ctx context.Context, instanceID string, hang bool, slow time.Duration) error {
	return h.pull(ctx, instanceID, func(ctx context.Context, m *machine) error { return db2.Lever(ctx, m, hang, slow) })
}

// pull pulls a lever of the database on a machine.
func (h *Hosts) pull(ctx context.Context, instanceID string, lever func(context.Context, *machine) error) error {
	m := h.machine(instanceID)
	switch {
	case m == nil:
		return fmt.Errorf("no machine for %s", instanceID)
	case !m.running():
		return fmt.Errorf("the machine of %s is off, so its database can't be disturbed", instanceID)
	}
	ctx, cancel := clock.WithTimeout(ctx, h.world.Clock, leverLimit) // a frozen one does not answer
	defer cancel()
	return lever(ctx, m)
}

// ClockOffset makes the clock of a machine wrong by d. With processes, those
// that run already keep their clock.
func (h *Hosts) ClockOffset(instanceID string, d time.Duration) error {
	m := h.machine(instanceID)
	if m == nil {
		return fmt.Errorf("no machine for %s", instanceID)
	}
	m.clock.set(d)
	return nil
}

// Isolate cuts a machine off from the network and its control plane while it
// goes on running, or ends that.
func (h *Hosts) Isolate(instanceID string, on bool) {
	h.fabric.Isolate(instanceID, on)
	h.touch()
}
