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
}

// Premises has one premise for each assumption.
func Premises() []Premise {
	guarded := Setup{Fencing: failover.PeerWindow, Agents: true, Runners: 1, Tables: 1, Faults: 2, Allowed: Just(LinkBreaks, NodeSilent), Persons: Only(deedCount), Swift: true}
	strict := guarded
	strict.Fencing, strict.Agents = failover.Strict, false
	skew := strict
	skew.Allowed = Just(LinkBreaks, PowerLost)
	crowd := strict.from(PrimaryLost)
	crowd.Faults, crowd.Runners, crowd.Swift = 0, 2, false
	late := strict.from(PrimaryLost)
	late.Faults, late.Allowed, late.Swift = 1, Just(PromoteLate), false
	list := []Premise{
		{Broken: A1, Setup: guarded, Breaks: true, Loud: true,
			Says:     "An accepted stop takes effect, or the dead-man acts, before the window of the old primary ends.",
			Expected: "Two writers are possible. Before the window ends the operation is blocked, says so, and names the machine to stop."},
		{Broken: A2, Setup: skew, Breaks: true,
			Says:     "The clocks drift within their bound.",
			Expected: "The old primary goes on alone earlier than its standby believes, and dies: what it has committed alone is lost. Nothing shows it before the old primary is brought back, whose log does not fit then."},
		{Broken: A3, Setup: crowd, Breaks: true,
			Says:     "Conditional writes are linearizable.",
			Expected: "Two operations run at once, and one undoes what the other one does: nobody serves, or a primary that was started again is stopped. It is not always told, so a table that can't keep the promise is refused when a group is created."},
		{Broken: A4, Setup: late,
			Says:     "Db2 refuses BY FORCE PEER WINDOW ONLY outside of the window.",
			Expected: "The window is counted by the core, too, and the document refuses after its deadline: nothing is lost."},
	}
	for i := range list {
		list[i].Setup.Broken = Without(list[i].Broken)
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
