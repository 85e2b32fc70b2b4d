package check

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// coreID numbers the canonical states of the core.
type coreID uint32

// cores are all states of the core that were met, and what Step makes of them.
// Step is pure, so every question is asked once.
type cores struct {
	config failover.Config
	step   func(failover.State, failover.Event) (failover.State, []failover.Effect)

	mu      sync.RWMutex
	index   map[string]coreID
	states  []failover.State
	replies map[question]reply
	changes map[change]coreID

	facts [1 << 12]atomic.Pointer[[factsChunk]facts]
	calls atomic.Int64 // of Step
}

const factsChunk = 1 << 10

// question is one call of Step.
type question struct {
	core coreID
	hint hint
}

// reply is its answer.
type reply struct {
	core     coreID
	work     [4]task
	changed  bool // what is on the record must change
	said     said
	dead     bool // blocked without a way out
	overflow bool // more work than the model holds
}

// said is what people were told.
type said uint8

const (
	saidStarted said = 1 << iota
	saidRefused
	saidBlocked
	saidEnded
	saidOnly // what would have been done, or that a person has to approve it
	saidOther
)

// change is a change of a state that is not Step's.
type change struct {
	core coreID
	what transform
}

type transform uint8

const (
	afterTick transform = iota
	afterWhile
	afterLong
	recorded // what the record holds of it
	saved    // what its runner goes on with then
	forgetA  // a new event of this alarm is another operation's
	forgetB
	forgetSeal // the lease has another seal than the one that is void, or none
	loaded     // and later: what a runner has in mind that reads the record, by its maintenance
)

func newCores(config failover.Config, off failover.Rules) *cores {
	return &cores{
		config: config.WithDefaults(), step: failover.Without(off),
		index: map[string]coreID{}, replies: map[question]reply{}, changes: map[change]coreID{},
	}
}

