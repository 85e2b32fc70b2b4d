package failover

import (
	"fmt"
	"strings"
	"time"
)

// Guard names the check that spoke.
type Guard string

// The guards, in the order in which they are asked.
const (
	GuardBusy        Guard = "an operation is running"
	GuardNotPrimary  Guard = "not the primary"
	GuardMaintenance Guard = "maintenance"
	GuardAdopt       Guard = "an operator took over"
	GuardRedirects   Guard = "routes may still move"
	GuardOrderly     Guard = "stopped in order"
	GuardWaits       Guard = "the primary waits for its standby"
	GuardAlive       Guard = "the primary commits"
	GuardServes      Guard = "the primary does not serve"
	GuardEvidence    Guard = "evidence"
	GuardStandby     Guard = "standby not readable"
	GuardRole        Guard = "standby role"
	GuardSettings    Guard = "settings differ"
	GuardFitness     Guard = "standby not fit"
	GuardWindow      Guard = "window"
	GuardClock       Guard = "clocks"
	GuardCooldown    Guard = "cool-down"
	GuardPolicy      Guard = "policy"
	GuardLease       Guard = "lease"
	GuardStopped     Guard = "not stopped in time"
	GuardRoute       Guard = "a route leads elsewhere"
	GuardNone        Guard = "proven"
)

// Verdict is what a decision comes to.
type Verdict string

// The verdicts.
const (
	Act        Verdict = "act"
	Follow     Verdict = "follow"      // adopt the other node, which is primary already (R7)
	Hold       Verdict = "wait"        // look again; if nothing changes in time, refuse
	StartAgain Verdict = "start_again" // start the primary in place (R31)
	Ask        Verdict = "ask"         // every guard agrees, and a person has to (R9)
	Refuse     Verdict = "refuse"      // a human is needed, or nothing is to be done
)

// Decision is the answer to: may this group be taken over now?
type Decision struct {
	Verdict   Verdict
	Guard     Guard
	Reason    string // for people
	Next      string // next command for people
	Evidence  []Evidence
	Fencing   Fencing   // mode to use (R16)
	WindowEnd time.Time // see Operation.WindowEnd
	FenceOld  bool      // Follow: the old primary reads PRIMARY, too
}

// question is what the guards look at.
type question struct {
	state    State
	config   Config
	at       time.Time
	suspect  Observation
	standby  Observation
	evidence []Evidence
	human    bool
}

// Decide asks every guard in turn. The first one that speaks decides.
func Decide(s State, g Gathered) Decision {
	a := s.Attempt
	q := question{
		state: s, config: s.Config.WithDefaults(), at: g.At,
		suspect:  g.Nodes[a.Suspect],
		standby:  g.Nodes[s.Config.Other(a.Suspect)],
		evidence: g.Evidence, human: a.Human != "",
	}
	q.suspect.Node, q.standby.Node = a.Suspect, s.Config.Other(a.Suspect)
	if q.human {
		q.evidence = append(q.evidence[:len(q.evidence):len(q.evidence)], Evidence{
			Node: a.Suspect, Signal: SignalHuman, Detail: a.Trigger, At: a.Since, Source: a.Human, Conclusive: true,
		})
	}
	for _, guard := range a.guards() {
		if d := guard(q); d != nil {
			return q.orStartAgain(*d)
		}
	}
	switch {
	case a.Switch:
		return q.switched()
	case a.Force != WithinWindow:
		return q.forced(a.Force)
	}
	_, why := proven(q.evidence, a.Suspect, q.at)
	return Decision{
		Verdict: Act, Guard: GuardNone, Evidence: q.evidence,
		Reason:    fmt.Sprintf("node %s failed (%s) and node %s is fit to take over", a.Suspect, why, q.standby.Node),
		Fencing:   q.fencing(),
		WindowEnd: q.windowEnd(),
	}
}

