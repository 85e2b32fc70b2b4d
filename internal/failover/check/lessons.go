package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Lesson is what a rule is for: the bound within which the search finds the
// story that the rule closes, once it is left out.
type Lesson struct {
	Rule failover.Rule
	Says string // the rule in a sentence
	Setup
	// Beside are rules that close the same story, too, and are left out on both
	// sides of the comparison.
	Beside failover.Rules
	Also   string // what that means, for people
	// Elsewhere says why the model does not reach the rule, and what shows it
	// instead. There is no search then.
	Elsewhere string
	Test      string // the test that fails without the rule
}

// alone is a pair without agents, and guarded one with the dead-man. Nothing
// but the allowed faults happens.
func alone(f int, allowed ...Fault) Setup {
	return Setup{Fencing: failover.Strict, Runners: 1, Tables: 1, Faults: f, Allowed: Just(append(allowed, NoFault)...), Persons: Only(deedCount)}
}

func guarded(f int, allowed ...Fault) Setup {
	s := alone(f, allowed...)
	s.Agents, s.Fencing = true, failover.PeerWindow
	return s
}

func (s Setup) swift() Setup { s.Swift = true; return s }

func (s Setup) from(b Begin) Setup { s.Begin = b; return s }

// with lets a person do one thing.
func (s Setup) with(deeds ...Deed) Setup {
	s.People, s.Persons = 1, Only(deeds...)
	return s
}

// Lessons has one lesson for each rule.
func Lessons() []Lesson {
	lessons := append(before(), claiming()...)
	return append(append(lessons, fencing()...), after()...)
}

func before() []Lesson {
	approval := alone(3, LinkBreaks, NodeSilent, PowerLost).swift().with(Approves)
	approval.Policy = failover.Approval
	return []Lesson{
		{Rule: failover.R1, Says: "An alarm belongs to the group and node that the record names, never to those in its text.",
			Setup: alone(1, CheckLies)},
		{Rule: failover.R2, Says: "An event that is delivered again goes on with its operation; it is no duplicate to be dropped.",
			Setup: alone(1, RunnerDies).from(PrimaryLost).swift(), Beside: failover.Of(failover.R32),
			Also: "The minutely look (R32) would find it, too; here nobody looks."},
		{Rule: failover.R3, Says: "An event from before the last change of primary is stale, but an alarm that is still red is evidence.",
			Setup: alone(2, AlarmLies, DatabaseDies).swift().from(TakenOver)},
		{Rule: failover.R4, Says: "A primary whose commits wait for its standby is not taken over.",
			Setup: alone(1, LinkBreaks)},
		{Rule: failover.R5, Says: "A committed probe below the threshold, newer than the last bad one, vetoes.",
			Setup: guarded(2, AlarmLies, CheckLies)},
		{Rule: failover.R6, Says: "A lease has expired only if it stood still across successful reads.",
			Setup: guarded(2, AlarmLies, RecordDown)},
		{Rule: failover.R7, Says: "An operator's own takeover is followed, not fought.",
			Setup: alone(0).with(Swaps)},
		{Rule: failover.R8, Says: "A takeover needs two signals, one of them from outside CloudWatch, enough of the window, and clocks that agree.",
			Setup: alone(1, AlarmLies)},
		{Rule: failover.R9, Says: "An approval binds the operation and the epoch, and expires.",
			Setup: approval},
	}
}

func claiming() []Lesson {
	return []Lesson{
		{Rule: failover.R10, Says: "The lease is sealed before the group is claimed: its holder can't renew it any more.",
			Setup: guarded(2, LinkBreaks, NodeSilent)},
		{Rule: failover.R11, Says: "Writes to the record change their own attributes, under conditions, and never the whole item.",
			Setup: alone(0).from(PrimaryLost).with(Pauses)},
		{Rule: failover.R12, Says: "Machines and nodes are marked with table and epoch; a foreign or older authority is refused.",
			Setup: alone(2, MachineStarted, NodeCut).from(TakenOver)},
		{Rule: failover.R13, Says: "An operation works on the configuration that it began with.",
			Elsewhere: "What an apply in the middle changes is where a call goes: to which machine, with which version of a document. In the model a call for node a goes to node a.",
			Test:      "internal/engine/db2 TestPinnedVersions"},
		{Rule: failover.R14, Says: "The recorded primary changes only when PRIMARY was read on the new node.",
			Setup: alone(1, CommandFailed).from(PrimaryLost)},
	}
}

