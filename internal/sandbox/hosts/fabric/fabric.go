// Package fabric is the simulated network between the machines of the sandbox.
//
// It behaves as TCP over a VPC does where it matters for failover: a machine
// that loses power or a link that breaks is silence, neither FIN nor RST; a
// process that ends on a running machine closes its connections at once; bytes
// of an old connection that reach a host without that socket are answered with
// RST (https://www.rfc-editor.org/rfc/rfc9293#section-3.5.2), which is what
// happens to clients of a VIP when its route moves to another instance
// (https://docs.aws.amazon.com/vpc/latest/userguide/route-table-options.html).
package fabric

import (
	"log/slog"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Router answers where a packet goes; world.Network implements it.
type Router interface {
	Route(routeTable, ip string) (instanceID string, ok bool)
	Owner(ip string) (instanceID string, ok bool)
}

// Outside is the machine id of everything that is not a machine of the fabric.
const Outside = ""

// Fabric connects machines. The zero value is not usable; see New.
type Fabric struct {
	clock  clock.Clock
	router func() Router
	log    *slog.Logger

	mu        sync.Mutex
	machines  map[string]*machine
	cuts      map[link]bool
	congested map[link]bool
	isolated  map[string]bool
	obstacles map[string]func(from, to string) bool
	conns     map[*conn]struct{}
	changed   chan struct{} // closed and replaced at every change of the topology
	nextPort  int

	outside sync.WaitGroup
	closers []func()
	closed  bool
}

type link struct{ from, to string }

type machine struct {
	on        bool
	private   string
	bound     map[string]bool
	listeners map[int]*Listener
}

// New returns a fabric without machines. router may return nil: then only the
// private addresses of machines can be reached.
func New(c clock.Clock, router func() Router, log *slog.Logger) *Fabric {
	return &Fabric{
		clock: c, router: router, log: log,
		machines: map[string]*machine{}, cuts: map[link]bool{}, congested: map[link]bool{},
		isolated: map[string]bool{}, obstacles: map[string]func(from, to string) bool{}, conns: map[*conn]struct{}{}, changed: make(chan struct{}), nextPort: 32768,
	}
}

// PowerOn attaches a machine with its private address.
func (f *Fabric) PowerOn(id, privateIP string) {
	f.change(func() {
		f.machines[id] = &machine{on: true, private: privateIP, bound: map[string]bool{}, listeners: map[int]*Listener{}}
	})
}

// PowerOff makes a machine silent: its connections end for its own processes,
// but nobody else is told. Addresses that were added to it are gone.
func (f *Fabric) PowerOff(id string) {
	f.change(func() {
		m := f.machines[id]
		if m == nil || !m.on {
			return
		}
		m.on = false
		m.bound = map[string]bool{}
		for _, l := range m.listeners {
			l.shut()
		}
		m.listeners = map[int]*Listener{}
		for c := range f.conns {
			for _, e := range c.ends {
				if e.machine == id {
					e.vanish()
				}
			}
		}
	})
}

// Bind adds an address, such as a VIP, to a running machine.
func (f *Fabric) Bind(id, ip string) {
	f.change(func() {
		if m := f.machines[id]; m != nil && m.on {
			m.bound[ip] = true
		}
	})
}

// Unbind removes an address.
func (f *Fabric) Unbind(id, ip string) {
	f.change(func() {
		if m := f.machines[id]; m != nil {
			delete(m.bound, ip)
		}
	})
}

// Cut drops everything that from sends to to. Outside stands for all clients.
func (f *Fabric) Cut(from, to string) { f.change(func() { f.cuts[link{from, to}] = true }) }

// CutBoth drops everything between a and b.
func (f *Fabric) CutBoth(a, b string) {
	f.change(func() { f.cuts[link{a, b}], f.cuts[link{b, a}] = true, true })
}

// Heal lets both directions between a and b pass again.
func (f *Fabric) Heal(a, b string) {
	f.change(func() {
		delete(f.cuts, link{a, b})
		delete(f.cuts, link{b, a})
	})
}

// Isolate cuts a machine off from everything, or ends that.
func (f *Fabric) Isolate(id string, on bool) {
	f.change(func() {
		if on {
			f.isolated[id] = true
		} else {
			delete(f.isolated, id)
		}
	})
}

// Isolated reports whether a machine is cut off from everything.
func (f *Fabric) Isolated(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isolated[id]
}

// Congest closes the receive window: what from sends to to is not taken, while
// the connection stays up.
func (f *Fabric) Congest(from, to string, on bool) {
	f.change(func() {
		if on {
			f.congested[link{from, to}] = true
		} else {
			delete(f.congested, link{from, to})
		}
	})
}

// change runs fn under the lock, wakes those that wait for the topology and
// retransmits on every connection.
func (f *Fabric) change(fn func()) {
	f.mu.Lock()
	fn()
	close(f.changed)
	f.changed = make(chan struct{})
	conns := make([]*conn, 0, len(f.conns))
	for c := range f.conns {
		conns = append(conns, c)
	}
	f.mu.Unlock()
	for _, c := range conns {
		for _, e := range c.ends {
			e.retransmit()
		}
	}
}

// passes reports whether packets can go from one machine to another. f.mu is
// held.
func (f *Fabric) passes(from, to string) bool {
	if from == to {
		return true
	}
	return !f.cuts[link{from, to}] && !f.isolated[from] && !f.isolated[to] && !f.obstructed(from, to)
}

// target returns the machine that packets for ip reach from a subnet with
// routeTable. f.mu is held.
func (f *Fabric) target(routeTable, ip string) (string, bool) {
	if f.router != nil {
		if r := f.router(); r != nil {
			// The local route of a VPC is the most specific one:
			// https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html#route-tables-priority
			if id, ok := r.Owner(ip); ok {
				return id, true
			}
			return r.Route(routeTable, ip)
		}
	}
	for id, m := range f.machines {
		if m.private == ip {
			return id, true
		}
	}
	return "", false
}

func (m *machine) has(ip string) bool { return m.private == ip || m.bound[ip] }

// Close ends all connections and listeners of the fabric.
func (f *Fabric) Close() {
	f.mu.Lock()
	f.closed = true
	closers := f.closers
	f.closers = nil
	var ids []string
	for id := range f.machines {
		ids = append(ids, id)
	}
	var ends []*End
	for c := range f.conns {
		ends = append(ends, c.ends[0], c.ends[1])
	}
	f.mu.Unlock()
	for _, id := range ids {
		f.PowerOff(id)
	}
	for _, e := range ends {
		e.vanish()
	}
	for _, c := range closers {
		c()
	}
	f.outside.Wait()
}