// orStartAgain replaces a refusal that is due to the standby alone where the
// primary is certainly down: starting it again in place has everybody back in a
// minute, and loses nothing (R31).
func (q question) orStartAgain(d Decision) Decision {
	d.Evidence = q.evidence
	switch d.Guard {
	case GuardStandby, GuardRole, GuardFitness, GuardWindow, GuardClock:
	default:
		return d
	}
	if a := q.state.Attempt; a.Force != WithinWindow || a.Switch {
		return d
	}
	if !q.state.on(R31) {
		return d
	}
	late := d.Verdict == Refuse || !q.at.Before(q.state.Attempt.Since.Add(q.config.EvidenceWait-gatherPause))
	if !late || !q.suspect.crashed() && q.suspect.Instance != InstanceStopped || q.config.Policy == Approval && !q.human {
		return d
	}
	d.Verdict = StartAgain
	d.Reason = fmt.Sprintf("node %s can't take over (%s), but node %s is down for certain and has every commit", q.standby.Node, d.Reason, q.suspect.Node)
	return d
}

func maintenance(q question) *Decision {
	m := q.state.Maintenance
	if !m.Active(q.at) {
		return nil
	}
	until := "until it is ended"
	if !m.Until.IsZero() {
		until = "until " + m.Until.UTC().Format(time.RFC3339)
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardMaintenance,
		Reason: fmt.Sprintf("the group is in maintenance %s (%s)", until, orNone(m.Reason)),
		Next:   "hadr maintenance " + q.state.Group + " --off",
	}
}

// adopt follows an operator: the other node serves as PRIMARY (R7). A fenced
// node that does is an old primary that was started again, and lacks every
// commit since (R18).
func adopt(q question) *Decision {
	if _, fenced := q.state.Fenced[q.standby.Node]; fenced || !q.standby.ServesAsPrimary() || !q.state.on(R7) {
		return nil
	}
	// An old primary that can't be seen may be alive and come back as a second
	// one. It is left alone only where it is seen to be the standby now: by
	// itself, or by the new primary that is connected to it.
	standby := q.suspect.Answer == Answered && q.suspect.Role == RoleStandby
	return &Decision{
		Verdict: Follow, Guard: GuardAdopt,
		Reason:   fmt.Sprintf("node %s already reads PRIMARY: somebody took over by hand", q.standby.Node),
		FenceOld: q.suspect.Role == RolePrimary || !standby && q.standby.PartnerLost,
		Fencing:  Strict,
	}
}

// waitsForStandby: slow commits of a primary that waits for its standby are
// the standby's fault; a takeover would make them worse (R4).
func waitsForStandby(q question) *Decision {
	if q.suspect.Answer != Answered || !q.suspect.WaitsForStandby || !q.state.on(R4) {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardWaits,
		Reason: fmt.Sprintf("node %s is %s %s: its commits wait for standby %s, which is the side in trouble",
			q.suspect.Node, q.suspect.State, q.suspect.PartnerStatus, q.standby.Node),
		Next: fmt.Sprintf("look at node %s and at the network between the nodes: hadr status %s", q.standby.Node, q.state.Group),
	}
}

// commits: the one positive evidence that vetoes is a committed probe below
// the threshold that is newer than the last bad one (R5). While it is fresh
// the event waits, because a node may die right after its last good probe.
func commits(q question) *Decision {
	good, bad := q.suspect.LastGoodProbe, q.lastBad()
	if !q.state.on(R5) || q.human || good.IsZero() || !good.After(bad) || q.at.Sub(good) > probeAge {
		return nil
	}
	return &Decision{
		Verdict: Hold, Guard: GuardAlive,
		Reason: fmt.Sprintf("node %s committed a probe at %s, after its last bad one", q.suspect.Node, stamp(good)),
		Next:   "hadr status " + q.state.Group,
	}
}

