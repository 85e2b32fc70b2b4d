package casefile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// running puts an operation into the state, with what must have happened
// before its step.
func running(s *failover.State, kind failover.Kind, step failover.StepName) {
	s.Epoch = 8
	op := &failover.Operation{
		ID: "op1", Kind: kind, From: "a", To: "b", Step: step, Attempt: 1,
		Started: Now.Add(-time.Minute), StepSince: Now.Add(-10 * time.Second), Deadline: Now.Add(time.Minute),
		Trigger: "alarm " + alarmOf + "a", Fencing: failover.Strict, Routes: map[string]failover.Redirect{},
	}
	s.Operation, s.Phase = op, phaseOf(kind)
	switch kind {
	case failover.Rejoin:
		s.Primary, op.Trigger = "b", "ann asks for node a back as standby"
		s.Fenced["a"] = fenceOf(true)
		return
	case failover.Restart:
		op.Trigger = "alarm " + alarmOf + "a"
		return
	case failover.Switchover:
		op.Trigger = "ann asks for node b as primary: patching"
	case failover.Takeover:
		op.WindowEnd = Now.Add(3 * time.Minute)
		s.Fenced["a"] = fenceOf(false)
		op.Fence = fenceBefore(step)
		if !op.Fence.Confirmed.IsZero() {
			s.Fenced["a"] = fenceOf(true)
		}
	case failover.Adopt:
		if step == failover.StepFence || step == failover.StepFenced {
			s.Fenced["a"] = fenceOf(false)
			op.Fence = fenceBefore(step)
		}
	}
	promoted(s, step)
	wayBack(s, step)
}

func fenceOf(stopped bool) failover.Fence {
	f := failover.Fence{Epoch: 8, Method: "stop", At: Now.Add(-time.Minute)}
	if stopped {
		f.Confirmed, f.ConfirmedAt = true, Now.Add(-30*time.Second)
	}
	return f
}

// order are the steps of a takeover.
var order = []failover.StepName{
	failover.StepRecheck, failover.StepFence, failover.StepFenced, failover.StepPromote, failover.StepConfirm,
	failover.StepRedirect, failover.StepVerify,
}

// past reports whether a step comes after another one in a takeover. What
// leaves its order comes after the confirmation.
func past(step, other failover.StepName) bool {
	at := slices.Index(order, step)
	return at < 0 && slices.Index(order, other) <= slices.Index(order, failover.StepConfirm) || at > slices.Index(order, other)
}

// fenceBefore is what is known of the fence before a step.
func fenceBefore(step failover.StepName) (f failover.FenceProgress) {
	if past(step, failover.StepFence) {
		f.Sent, f.Tries, f.Accepted = Now.Add(-50*time.Second), 1, Now.Add(-45*time.Second)
	}
	if past(step, failover.StepFenced) {
		f.Confirmed = Now.Add(-30 * time.Second)
	}
	return f
}

// promoted is what a promotion has left behind.
func promoted(s *failover.State, step failover.StepName) {
	op := s.Operation
	if op.Kind != failover.Adopt && (past(step, failover.StepPromote) || step == failover.StepPromote) {
		op.Promotions = 1
	}
	if step == failover.StepRedirect || step == failover.StepVerify {
		s.Primary, s.Changed = op.To, Now.Add(-5*time.Second)
	}
}

// wayBack is what a takeover does that can't go on: its steps count their own
// stops and starts.
func wayBack(s *failover.State, step failover.StepName) {
	op := s.Operation
	switch step {
	case failover.StepWithdraw:
		s.Fenced["b"] = fenceOf(false)
	case failover.StepRestart:
		s.Epoch = 9
		delete(s.Fenced, "a")
	default:
		return
	}
	op.Fence.Sent, op.Fence.Tries = time.Time{}, 0
}

func phaseOf(k failover.Kind) failover.Phase {
	switch k {
	case failover.Switchover:
		return failover.SwitchingOver
	case failover.Rejoin:
		return failover.Rejoining
	}
	return failover.TakingOver
}

