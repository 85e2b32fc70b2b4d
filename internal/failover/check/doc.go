// Package check explores every course that a failover group can take within a
// bound: it runs the real decision core (failover.Step) in a small world of two
// Db2 nodes, the authority, one or two runners, alarms, agents and people, and
// lets everything go wrong at every moment.
//
// Its states are canonical. Times are relative to now, counters and names that
// decide nothing are dropped, two runners are interchangeable: no state is
// counted twice because of a text or a clock. The core is pure, so that every
// pair of a state and an event is computed once and looked up afterwards.
package check
