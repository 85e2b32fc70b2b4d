package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Premise is an assumption of the design, the bound in which it is broken, and
// what is expected then.
type Premise struct {
	Broken   Assumption
	Says     string
	Expected string
	Setup    Setup
	// Breaks: without the assumption the search finds what must never be.
	Breaks bool
	// Loud: whatever happens, the group is blocked and people are told before.
	Loud bool
	// Afterwards are bounds in which what needs the assumption may be broken on the way, and
	// from every state of which the group comes to rest nevertheless: it serves
	// from one node or people were told, and no node counts as standby whose log
	// has parted from its primary's. Deeply are larger ones.
	Afterwards, Deeply []Setup
}

// Premises has one premise for each assumption.
func Premises() []Premise {
	guarded := Setup{Fencing: failover.PeerWindow, Agents: true, Runners: 1, Tables: 1, Faults: 2, Allowed: Just(LinkBreaks, NodeSilent), Persons: Only(deedCount), Swift: true}
	strict := guarded
	strict.Fencing, strict.Agents = failover.Strict, false
	skew := strict.only(LinkBreaks, PowerLost)
	crowd := strict.from(PrimaryLost)
	crowd.Faults, crowd.Runners, crowd.Swift = 0, 2, false
	swift, slow := crowd.swift(), guarded.from(PrimaryLost)
	slow.Faults, slow.Runners = 0, 2
	late := strict.from(PrimaryLost).only(PromoteLate)
	late.Faults, late.Swift = 1, false
	sweep, _ := sweeping()
	back := sweep.from(LossUnknown).with(Rejoins)
	list := []Premise{
		{Broken: A1, Setup: guarded, Breaks: true, Loud: true,
			Says:     "An accepted stop takes effect, or the dead-man acts, before the window of the old primary ends.",
			Expected: "Two writers are possible. Before the window ends the operation is blocked, says so, and names the machine to stop."},
		{Broken: A2, Setup: skew, Breaks: true, Afterwards: []Setup{back}, Deeply: []Setup{skew.with(Rejoins)},
			Says:     "The clocks drift within their bound.",
			Expected: "The old primary goes on alone earlier than its standby believes, and dies before it can be read: what it has committed alone is lost. It comes to light when that primary is brought back: its log has parted, and the rejoin ends with the word that it needs a reseed. It is never taken for a standby."},
		{Broken: A3, Setup: crowd, Breaks: true, Afterwards: []Setup{swift, slow}, Deeply: []Setup{crowd},
			Says:     "Conditional writes are linearizable.",
			Expected: "Two operations run at once, and one undoes what the other one does: a primary that was started again may be stopped. Nothing is lost by it, and no two nodes write. When both are over, the group serves from one node or is blocked with a word."},
		{Broken: A4, Setup: late,
			Says:     "Db2 refuses BY FORCE PEER WINDOW ONLY outside of the window.",
			Expected: "The window is counted by the core, too, and the document refuses after its deadline: nothing is lost."},
	}
	for i := range list {
		p := &list[i]
		p.Setup.Broken = Without(p.Broken)
		for _, bounds := range [][]Setup{p.Afterwards, p.Deeply} {
			for k := range bounds {
				bounds[k].Broken, bounds[k].Forgives = Without(p.Broken), true
			}
		}
	}
	return list
}

// Search breaks the assumption. What happens while the group is blocked may be
// let go.
func (p Premise) Search(loudIsEnough bool) Result {
	s := p.Setup
	s.LoudIsEnough = loudIsEnough
	return Search{Setup: s, Calm: 1, Limit: lessonLimit}.Run()
}

// lets reports whether a promise may be broken on the way, because it needs the
// assumption that is.
func (s *Setup) lets(v violation) bool {
	switch v {
	case twoWriters, lostCommit:
		return s.Forgives && s.Broken.has(A2)
	case shotHealthy, shotByAGhost, wrongEndpoint:
		return s.Forgives && s.Broken.has(A3)
	}
	return false
}
