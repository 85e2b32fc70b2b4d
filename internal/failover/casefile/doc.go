// Package casefile reads situations of a failover group from text and asks the
// decision core about them. A case is a file of named sections, in the manner
// of a txtar archive:
//
//	A standby in catch-up is not promoted
//
//	What happened, for people.
//	answers: ClusterLabs/resource-agents#2043, plain BY FORCE lost commits
//
//	-- state --
//	base: vanished
//	-- node b --
//	fitness: unfit: it is in REMOTE_CATCHUP_PENDING
//	-- event alarmed --
//	-- decision --
//	verdict: refuse
//	guard: standby not fit
//	phase: steady
//	do: tell refused
//	-- reason --
//	standby not fit: node b (PEER CONNECTED) may not be promoted without loss: ...
//	-- next --
//	hadr status orders
//	-- kills --
//	R19
//	blind to node b: fitness
//
// Before the first section stand the title, the report or rule that the case
// answers, and its story. Every section but "event" may be left out: a case
// shows only what is special about it.
//
// The group is called orders, in epoch 7, and node a is its primary. With "base:
// healthy", which is the default, both nodes are well; with "base: vanished" the
// host of the primary has been gone for 100 s, and an alarm, the standby and the
// status command say so. Sections that change this are
//
//	config      what is declared: policy, fencing, routes, time limits
//	state       epoch, primary, maintenance, cool-down, fenced nodes
//	operation   the operation that runs; kind and step bring what has happened before
//	attempt     a decision that is not claimed yet
//	record      what else is on the record, where a claim is lost
//	node ID     what was read on a node
//	evidence    "SIGNAL NODE: TIME, [conclusive,] text"; it replaces all of the base's
//	event NAME  what happens
//
// Times are relative to the moment of the event: -40s, +2m, now, never. A time
// limit or a window is a length such as 90s. Where the core asks for a look at
// the group, it is given what the sections say.
//
// The sections decision, reason and next are what the core must answer, each
// line of it. "kills" names what must change the decision: a safety rule that is
// left out (R19), a line of the case that a wrong core would be blind to (blind to
// node b: fitness), or take for another one (taking node b: window for 24s).
package casefile
