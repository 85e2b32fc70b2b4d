package check

import "time"

// Time passes in ticks. The periods of the core that are much longer pass in a
// while, or in a long time, at once.
const (
	tick  = 10 * time.Second
	while = 130 * time.Second
	long  = 40 * time.Minute

	peerWindow  = 4 // HADR_PEER_WINDOW in ticks
	hadrTimeout = 1 // HADR_TIMEOUT: a primary notices a silent break that much later
	bootTime    = 3 // until a database is up again: longer than a promotion may take
	skewed      = 2 // ticks by which a wrong clock of the standby is behind
	drift       = 1 // ticks by which the window of a primary is shorter whose clock is ahead within its bound
)

type machine uint8

// A machine that is stopping may still run: AWS has only accepted the stop. A
// frozen one reads as running and does nothing any more, a booting one does not
// yet.
const (
	running machine = iota
	frozen
	booting
	stopping
	stopped
)

type database uint8

const (
	active   database = iota
	hung              // connected to its standby, and commits nothing
	inactive          // the server runs, the database does not
	down              // the server does not run
)

type role uint8

const (
	primary role = iota
	standby
)

// node is one side of the pair, as it truly is.
type node struct {
	machine  machine
	database database
	role     role
	whole    bool  // it has every acknowledged commit
	clients  bool  // are connected to it
	diverged bool  // its log has what the other's has not: it can't rejoin
	window   uint8 // disconnected: ticks in which a primary waits, or a standby may be forced
	settled  bool  // as standby: in peer state for some minutes
	cut      bool  // it reaches none of AWS's services, and they not it
	isolated bool  // a security group cuts it off from new connections
	mute     bool  // its agent has died, and is not started again yet
	impaired bool  // its status check fails for no reason
	red      bool  // its alarm
	event    event // of its alarm, on its way
	boots    uint8 // ticks until it has booted
	lateStop uint8 // ticks in which a stop that was sent may still arrive
	lateBoot uint8 // the same of a start
}

type event uint8

const (
	none  event = iota
	fresh       // of the present epoch
	stale       // the primary changed since
)

type connection uint8

// How primary and standby are connected.
const (
	peer    connection = iota
	catchup            // the primary does not wait for it
	gone
)

// runner is one run of the control plane on the group: a function, the agent's
// or a person's invocation.
type runner struct {
	core    coreID  // what it believes
	work    [4]task // what it is about to do, in order
	mode    mode
	source  source
	dirty   bool // what it believes is not on the record yet
	behind  bool // somebody else wrote to the record since it looked
	older   bool // and the epoch has grown
	checked bool // it looked at the record a moment ago
	slept   bool // time has passed in its wait
	offline bool // it goes on with a redirect without the record (R27)
}

type mode uint8

const (
	idle     mode = iota
	busy          // has work
	yielding      // watches somebody else at work
)

type source uint8

const (
	alarmA source = iota
	alarmB
	look  // the minutely look
	human // a person's command
)

// command is a promotion on its way to a node.
type command struct {
	state   progress
	how     how
	node    uint8
	attempt uint8
	left    uint8 // ticks until its deadline
}

// how a promotion goes about it.
type how uint8

const (
	inWindow how = iota
	byForce      // although the window is over
	anyway       // whatever the standby lacks
	inOrder      // with the help of the primary
)

type progress uint8

const (
	unsent progress = iota
	flying
	succeeded
	refused
)

// world is everything there is. It is comparable, so that it is its own key.
type world struct {
	nodes    [2]node
	link     bool // between the nodes
	conn     connection
	silent   bool     // the primary does not know of the break yet
	deaf     bool     // the standby does not
	skew     bool     // the standby's clock is behind
	ahead    bool     // the primary's is ahead, within what is allowed
	routes   [2]uint8 // node that each route table leads to
	denied   bool     // moving the first route is not permitted
	failed   bool     // moving a route failed last time: it is tried again
	hole     bool     // the way to node b is blocked by a security group
	record   coreID
	seal     seal
	sealed   uint8 // ticks since, at most sealAge
	proof    proof
	pause    pause // maintenance on the record
	pausedBy bool  // and as the person wants it
	outdated bool  // the takeover that waits for a person is about an earlier failure
	cmd, old command
	lateMove uint8 // ticks in which a route move may still arrive
	moveTo   uint8
	runners  [2]runner
	faults   uint8 // that may still happen
	people   uint8 // things that people may still do
	wrong    violation
}

// pause is maintenance on the record.
type pause uint8

const (
	unpaused pause = iota
	paused         // until it is ended
	expired        // and nobody has ended it yet
	expiring       // within a tick for each one from here
)

// pauseTicks is how long maintenance with an end lasts.
const pauseTicks = 2

// active reports whether maintenance is in force.
func (p pause) active() bool { return p == paused || p >= expiring }

// passed is maintenance some ticks later.
func (p pause) passed(ticks int) pause {
	if p < expiring {
		return p
	}
	return expired + pause(fewer(uint8(p-expired), ticks))
}

// proof is what the standby can tell about the stop of its primary: the record
// knows when that was read, and the standby until when it had every commit.
type proof uint8

const (
	unproven    proof = iota
	inTime            // the stop came first
	late              // or not
	reconnected       // they were connected again since
)

type seal uint8

// The lease of the primary: it can be renewed, is sealed in the present epoch,
// or was in an earlier one.
const (
	open seal = iota
	shut
	outlived
)

// sealAge is after how many ticks a seal that nobody has followed counts as left
// behind.
const sealAge = 2

// primaryNode returns the node that is primary on its disk, and whether just
// one is.
func (w *world) primaryNode() (int, bool) {
	switch a, b := w.nodes[0].role == primary, w.nodes[1].role == primary; {
	case a && !b:
		return 0, true
	case b && !a:
		return 1, true
	}
	return 0, false
}

// runs reports whether programs run on the machine.
func (n node) runs() bool { return n.machine == running || n.machine == stopping }

// heard reports whether its agent measures and renews.
func (n node) heard() bool { return n.reached() && n.machine == running && !n.mute }

// reached reports whether new connections from and to the machine work.
func (n node) reached() bool { return !n.cut && !n.isolated }

// serves reports whether the database works, whatever its role.
func (n node) serves() bool { return n.runs() && n.database == active }

// order makes the runners interchangeable: the busy one, or the one with the
// smaller state, comes first.
func (w *world) order() {
	a, b := w.runners[0], w.runners[1]
	if a == b {
		return
	}
	if b.mode != idle && (a.mode == idle || less(b, a)) {
		w.runners[0], w.runners[1] = b, a
	}
}

func less(a, b runner) bool {
	if a.core != b.core {
		return a.core < b.core
	}
	for i := range a.work {
		if a.work[i] != b.work[i] {
			return a.work[i] < b.work[i]
		}
	}
	return flags(a) < flags(b)
}

func flags(r runner) (v uint32) {
	for _, b := range []bool{r.dirty, r.behind, r.older, r.checked, r.slept, r.offline} {
		v <<= 1
		if b {
			v |= 1
		}
	}
	return v<<8 | uint32(r.mode)<<4 | uint32(r.source)
}
