package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Sweeps are bounds in which every fault happens at every moment of every
// course, and nothing else goes wrong afterwards. They are complete, and small
// enough for every run of the tests.
func Sweeps() []Setup {
	strict := Setup{Fencing: failover.Strict, Runners: 1, Tables: 1, Faults: 1, Persons: Only(deedCount), Sweep: true, Swift: true}
	guarded := strict
	guarded.Fencing, guarded.Agents = failover.PeerWindow, true
	lost := strict.from(PrimaryLost)
	cut := guarded.from(PrimaryCut)
	cut.Faults = 0
	twice := strict.from(TakenOver).with(Rejoins)
	people := strict.with()
	people.Persons = 0
	alive := strict.from(PrimaryCut)
	unknown := strict.from(RoleUnknown)
	alive.Sample, unknown.Sample = 64, 64
	named := func(name string, s Setup) Setup { s.Name = name; return s }
	return []Setup{
		named("strict fencing, the primary is cut off", alive),
		named("strict fencing, the role of the new primary is not known", unknown),
		named("strict fencing, from peer state", strict),
		named("dead-man and peer window, from peer state", guarded),
		named("strict fencing, the primary is lost", lost),
		named("dead-man and peer window, the primary is cut off", cut),
		named("strict fencing, rejoin after a takeover", twice),
		named("strict fencing, people", people),
	}
}

// Depths are the bounds of make check-deep. They hold no runner back from being
// held up, and let faults happen on top of each other.
func Depths() []Setup {
	strict := Setup{Fencing: failover.Strict, Runners: 1, Tables: 1, Faults: 2, Persons: Only(deedCount)}
	guarded := strict
	guarded.Fencing, guarded.Agents = failover.PeerWindow, true
	people := strict.with()
	people.Persons, people.Faults = 0, 1
	lost := strict.from(PrimaryLost)
	lost.Faults = 1
	cut := guarded.from(PrimaryCut)
	cut.Faults = 1
	back := strict.from(TakenOver).with(Rejoins)
	back.Faults = 1
	crowd := guarded
	crowd.Runners, crowd.Faults = 2, 1
	named := func(name string, s Setup) Setup { s.Name = name; return s }
	return []Setup{
		named("strict fencing, two faults", strict),
		named("strict fencing, a person and a fault", people),
		named("strict fencing, the primary is lost and a fault", lost),
		named("strict fencing, rejoin and a fault", back),
		named("dead-man and peer window, the primary is cut off and a fault", cut),
		named("dead-man and peer window, two runners and a fault", crowd),
		named("dead-man and peer window, two faults", guarded),
	}
}
