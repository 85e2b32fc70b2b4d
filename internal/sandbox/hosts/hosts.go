package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Options configure the machines of a sandbox.
type Options struct {
	World *world.World
	Dir   string // holds one directory per machine

	// Binary is the program that the commands of a machine are links to; its
	// main must call MultiCall. Empty: the in-process executor.
	Binary string
	// Agent is the program behind the unit hadr-agent, with processes.
	Agent string
	// Commands are further programs of the in-process executor, such as
	// hadr-agent.
	Commands map[string]CommandFunc

	// Metadata serves IMDS to processes; nil for none.
	Metadata world.InstanceMetadata
	// RouteTable returns the route table of an instance's subnet.
	RouteTable func(instanceID string) string
	// ProcstatInterval is how often the CloudWatch agent publishes; 20 s if 0,
	// negative for no agent.
	ProcstatInterval time.Duration
	ProcstatHighRes  bool // with a storage resolution of 1 s
	Log              *slog.Logger
}

// Hosts implements world.Hosts.
type Hosts struct {
	opt    Options
	world  *world.World
	log    *slog.Logger
	fabric *fabric.Fabric
	exec   executor

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	machines map[string]*machine
	changed  chan struct{} // closed and replaced when a machine comes or goes
}

var _ world.Hosts = (*Hosts)(nil)

// New returns a world without machines. Close ends it.
func New(o Options) *Hosts {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ProcstatInterval == 0 {
		o.ProcstatInterval = 20 * time.Second
	}
	h := &Hosts{opt: o, world: o.World, log: o.Log, machines: map[string]*machine{}, changed: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.fabric = fabric.New(o.World.Clock, func() fabric.Router {
		if o.World.Network == nil {
			return nil
		}
		return o.World.Network
	}, o.Log)
	if o.Binary == "" {
		h.exec = &goroutines{h: h}
	} else {
		h.exec = &processes{h: h}
	}
	if o.ProcstatInterval > 0 {
		h.wg.Go(h.publishProcesses)
	}
	return h
}

// Fabric is the network between the machines, and its levers.
func (h *Hosts) Fabric() *fabric.Fabric { return h.fabric }

// Close ends all machines. Their disks stay.
func (h *Hosts) Close() {
	h.cancel()
	h.mu.Lock()
	var all []*machine
	for _, m := range h.machines {
		all = append(all, m)
	}
	h.mu.Unlock()
	for _, m := range all {
		h.Off(m.info.InstanceID)
		m.settle()
	}
	h.fabric.Close()
	h.wg.Wait()
}

func (h *Hosts) machine(id string) *machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.machines[id]
}

func (h *Hosts) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}

// Root returns the directory of an instance's machine.
func (h *Hosts) Root(instanceID string) string { return filepath.Join(h.opt.Dir, instanceID) }

// Boot implements world.Hosts.
func (h *Hosts) Boot(info world.Machine) error {
	h.mu.Lock()
	m := h.machines[info.InstanceID]
	if m == nil {
		m = &machine{h: h, root: h.Root(info.InstanceID), clock: &offsetClock{Clock: h.world.Clock}}
		h.machines[info.InstanceID] = m
	}
	h.mu.Unlock()
	m.settle()
	if err := m.boot(info); err != nil {
		return fmt.Errorf("boot the machine of %s: %w", info.InstanceID, err)
	}
	h.touch()
	return nil
}

// Off implements world.Hosts.
func (h *Hosts) Off(instanceID string) {
	if m := h.machine(instanceID); m != nil {
		m.powerOff()
		h.touch()
	}
}

// Shutdown implements world.Hosts: services stop in order, so a primary's
// db2stop writes to its log.
func (h *Hosts) Shutdown(ctx context.Context, instanceID string) error {
	m := h.machine(instanceID)
	if m == nil || !m.running() {
		return nil
	}
	if err := h.awake(ctx, m, false); err != nil {
		return fmt.Errorf("shut down %s: %w", instanceID, err)
	}
	for _, u := range []string{unitAgent, unitDb2} {
		m.unit(ctx, "stop", u)
	}
	h.Off(instanceID)
	return context.Cause(ctx)
}

// Destroy implements world.Hosts.
func (h *Hosts) Destroy(instanceID string) {
	h.Off(instanceID)
	m := h.machine(instanceID)
	if m == nil {
		return
	}
	m.settle()
	h.mu.Lock()
	delete(h.machines, instanceID)
	h.mu.Unlock()
	if err := os.RemoveAll(m.root); err != nil {
		h.log.Warn("remove the disks of a machine", "instance", instanceID, "error", err)
	}
}

// Healthy implements world.Hosts.
func (h *Hosts) Healthy(instanceID string) (system, instance bool) {
	m := h.machine(instanceID)
	if m == nil || !m.running() {
		return false, false
	}
	return true, !m.isFrozen()
}

// AgentOnline implements world.Hosts.
func (h *Hosts) AgentOnline(instanceID string) bool {
	m := h.machine(instanceID)
	return m != nil && m.running() && !m.isFrozen() && h.reachable(instanceID)
}

// reachable reports whether Systems Manager can reach the agent of a machine.
func (h *Hosts) reachable(instanceID string) bool {
	return !h.fabric.Isolated(instanceID) && !h.world.Faults.AgentOffline(instanceID)
}

// awake waits until a machine runs and is not frozen; reachable also asks that
// it is not cut off.
func (h *Hosts) awake(ctx context.Context, m *machine, reachable bool) error {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if m.running() && !m.isFrozen() && (!reachable || h.reachable(m.id())) {
			return nil
		}
		again := make(chan struct{})
		t := h.world.Clock.AfterFunc(time.Second, func() { close(again) })
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-changed:
		case <-again:
		}
		t.Stop()
	}
}

// offsetClock is a machine's clock: the world's, wrong by an offset.
type offsetClock struct {
	clock.Clock
	mu sync.Mutex
	by time.Duration
}

// Now implements clock.Clock.
func (c *offsetClock) Now() time.Time { return c.Clock.Now().Add(c.offset()) }

// Stopwatch implements the one that clock.Stopwatch returns: an offset moves
// the wall clock only.
func (c *offsetClock) Stopwatch() func() time.Duration { return clock.Stopwatch(c.Clock) }

func (c *offsetClock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by
}

func (c *offsetClock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = by
}

// shared renders the clock for clock.EnvVar, "" if it is the system's.
func (c *offsetClock) shared() string {
	if s, ok := c.Clock.(*clock.Scaled); ok {
		return shifted(s, c.offset())
	}
	if by := c.offset(); by != 0 {
		return clock.NewScaled(time.Now().Add(by), 1).String()
	}
	return ""
}

func shifted(s *clock.Scaled, by time.Duration) string {
	var origin, base int64
	var speed string
	if _, err := fmt.Sscanf(s.String(), "%d,%d,%s", &origin, &base, &speed); err != nil {
		return s.String()
	}
	return fmt.Sprintf("%d,%d,%s", origin, base+int64(by), speed)
}

func mustJSON(v any) []byte {
	b, _ := json.Marshal(v) // strings and numbers: cannot fail
	return b
}
