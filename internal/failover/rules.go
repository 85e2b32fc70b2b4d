package failover

import "fmt"

// Rule is a safety rule of the design. The guard that keeps it names it.
type Rule uint8

// The rules. Those that the core does not keep are kept by whoever runs it.
const (
	R1  Rule = iota + 1 // an alarm is bound to its node by the record
	R2                  // a redelivery resumes its operation
	R3                  // old events are stale, red alarms are evidence
	R4                  // a primary that waits for its standby is not taken over
	R5                  // one committed probe vetoes, nothing else does
	R6                  // a lease expires only across successful reads, and its silence alone is no death
	R7                  // an operator's takeover is followed
	R8                  // two signals, enough window, clocks that agree
	R9                  // an approval binds operation and epoch
	R10                 // seal before the claim
	R11                 // conditional writes of own attributes
	R12                 // marks on nodes, epochs above every one seen
	R13                 // an operation works on a snapshot
	R14                 // the recorded primary read PRIMARY
	R15                 // promote after an accepted stop
	R16                 // strict waits for the stop
	R17                 // only a read stop counts as confirmed
	R18                 // a fence is recorded before the promotion
	R19                 // never plain BY FORCE
	R20                 // the standby is read again, the old primary started again
	R21                 // a command runs once, and not after its deadline
	R22                 // no mutation on an old look at the record
	R23                 // unknown is resolved by reading
	R24                 // maintenance does not stop half a takeover
	R25                 // the way through every route table is tried
	R26                 // one denied route holds up no other
	R27                 // redirects are finished without the record
	R28                 // back is who reads as standby in peer state
	R29                 // the recorded primary alone may start by force
	R30                 // the next failure is not ignored
	R31                 // start in place where the standby is unfit
	R32                 // nothing is delivered only once
	R33                 // asynchronous engines declare what they may lose
)

func (r Rule) String() string { return fmt.Sprintf("R%d", uint8(r)) }

// Rules is a set of rules.
type Rules uint64

// Has reports whether r is in the set.
func (s Rules) Has(r Rule) bool { return s&(1<<r) != 0 }

// Of returns a set of rules.
func Of(rules ...Rule) (s Rules) {
	for _, r := range rules {
		s |= 1 << r
	}
	return s
}

// Without returns Step with some rules left out. It is there to show what each
// rule is for: the model checker finds the story that the rule closes.
func Without(off Rules) func(State, Event) (State, []Effect) {
	return func(s State, e Event) (State, []Effect) {
		s.Off = off
		next, effects := Step(s, e)
		next.Off = 0
		return next, effects
	}
}

// on reports whether a rule is kept.
func (s State) on(r Rule) bool { return !s.Off.Has(r) }