func fencing() []Lesson {
	stops := guarded(3, LinkBreaks, NodeSilent, StopRejected)
	stops.Agents, stops.Prompt, stops.Swift = false, true, true
	noAgent := guarded(2, LinkBreaks, NodeSilent).swift()
	noAgent.Agents = false
	ghost := alone(1, MachineStarted).from(TakenOver).with(Rejoins)
	ghost.Runners = 2
	return []Lesson{
		{Rule: failover.R15, Says: "The standby is promoted only after the stop of the old primary was accepted and read.",
			Setup: stops, Beside: failover.Of(failover.R16),
			Also: "The fence is not waited for here (R16), and stops take effect at once: what is missing is the stop itself."},
		{Rule: failover.R16, Says: "Without a dead-man in force, the standby is promoted only once the old primary is stopped.",
			Setup: noAgent},
		{Rule: failover.R17, Says: "Only a machine that is read as stopped is confirmed to be fenced.",
			Setup: alone(2, LinkBreaks, NodeSilent).swift()},
		{Rule: failover.R18, Says: "The fence is on the record before the promotion, and a fenced node that runs is stopped again.",
			Setup: alone(1, MachineStarted).from(PrimaryLost)},
		{Rule: failover.R19, Says: "Nothing is promoted by plain force, and nothing that is not proven to be complete.",
			Setup: alone(2, LinkBreaks, PowerLost).swift()},
		{Rule: failover.R20, Says: "The standby is read again before the fence, and the old primary started again where it can't be promoted.",
			Setup: alone(1, DatabaseDies).from(PrimaryLost)},
		{Rule: failover.R21, Says: "A command runs once, and not after its deadline.",
			Setup: alone(1, PromoteLate).from(PrimaryLost)},
		{Rule: failover.R22, Says: "No mutation is sent on an old look at the record.",
			Setup: ghost},
		{Rule: failover.R23, Says: "What is unknown is resolved by reading, never by rolling back.",
			Setup: alone(1, PromoteLost).from(PrimaryLost), Beside: failover.Of(failover.R7),
			Also: "Whoever follows a takeover by hand (R7) would follow this one, too, in the end; here nobody does."},
		{Rule: failover.R24, Says: "Maintenance that is set after the fence does not stop the promotion and the redirect.",
			Setup: alone(0).from(PrimaryLost).with(Pauses)},
	}
}

func after() []Lesson {
	denied := alone(1, MoveDenied).swift().from(PrimaryLost)
	denied.Tables = 2
	return []Lesson{
		{Rule: failover.R25, Says: "A takeover ends with a connection through each route table.",
			Setup: alone(1, PathBlocked).from(PrimaryLost)},
		{Rule: failover.R26, Says: "Every route is tried; one that is denied holds up no other.",
			Setup: denied, Beside: failover.Of(failover.R32),
			Also: "The minutely look (R32) would repair the route; here nobody looks."},
		{Rule: failover.R27, Says: "Where the record gives no answer after the promotion, the redirect is finished without it.",
			Setup: alone(1, RecordDown).from(PrimaryLost)},
		{Rule: failover.R28, Says: "A node is back when it is read as a fit standby in peer state, not when a command succeeded.",
			Setup: alone(0).from(TakenOver).with(Rejoins)},
		{Rule: failover.R29, Says: "The recorded primary alone may start without its standby, if that one is fenced and stopped.",
			Setup: alone(1, PowerLost).swift().from(TakenOver)},
		{Rule: failover.R30, Says: "The next failure is not ignored because of the last one.",
			Setup: alone(2, MoveDenied, PowerLost).swift().from(PrimaryLost)},
		{Rule: failover.R31, Says: "Where the standby is unfit and the primary is certainly down, the primary is started in place.",
			Setup: alone(1, PowerLost)},
		{Rule: failover.R32, Says: "Nothing is delivered only once: a look every minute sees what events have missed.",
			Setup: alone(1, EventLost).from(PrimaryLost)},
		{Rule: failover.R33, Says: "Asynchronous engines declare how much they may lose, and measure it.",
			Elsewhere: "The model's pair is Db2, which replicates synchronously and has a peer window. How much an asynchronous standby lacks is a number, and the rule is about that number: the model knows only whether something is missing.",
			Test:      "internal/engine/postgresql TestStandbyBeyondItsRPO"},
	}
}

// Without searches with the rule left out.
func (l Lesson) Without() Result { return l.search(l.Beside|failover.Of(l.Rule), lessonLimit) }

// Kept searches with the rule, through as many states as the limit.
func (l Lesson) Kept(limit int64) Result { return l.search(l.Beside, limit) }

// lessonLimit bounds a search of a lesson that finds nothing.
const lessonLimit = 400_000

func (l Lesson) search(off failover.Rules, limit int64) Result {
	s := l.Setup // a copy
	s.Off = off
	return Search{Setup: s, Calm: 1, Limit: limit}.Run()
}
