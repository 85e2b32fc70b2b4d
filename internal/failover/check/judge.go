package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// violation is what may never happen.
type violation uint8

const (
	fine violation = iota
	twoWriters
	lostCommit
	shotHealthy
	shotByAGhost
	wrongEndpoint
	noExit
	notRedirected
	erased
	falseReturn
	notPrimary
	tooMuch
	unknownEffect
	endedAlone
	undone
	unasked
	outgrown
	// What is found when all has calmed down.
	restless
	unserved
	untold
	secondPrimary
	blackhole
)

var verdicts = [...]string{
	twoWriters:    "Two nodes acknowledge commits that the other one does not have.",
	lostCommit:    "A database without an acknowledged commit accepts writes: the commit is lost.",
	shotHealthy:   "A primary that works, and is known to, is about to be stopped.",
	shotByAGhost:  "A node that nobody wants to stop any more is stopped, on an old look at the record.",
	wrongEndpoint: "The endpoint leads to a node that is not the recorded primary, and no operation is running.",
	noExit:        "The operation is blocked and names no way out.",
	notRedirected: "The new primary serves, and nobody leads the clients to it, for want of the record alone.",
	erased:        "The maintenance that a person has set is gone from the record.",
	falseReturn:   "A node counts as back that is no standby in peer state.",
	notPrimary:    "The record names a primary that never became one.",
	tooMuch:       "The model can't hold the work of a runner.",
	unknownEffect: "The model does not know an effect of the core.",
	endedAlone:    "A database that works is ended because nobody can be reached, by nobody's decision.",
	undone:        "Terraform has undone a takeover.",
	unasked:       "Something is done by itself for which a person should have been asked.",
	outgrown:      "A takeover begins because a person has approved an earlier one.",
	restless:      "All is calm, and the operation neither ends nor blocks.",
	unserved:      "All is calm, a node could serve, and none does.",
	untold:        "All is calm, nobody serves, and nobody was told.",
	secondPrimary: "All is calm, and a second primary is left running.",
	blackhole:     "All is calm, the group is steady, and no connection reaches the primary.",
}

func (v violation) String() string { return verdicts[v] }

// judgeRecord looks at what a runner has just put on the record.
func (x *explorer) judgeRecord(w *world, was *facts) {
	if is := x.about(w.record); is.primary != was.primary && w.nodes[is.primary].role != primary && w.wrong == fine {
		w.wrong = notPrimary
	}
}

// judgeReturn looks at a rejoin that has just ended: the node must have been
// read as a fit standby.
func (x *explorer) judgeReturn(w *world, before *facts, after *facts, v view) {
	if before.step == failover.StepPeer && after.id == "" && before.fenced[before.from] && !after.fenced[before.from] && (!v.fit || v.lost || w.nodes[before.from].diverged) && w.wrong == fine {
		w.wrong = falseReturn
	}
}

// judgeClaim looks at an operation that was just put on the record: a policy may
// want a person for it, and a person may have meant another one.
func (x *explorer) judgeClaim(w *world, r runner) {
	f := x.about(r.core)
	byItself := r.source != human && !f.asked
	switch {
	case w.wrong != fine:
	case f.approved && w.outdated:
		w.wrong = outgrown
	case byItself && (x.setup.Policy == failover.Observe || f.kind == failover.Switchover),
		byItself && x.setup.Policy == failover.Approval && f.kind != failover.Adopt:
		w.wrong = unasked
	}
}

// judgeMutation looks at what a runner is about to change, where no operation
// runs. Under the policy observe only the fence of a person's takeover is kept.
func (x *explorer) judgeMutation(w *world, r runner, t task) {
	f := x.about(w.record)
	keeps := t.what() == doStop && f.fenced[t.node()]
	if x.setup.Policy == failover.Observe && f.id == "" && r.source != human && !keeps && w.wrong == fine {
		w.wrong = unasked
	}
}

// judge looks for what may never be in a world.
func (x *explorer) judge(w *world) {
	if w.wrong != fine {
		return
	}
	f := x.about(w.record)
	switch {
	case w.pausedBy && w.pause == unpaused:
		w.wrong = erased
	case f.id == "" && !w.denied && !w.failed && w.astray(x.setup.Tables, f.primary):
		w.wrong = wrongEndpoint
	}
}

func (w *world) astray(tables int, to uint8) bool {
	for _, owner := range w.routes[:tables] {
		if owner != to {
			return true
		}
	}
	return false
}

// judgeDecision looks at a takeover that was just decided. A primary that works
// and was read, or of which its standby goes on receiving log, and is shot for its
// standby's trouble, or for one wrong signal, is shot for nothing.
func (x *explorer) judgeDecision(w *world, i uint8, h hint) {
	r := w.runners[i]
	if r.mode != busy || r.source == human || w.wrong != fine {
		return
	}
	f := x.about(r.core)
	if f.decided != failover.Takeover || r.work[0].what() != doSeal {
		return
	}
	n, v := w.nodes[f.suspect], h.views[f.suspect]
	told := v.answers || h.views[1-f.suspect].flows && !n.impaired && v.probe != fails
	if n.machine != running || n.database != active || n.role != primary || !n.whole || !told {
		return
	}
	lies := 0
	if n.red && (n.mute || !w.ails(int(f.suspect))) {
		lies++
	}
	if n.impaired {
		lies++
	}
	if acks, _ := w.acknowledges(int(f.suspect)); !acks || lies <= 1 || v.probe == commits {
		w.wrong = shotHealthy
	}
}