func unproven(q question) *Decision {
	ok, why := proven(q.evidence, q.suspect.Node, q.at)
	first := ""
	if doubt, look := q.doubt(); ok && doubt != "" {
		ok, why, first = false, doubt, look
	}
	if ok || !q.state.on(R8) {
		return nil
	}
	return &Decision{
		Verdict: Hold, Guard: GuardEvidence, Reason: why,
		Next: first + fmt.Sprintf("hadr status %s, and if the primary is dead: hadr takeover %s --from %s --reason WHY", q.state.Group, q.state.Group, q.suspect.Node),
	}
}

func standbyUnread(q question) *Decision {
	if q.standby.Answer == Answered {
		return nil
	}
	return &Decision{
		Verdict: Hold, Guard: GuardStandby,
		Reason: fmt.Sprintf("node %s gives no answer that can be used (%s): %s", q.standby.Node, orNone(string(q.standby.Answer)), orNone(q.standby.AnswerError)),
		Next:   "hadr status " + q.state.Group,
	}
}

func standbyRole(q question) *Decision {
	if q.standby.Role == RoleStandby {
		return nil
	}
	next := q.named(q.standby.FitnessNext)
	if next == "" {
		next = "hadr status " + q.state.Group
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardRole,
		Reason: fmt.Sprintf("node %s is not a running standby: role %s, database %s%s", q.standby.Node, orNone(string(q.standby.Role)), orNone(string(q.standby.Database)), because(q.standby.FitnessWhy)),
		Next:   next,
	}
}

// named puts the group and the failed node into an engine's next command: an
// engine knows neither.
func (q question) named(next string) string {
	return strings.NewReplacer("GROUP", q.state.Group, "NODE", q.suspect.Node).Replace(next)
}

func settings(q question) *Decision {
	for _, o := range []Observation{q.standby, q.suspect} {
		if o.SettingsDiffer != "" {
			return &Decision{
				Verdict: Refuse, Guard: GuardSettings,
				Reason: fmt.Sprintf("node %s reports other settings than declared: %s", o.Node, o.SettingsDiffer),
				Next:   "change the database configuration or the declaration so that they agree, then terraform apply",
			}
		}
	}
	return nil
}

func fitness(q question) *Decision {
	if q.state.fit(q.standby) {
		return nil
	}
	why, next := q.standby.FitnessWhy, q.named(q.standby.FitnessNext)
	if why == "" {
		why = "nothing that was read says that it has every commit"
	}
	if next == "" {
		next = "hadr status " + q.state.Group
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardFitness,
		Reason: fmt.Sprintf("node %s (%s %s) may not be promoted without loss: %s", q.standby.Node, q.standby.State, q.standby.PartnerStatus, why),
		Next:   next,
	}
}

// fit reports whether a standby may be promoted without loss. Where it is not,
// nothing but a human makes it primary (R19).
func (s State) fit(o Observation) bool { return o.Fitness == Fit || !s.on(R19) }

// clocks: the window is counted on the primary's clock and compared with the
// standby's, so both must agree (R8).
func clocks(q question) *Decision {
	if q.standby.PromoteUntil.IsZero() || !q.state.on(R8) {
		return nil
	}
	for _, o := range []Observation{q.suspect, q.standby} {
		if o.ClockOffsetAt.IsZero() || q.at.Sub(o.ClockOffsetAt) > clockOffsetAge {
			return &Decision{
				Verdict: Refuse, Guard: GuardClock,
				Reason: fmt.Sprintf("the clock of node %s was not measured within the last %s, so the window's end can't be trusted", o.Node, clockOffsetAge),
				Next:   "compare the clocks of both nodes (chronyc tracking), then: hadr status " + q.state.Group,
			}
		}
	}
	offset := (q.suspect.ClockOffset - q.standby.ClockOffset).Abs()
	if offset <= q.config.MaxClockOffset {
		return q.goesOnAlone()
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardClock,
		Reason: fmt.Sprintf("the clocks of the nodes differ by %s; at most %s is allowed", offset.Round(10*time.Millisecond), q.config.MaxClockOffset),
		Next:   "correct the clocks (chronyc makestep) on both nodes",
	}
}