// intern returns the number of a state.
func (c *cores) intern(s failover.State) coreID {
	s = canonical(s)
	k := key(s)
	c.mu.RLock()
	id, ok := c.index[k]
	c.mu.RUnlock()
	if ok {
		return id
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, ok := c.index[k]; ok {
		return id
	}
	id = coreID(len(c.states))
	c.states = append(c.states, s)
	c.index[k] = id
	slot := &c.facts[id/factsChunk]
	if slot.Load() == nil {
		slot.Store(new([factsChunk]facts))
	}
	slot.Load()[id%factsChunk] = factsOf(s)
	return id
}

// about returns what the model must know of a state of the core.
func (c *cores) about(id coreID) *facts { return &c.facts[id/factsChunk].Load()[id%factsChunk] }

// state returns a state as Step wants it.
func (c *cores) state(id coreID) failover.State {
	c.mu.RLock()
	s := c.states[id]
	c.mu.RUnlock()
	s.Config = c.config
	s.Group = "orders"
	if s.Operation != nil {
		op := *s.Operation
		op.Config = c.config
		if op.Routes == nil {
			op.Routes = map[string]failover.Redirect{}
		}
		s.Operation = &op
	}
	return s
}

// mind is one worker's view of the cores, with a memory of its own in front.
type mind struct {
	*cores
	replies map[question]reply
	changes map[change]coreID
}

func (c *cores) mind() *mind {
	return &mind{cores: c, replies: map[question]reply{}, changes: map[change]coreID{}}
}

// ask returns what Step answers.
func (m *mind) ask(core coreID, h hint) reply {
	q := question{core, h}
	if r, ok := m.replies[q]; ok {
		return r
	}
	m.mu.RLock()
	r, ok := m.cores.replies[q]
	m.mu.RUnlock()
	if !ok {
		r = m.think(q)
		m.mu.Lock()
		m.cores.replies[q] = r
		m.mu.Unlock()
	}
	m.replies[q] = r
	return r
}

func (m *mind) think(q question) reply {
	m.calls.Add(1)
	before := m.state(q.core)
	next, effects := m.step(before, m.event(q))
	r := reply{core: m.intern(next)}
	r.changed = m.change(r.core, recorded) != m.change(q.core, recorded) || m.about(r.core).ahead
	n := 0
	for _, e := range effects {
		t, s := taskOf(e)
		r.said |= s
		if t == nothing {
			continue
		}
		if n == len(r.work) {
			r.overflow = true
			break
		}
		r.work[n] = t
		n++
	}
	op := next.Operation
	r.dead = next.Phase == failover.Blocked && (op == nil || op.Blocked == "" || op.Next == "")
	return r
}

// change returns a state after a change.
func (m *mind) change(core coreID, what transform) coreID {
	k := change{core, what}
	if id, ok := m.changes[k]; ok {
		return id
	}
	m.mu.RLock()
	id, ok := m.cores.changes[k]
	m.mu.RUnlock()
	if !ok {
		m.mu.RLock()
		s := m.states[core]
		m.mu.RUnlock()
		id = m.intern(changed(s, what))
		m.mu.Lock()
		m.cores.changes[k] = id
		m.mu.Unlock()
	}
	m.changes[k] = id
	return id
}

func changed(s failover.State, what transform) failover.State {
	switch what {
	case afterTick:
		return shift(s, tick)
	case afterWhile:
		return shift(s, while)
	case afterLong:
		return shift(s, long)
	case saved:
		return firstEpoch(s)
	case recorded:
		s.Attempt, s.Maintenance = nil, failover.Maintenance{}
		return firstEpoch(s)
	case forgetSeal:
		s.VoidSeal = ""
	case forgetA, forgetB:
		id := ids[alarmA]
		if what == forgetB {
			id = ids[alarmB]
		}
		s.Ended = endedAlarms(slices.DeleteFunc(slices.Clone(s.Ended), func(e string) bool { return e == id }))
		if s.Operation != nil && s.Operation.ID == id {
			op := *s.Operation
			op.ID = ids[look]
			s.Operation = &op
		}
		if s.Attempt != nil && s.Attempt.OperationID == id {
			a := *s.Attempt
			a.OperationID = ids[look]
			s.Attempt = &a
		}
		if s.Pending != nil && s.Pending.OperationID == id {
			p := *s.Pending
			p.OperationID = idApproval
			s.Pending = &p
		}
	default:
		s.Attempt, s.Maintenance = nil, pause(what-loaded).maintenance()
		return firstEpoch(s)
	}
	return s
}

// firstEpoch counts the epochs anew, as all that matters is which is newer.
func firstEpoch(s failover.State) failover.State {
	if p := s.Pending; p != nil {
		moved := *p
		moved.Epoch = 0
		if p.Epoch == s.Epoch {
			moved.Epoch = 1
		}
		s.Pending = &moved
	}
	s.Epoch = 1
	return s
}

// maintenance is what a pause is on the record.
func (p pause) maintenance() failover.Maintenance {
	switch {
	case p == unpaused:
		return failover.Maintenance{}
	case p == paused:
		return failover.Maintenance{On: true}
	}
	return failover.Maintenance{On: true, Until: now.Add(time.Duration(p-expired) * tick)}
}

// facts are what the model must know of a state of the core.
type facts struct {
	phase    failover.Phase
	step     failover.StepName
	kind     failover.Kind
	force    failover.Force
	id       string // of the operation
	pending  string // operation that waits for a person
	primary  uint8
	from, to uint8
	fenced   [2]bool
	down     [2]bool // fenced, and read as stopped
	asked    bool    // somebody has asked for its attempt, or approved it
	approved bool
	expires  time.Duration // until then a person may approve what is pending
	cooling  bool          // the cool-down is in force
	cut      bool          // the old primary was cut off
	blocked  bool
	ahead    bool  // its epoch is not on the record yet
	pause    pause // as it was loaded
	watch    bool  // its attempt is one of the minutely look
	alarm    bool  // its attempt has an alarm
	suspect  uint8
	decided  failover.Kind // of its attempt
	attempts uint8         // promotions that were sent
	again    bool          // the machine of the old primary is started again
	left     time.Duration // until the deadline of the step
}

func factsOf(s failover.State) facts {
	f := facts{phase: s.Phase, primary: number(s.Primary), ahead: s.Epoch > 1, pause: pauseOf(s.Maintenance)}
	for id, fence := range s.Fenced {
		f.fenced[number(id)], f.down[number(id)] = true, fence.Confirmed
	}
	f.cooling = now.Before(s.Cooldown)
	if s.Pending != nil {
		f.pending, f.expires = s.Pending.OperationID, s.Pending.Expires.Sub(now)
	}
	if op := s.Operation; op != nil {
		f.step, f.kind, f.force, f.id, f.cut = op.Step, op.Kind, op.Force, op.ID, op.Isolated != ""
		f.from, f.to, f.blocked = number(op.From), number(op.To), op.Blocked != ""
		f.attempts, f.again, f.left = uint8(op.Promotions), op.Attempt > 1, op.Deadline.Sub(now)
	}
	if a := s.Attempt; a != nil {
		f.watch, f.alarm, f.suspect, f.decided = a.Watch, a.Alarm != "", number(a.Suspect), a.Kind
		f.approved = a.Approver != ""
		f.asked = a.Human != "" || f.approved
	}
	return f
}

// pauseOf is the pause that a maintenance is.
func pauseOf(m failover.Maintenance) pause {
	switch left := m.Until.Sub(now); {
	case !m.On:
		return unpaused
	case m.Until.IsZero():
		return paused
	default:
		return expired + pause(max(0, left)/tick)
	}
}

// running reports whether an operation runs and is not blocked.
func (f *facts) running() bool { return f.id != "" && !f.blocked }

var names = [2]string{"a", "b"}

func number(id string) uint8 {
	if id == names[1] {
		return 1
	}
	return 0
}
