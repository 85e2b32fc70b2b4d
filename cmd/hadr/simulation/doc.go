// Package simulation plays the product against faults that a seed chooses, in
// virtual time: the real functions, runners, adapters and agents over the
// embedded sandbox, while clients write through the virtual address all the
// time. When the faults are over the group must come to rest, and an audit
// compares what is with what must be.
//
// A failure replays by its seed. Every source of chance is drawn from it: the
// story, each fault's own stream, and the time that each call takes on its way.
// Two calls therefore never happen at the same moment, and the order of all
// that happens is that of virtual time, not that of Go's scheduler.
package simulation
