package check

import (
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Sweeps are bounds in which every fault happens at every moment of every
// course, and nothing else goes wrong afterwards. They are complete, and small
// enough for every run of the tests.
func Sweeps() []Setup {
	strict, guarded := sweeping()
	lost := strict.from(PrimaryLost)
	cut := guarded.from(PrimaryCut)
	cut.Faults = 0
	people := strict.with()
	people.Persons = 0
	alive := strict.from(PrimaryCut)
	unknown := strict.from(RoleUnknown)
	alive.Sample, unknown.Sample = 64, 64
	sweeps := []Setup{
		alive.named("strict fencing, the primary is cut off"),
		unknown.named("strict fencing, the role of the new primary is not known"),
		strict.named("strict fencing, from peer state"),
		guarded.named("dead-man and peer window, from peer state"),
		lost.named("strict fencing, the primary is lost"),
		cut.named("dead-man and peer window, the primary is cut off"),
		strict.from(TakenOver).with(Rejoins).named("strict fencing, rejoin after a takeover"),
		people.named("strict fencing, people"),
	}
	return slices.Concat(sweeps, wishes(), repeated(), muted())
}

// sweeping is the pair without agents, and with them, in which one fault happens.
func sweeping() (strict, guarded Setup) {
	strict = Setup{Fencing: failover.Strict, Runners: 1, Tables: 1, Faults: 1, Persons: Only(deedCount), Sweep: true, Swift: true}
	guarded = strict
	guarded.Fencing, guarded.Agents = failover.PeerWindow, true
	return strict, guarded
}

// wishes are the sweeps of what people ask for, and of policies.
func wishes() []Setup {
	strict, guarded := sweeping()
	approval := strict.from(PrimaryLost).with(Approves)
	approval.Policy = failover.Approval
	observe := strict.from(PrimaryLost).with(Asks)
	observe.Policy, observe.Sample = failover.Observe, 8
	pause := strict.from(PrimaryLost).with(PausesFor).only(RunnerDies, RecordDown, AnswerLost, EventRepeated)
	late := strict.from(TooLate).with(Cancels, AsksLate).twice().only(RunnerDies, MachineStarted, PromoteLost, PromoteLate)
	loss := strict.from(TooLate).with(Cancels, AcceptsLoss).twice().only(RunnerDies, MachineStarted, PromoteLost)
	loss.Sample = 8
	release := strict.from(TakenOver).with(Releases, TurnsOn).twice()
	severed := guarded.from(PrimaryCut).only(GroupsUnread, GroupsFailed, GroupsLost)
	back := guarded.from(CutOff).with(Rejoins).only(GroupsFailed, GroupsLost, StartLate, RunnerDies)
	severed.Cuts, back.Cuts = true, true
	drift := strict.from(PrimaryCut)
	drift.Drifts, drift.Faults = true, 0
	twice := strict.with(Switches).only(AlarmLies, EventLost, PowerLost, MachineStarted)
	twice.Faults, twice.Sample = 2, 8
	return []Setup{
		strict.with(Switches).named("strict fencing, a switchover"),
		twice.named("strict fencing, a switchover and two faults"),
		approval.named("policy approval, the primary is lost"),
		observe.named("policy observe, the primary is lost and a person asks"),
		pause.named("maintenance that ends by itself, the primary is lost"),
		late.named("a person takes over after the window"),
		loss.named("a person accepts that commits are lost"),
		release.named("a person ends the fence"),
		severed.named("a node that does not stop is cut off"),
		back.named("rejoin of a node that was cut off"),
		drift.named("clocks that drift within their bound, the primary is cut off"),
		strict.from(TakenOver).with(Acknowledges).named("a person acknowledges a takeover"),
		strict.from(TakenOver).with(Applies).named("Terraform after a takeover"),
	}
}

// muted are the sweeps in which an agent dies.
func muted() []Setup {
	strict, guarded := sweeping()
	strict.Agents = true
	strict, guarded = strict.only(AgentDies), guarded.only(AgentDies)
	cut, unknown := strict.from(PrimaryCut), strict.from(RoleUnknown)
	cut.Sample, unknown.Sample = 64, 64
	return []Setup{
		guarded.from(PrimaryLost).named("an agent dies, the primary is lost"),
		cut.named("an agent dies, the primary is cut off"),
		unknown.named("an agent dies, the role of the new primary is not known"),
		guarded.from(TakenOver).with(Rejoins).named("an agent dies in a rejoin"),
		guarded.with(Switches).named("an agent dies in a switchover"),
	}
}

// repeated are the sweeps in which an event that is delivered again meets the
// runner that is still at work on it.
func repeated() []Setup {
	one, _ := sweeping()
	one.Runners = 2
	one = one.only(EventRepeated)
	lost, cut, unknown, back, switches := one.from(PrimaryLost), one.from(PrimaryCut), one.from(RoleUnknown), one.from(TakenOver).with(Rejoins), one.with(Switches).only(EventRepeated, AlarmLies)
	cut.Off = failover.Of(failover.R32) // nobody looks
	cut.Sample, unknown.Sample = 64, 64
	switches.Faults = 2
	return []Setup{
		lost.named("an event comes again, the primary is lost"),
		cut.named("an event comes again, the primary is cut off"),
		unknown.named("an event comes again, the role of the new primary is not known"),
		back.named("an event comes again in a rejoin"),
		switches.named("an event comes again in a switchover"),
	}
}

func (s Setup) named(name string) Setup { s.Name = name; return s }

// only lets nothing else go wrong.
func (s Setup) only(allowed ...Fault) Setup { s.Allowed = Just(allowed...); return s }

// twice lets people do two things.
func (s Setup) twice() Setup { s.People = 2; return s }

// Depths are the bounds of make check-deep. They hold no runner back from being
// held up, and let faults happen on top of each other.
func Depths() []Setup {
	strict, guarded := deep()
	people := strict.with()
	people.Persons, people.Faults = 0, 1
	lost := strict.from(PrimaryLost)
	cut := guarded.from(PrimaryCut)
	back := strict.from(TakenOver).with(Rejoins)
	crowd := guarded
	lost.Faults, cut.Faults, back.Faults = 1, 1, 1
	crowd.Runners, crowd.Faults = 2, 1
	return append([]Setup{
		strict.named("strict fencing, two faults"),
		people.named("strict fencing, a person and a fault"),
		lost.named("strict fencing, the primary is lost and a fault"),
		back.named("strict fencing, rejoin and a fault"),
		cut.named("dead-man and peer window, the primary is cut off and a fault"),
		crowd.named("dead-man and peer window, two runners and a fault"),
		guarded.named("dead-man and peer window, two faults"),
	}, slices.Concat(whole(), deepWishes(), crowds())...)
}

// deep is the pair without agents, and with them, in which two faults happen.
func deep() (strict, guarded Setup) {
	strict, guarded = sweeping()
	for _, s := range []*Setup{&strict, &guarded} {
		s.Faults, s.Sweep, s.Swift = 2, false, false
	}
	return strict, guarded
}

// whole are deep bounds in which no function is held up, so that they are
// explored whole.
func whole() []Setup {
	strict, guarded := deep()
	strict, guarded = strict.swift(), guarded.swift()
	people := strict.with()
	people.Persons, people.Faults = 0, 1
	lost, back, crowd := strict.from(PrimaryLost), strict.from(TakenOver).with(Rejoins), guarded
	lost.Faults, back.Faults, crowd.Faults, crowd.Runners = 1, 1, 1, 2
	return []Setup{
		strict.named("swift: strict fencing, two faults"),
		people.named("swift: strict fencing, a person and a fault"),
		lost.named("swift: strict fencing, the primary is lost and a fault"),
		back.named("swift: strict fencing, rejoin and a fault"),
		crowd.named("swift: dead-man and peer window, two runners and a fault"),
	}
}

// crowds are the deep bounds in which people meet functions. No function is held
// up, so that they reach the ends of operations.
func crowds() []Setup {
	strict, guarded := deep()
	strict.Faults, strict.Runners, guarded.Faults, guarded.Runners = 0, 2, 0, 2
	strict, guarded = strict.swift(), guarded.swift()
	lost, cut, back := strict.from(PrimaryLost).with(), guarded.from(PrimaryCut).with(), strict.from(TakenOver).with().twice()
	lost.Persons, cut.Persons, back.Persons = 0, 0, 0
	switches := guarded.with(Switches)
	switches.Faults = 1
	return []Setup{
		lost.named("a person and two runners, the primary is lost"),
		cut.named("a person and two runners, the primary is cut off"),
		back.named("two deeds and two runners, after a takeover"),
		switches.named("a switchover, two runners and a fault"),
	}
}

// deepWishes are the deep bounds of what people ask for, and of policies.
func deepWishes() []Setup {
	strict, guarded := deep()
	one := strict
	one.Faults = 1
	approval := one.from(PrimaryLost).with(Approves, TurnsOn).twice()
	approval.Policy = failover.Approval
	observe := one.from(PrimaryLost).with(Asks, Swaps, Acknowledges)
	observe.Policy = failover.Observe
	severed := guarded.from(PrimaryCut)
	severed.Cuts, severed.Faults = true, 1
	drift := guarded.from(PrimaryCut)
	drift.Drifts, drift.Faults = true, 1
	switches := guarded.with(Switches)
	switches.Faults = 1
	return []Setup{
		strict.with(Switches).named("strict fencing, a switchover and two faults"),
		switches.named("dead-man and peer window, a switchover and a fault"),
		approval.named("policy approval, a person and a fault"),
		observe.named("policy observe, a person and a fault"),
		one.from(PrimaryLost).with(PausesFor, Pauses, Unpauses).twice().named("maintenance, and a fault"),
		one.from(TooLate).with(Cancels, AsksLate, Resumes, TurnsOn).twice().named("a person takes over after the window, and a fault"),
		one.from(TooLate).with(Cancels, AcceptsLoss, Resumes).twice().named("a person accepts that commits are lost, and a fault"),
		one.from(TakenOver).with(Releases, TurnsOn, Rejoins, Acknowledges, Applies).twice().named("a person brings the old primary back, and a fault"),
		severed.named("a node that does not stop is cut off, and a fault"),
		drift.named("clocks that drift within their bound, and a fault"),
	}
}
