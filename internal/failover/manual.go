package failover

import "cmp"

// NeedsReseed is the code by which an engine says that a rejoin can't succeed,
// however often it is tried: the node's data must be made anew. A rejoin that
// ends so has it as its outcome, too.
const NeedsReseed = "needs_reseed"

// NotReady is the code by which an engine says that a person has to change
// something on the node before a rejoin can begin (R28).
const NotReady = "not_ready"

// Manual is what a person does by hand on a node, in the words of the group's
// engine: the core knows no engine's commands.
type Manual struct {
	Role   string // tells the role of a database, such as "db2pd -hadr"
	Start  string // starts it
	Kill   string // ends it at once
	Reseed string // makes a standby's data anew from its primary's
}

// manual is what the engine says, and words that hold for any engine where it
// says nothing.
func (s State) manual() Manual {
	return Manual{
		Role:   cmp.Or(s.Manual.Role, "the engine's status command"),
		Start:  cmp.Or(s.Manual.Start, "the engine's start command"),
		Kill:   cmp.Or(s.Manual.Kill, "end its server processes"),
		Reseed: cmp.Or(s.Manual.Reseed, "backup and restore"),
	}
}