// goesOnAlone: where the primary itself has waited for its standby to the end of
// the window, and the standby's window lasts, the clocks differ by more than was
// measured. What the primary has committed since, the standby lacks.
func (q question) goesOnAlone() *Decision {
	o := q.suspect
	waits := o.WaitsForStandby || o.HostTime.Before(o.BlockedUntil)
	if !o.ServesAsPrimary() || !o.PartnerLost || waits || q.windowLeft() <= 0 {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardClock,
		Reason: fmt.Sprintf("node %s is primary without its standby (%s %s) and does not wait for it any more, although the window of node %s lasts for %s: their clocks differ, and node %s may have committed what node %s lacks",
			o.Node, o.State, o.PartnerStatus, q.standby.Node, q.windowLeft().Round(time.Second), o.Node, q.standby.Node),
		Next: "compare the clocks of both nodes (chronyc tracking), then: hadr status " + q.state.Group,
	}
}

// window: enough of it must be left when the promotion is expected to start (R8).
func window(q question) *Decision {
	if q.standby.PromoteUntil.IsZero() || !q.state.on(R8) {
		return nil
	}
	left := q.windowLeft()
	need := q.config.PromoteDelay + q.config.PromoteMargin
	if left >= need {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardWindow,
		Reason: fmt.Sprintf("%s of the window are left and a takeover needs %s (start in %s, margin %s)",
			left.Round(time.Second), need, q.config.PromoteDelay, q.config.PromoteMargin),
		Next: fmt.Sprintf("bring node %s back if that is possible (start its machine or its database); only if what it committed last may be lost: hadr takeover %s --from %s --allow-data-loss --reason WHY",
			q.suspect.Node, q.state.Group, q.suspect.Node),
	}
}

// windowLeft is the time until a promotion would be refused, now.
func (q question) windowLeft() time.Duration {
	return q.standby.PromoteUntil.Sub(q.standby.HostTime) - q.at.Sub(q.standby.ReadAt)
}

func (q question) windowEnd() time.Time {
	if q.standby.PromoteUntil.IsZero() {
		return time.Time{}
	}
	return q.at.Add(q.windowLeft())
}

// fencing is the declared mode, or strict where the dead-man that peer_window
// rests on has not been seen in force (R16), or where moving the endpoint
// leaves clients on the old primary (R25).
func (q question) fencing() Fencing {
	if q.config.HostApplications && q.state.on(R25) {
		return Strict
	}
	if q.config.Fencing == PeerWindow && q.suspect.DeadManUntil.After(q.at) || !q.state.on(R16) {
		return PeerWindow
	}
	return Strict
}

// cooldown holds the next takeover back, unless the standby has been back and
// connected for a while: then a second failure is a new one (R30).
func cooldown(q question) *Decision {
	if q.human || !q.at.Before(q.state.Cooldown) {
		return nil
	}
	if c := q.standby.ConnectedSince; q.state.on(R30) && !c.IsZero() && q.at.Sub(c) >= settling {
		return nil
	}
	return &Decision{
		Verdict: Refuse, Guard: GuardCooldown,
		Reason: fmt.Sprintf("the last takeover was at %s and the cool-down lasts until %s", stamp(q.state.Changed), stamp(q.state.Cooldown)),
		Next:   fmt.Sprintf("hadr takeover %s --from %s --reason WHY", q.state.Group, q.suspect.Node),
	}
}

func policy(q question) *Decision {
	if q.human || q.state.Attempt.Approver != "" || q.config.Policy != Approval {
		return nil
	}
	_, why := proven(q.evidence, q.suspect.Node, q.at)
	return &Decision{
		Verdict: Ask, Guard: GuardPolicy,
		Reason:    fmt.Sprintf("node %s failed (%s), node %s is fit to take over, and the policy is approval", q.suspect.Node, why, q.standby.Node),
		WindowEnd: q.windowEnd(),
	}
}

// because joins a reason that may be missing to what it explains.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