var (
	kinds = []failover.Kind{failover.Takeover, failover.Switchover, failover.Rejoin, failover.Adopt, failover.Restart}
	steps = append(slices.Clone(order), failover.StepWithdraw, failover.StepRestart, failover.StepBoot, failover.StepReintegrate, failover.StepPeer)
)

func operationFields(s *failover.State) fields {
	op := s.Operation
	return fields{
		"kind":            word(&op.Kind, kinds...),
		"step":            word(&op.Step, steps...),
		"id":              text(&op.ID),
		"from":            node(&op.From),
		"to":              node(&op.To),
		"started":         moment(&op.Started),
		"since":           moment(&op.StepSince),
		"deadline":        moment(&op.Deadline),
		"attempt":         number(&op.Attempt),
		"promotions":      number(&op.Promotions),
		"starts":          number(&op.Starts),
		"waits_for":       number(&op.Pending),
		"read_in_vain":    moment(&op.ReadSince),
		"last_result":     text(&op.LastResult),
		"promoting_until": moment(&op.Promoting),
		"fencing":         word(&op.Fencing, failover.Strict, failover.PeerWindow),
		"force":           force(&op.Force),
		"window_end":      moment(&op.WindowEnd),
		"old_seen":        yes(&op.OldSeen),
		"awaits_stop":     yes(&op.AwaitsStop),
		"isolated":        text(&op.Isolated),
		"trigger":         text(&op.Trigger),
		"stop_sent":       moment(&op.Fence.Sent),
		"stop_tries":      number(&op.Fence.Tries),
		"stop_accepted":   moment(&op.Fence.Accepted),
		"stop_confirmed":  moment(&op.Fence.Confirmed),
		"route *":         route(op),
		"blocked":         blocked(s),
		"next":            text(&op.Next),
	}
}

func force(to *failover.Force) setter {
	return word(to, failover.WithinWindow, failover.AfterWindow, failover.DataLoss)
}

func blocked(s *failover.State) setter {
	return func(_, v string) error {
		s.Operation.Blocked, s.Phase = v, failover.Blocked
		if v == "no" {
			s.Operation.Blocked, s.Phase = "", phaseOf(s.Operation.Kind)
		}
		return nil
	}
}

// route takes "moved", "verified", or "failed: why".
func route(op *failover.Operation) setter {
	return func(table, v string) error {
		how, why, _ := strings.Cut(v, ": ")
		r := failover.Redirect{Error: why, Tries: 1}
		switch how {
		case "moved":
			r.Moved = true
		case "verified":
			r.Moved, r.Verified = true, true
		case "failed":
		default:
			return fmt.Errorf("%q; want moved, verified, or failed: WHY", v)
		}
		op.Routes[table] = r
		return nil
	}
}

// considered is a decision that is not claimed yet.
func considered(s failover.State) *failover.Attempt {
	return &failover.Attempt{
		OperationID: "op1", Suspect: s.Primary, Alarm: alarmOf + s.Primary,
		Trigger: "alarm " + alarmOf + s.Primary, Since: Now,
	}
}

func attemptFields(a *failover.Attempt) fields {
	return fields{
		"id":         text(&a.OperationID),
		"suspect":    node(&a.Suspect),
		"alarm":      textOrNone(&a.Alarm),
		"trigger":    text(&a.Trigger),
		"human":      text(&a.Human),
		"watch":      yes(&a.Watch),
		"since":      moment(&a.Since),
		"decided":    word(&a.Kind, append([]failover.Kind{""}, kinds...)...),
		"fencing":    word(&a.Fencing, failover.Strict, failover.PeerWindow),
		"window_end": moment(&a.WindowEnd),
		"fence_old":  yes(&a.FenceOld),
		"claims":     number(&a.Claims),
		"approver":   text(&a.Approver),
		"switch":     yes(&a.Switch),
		"force":      force(&a.Force),
	}
}
