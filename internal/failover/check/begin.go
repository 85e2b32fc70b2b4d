package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// record is what the record holds at the beginning.
func (b Begin) record(c failover.Config) failover.State {
	s := failover.State{Group: "orders", Config: c, Epoch: 1, Primary: names[0], Phase: failover.Steady, Changed: now.Add(-long)}
	fence := failover.Fence{Epoch: 1, Method: "stop", At: now, Confirmed: true, ConfirmedAt: now}
	switch b {
	case CutOff:
		fence.Groups = []string{ownGroup}
		fallthrough
	case TakenOver, LossUnknown:
		s.Primary, s.Changed = names[1], now
		s.Cooldown = now.Add(c.Cooldown)
		s.Fenced = map[string]failover.Fence{names[0]: fence}
	case RoleUnknown:
		s.Phase, s.Fenced = failover.TakingOver, map[string]failover.Fence{names[0]: fence}
		s.Operation = takeover(failover.StepConfirm, c)
	case TooLate:
		s.Phase, s.Fenced = failover.Blocked, map[string]failover.Fence{names[0]: fence}
		s.Operation = takeover(failover.StepRestart, c)
		s.Operation.Blocked, s.Operation.Next = "node a does not come back", "cancel"
	}
	return s
}

// takeover is one to node b at a step, whose fence is confirmed.
func takeover(step failover.StepName, c failover.Config) *failover.Operation {
	return &failover.Operation{
		ID: ids[look], Kind: failover.Takeover, From: names[0], To: names[1], Step: step, Attempt: 1, Promotions: 1,
		Started: now, StepSince: now, Deadline: now.Add(c.PromoteTimeout), ReadSince: now, Fencing: failover.Strict, Config: c,
		Fence: failover.FenceProgress{Accepted: now, Confirmed: now},
	}
}

// start is the world at the beginning.
func (s *Setup) start(record coreID) world {
	w := world{link: true, ahead: s.Drifts, record: record, faults: uint8(s.Faults), people: uint8(s.People)}
	w.nodes[0] = node{role: primary, whole: true, clients: true}
	w.nodes[1] = node{role: standby, whole: true, settled: true}
	switch s.Begin {
	case PrimaryLost:
		w.halt(0, stopped)
	case PrimaryCut:
		w.link, w.nodes[0].cut = false, true
	case TakenOver, CutOff, LossUnknown:
		w.halt(0, stopped)
		w.nodes[1].whole = s.Begin != LossUnknown
		w.promote(1, false)
		w.routes = [2]uint8{1, 1}
		w.nodes[0].isolated = s.Begin == CutOff
		if s.Begin == LossUnknown {
			w.nodes[0].whole, w.nodes[1].whole = false, true // what counts from here
		}
	case RoleUnknown:
		w.halt(0, stopped)
		w.promote(1, false)
		w.cmd = command{state: succeeded, node: 1, attempt: 1}
		w.nodes[1].cut = true
	case TooLate:
		w.halt(0, stopped)
		w.pass(s, 0, peerWindow)
		if s.proves() {
			w.proof = inTime
		}
	}
	w.settle()
	return w
}
