package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const (
	// reportPause lies between two reports of the same suspicion that the
	// record does not answer (R32).
	reportPause = 15 * time.Second
	// refusedPause lies between two reports of one that was refused: what was
	// missing then may be there now.
	refusedPause = time.Minute
	// refusalKept is how long the control plane does not tell a refusal again.
	refusalKept = 15 * time.Minute
)

// suspect reports what speaks against the primary to the takeover function,
// until the record shows a claim or a refusal (R32).
func (a *Agent) suspect(ctx context.Context, d declaration) {
	o := a.health.observation()
	about := a.suspicion(o)
	w := &a.watching
	w.mu.Lock()
	last := w.reported
	if about == "" {
		w.reported = report{}
	}
	w.mu.Unlock()
	switch {
	case about == "" || a.Takeover == nil || d.probe.Function == "":
		return
	case o.Role != failover.RoleStandby: // its own view must know of a standby to be promoted
		return
	}
	if last.about == about {
		pause := reportPause
		if a.answered(ctx) {
			pause = refusedPause
		}
		if a.mono()-last.at < pause || a.declaration().state.Operation != nil {
			return
		}
	} else {
		a.lookUp(ctx) // the record may have gone on without this agent
	}
	fresh := a.declaration()
	if fresh.state.Epoch != d.state.Epoch || fresh.state.Primary != d.state.Primary {
		a.watching.reset()
		return
	}
	operation := ""
	if op := fresh.state.Operation; op != nil {
		operation = op.ID
	}
	w.mu.Lock()
	told := operation != "" && w.told == operation
	w.mu.Unlock()
	if told { // somebody acts; where that is late, push asks
		return
	}
	if a.send(ctx, fresh, about, a.items(o)) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reported, w.told = report{about: about, at: a.mono()}, operation
	}
}

// answered reports whether the record shows that somebody looked at the group.
func (a *Agent) answered(ctx context.Context) bool {
	if a.mono()-a.declaration().refreshed >= reportPause/3 {
		a.lookUp(ctx)
	}
	s := a.declaration().state
	refused := s.Refused.Guard != failover.GuardRoute && a.Clock.Now().Sub(s.Refused.At) < refusalKept
	return s.Operation != nil || refused
}

// items are what this node has seen of the primary.
func (a *Agent) items(o failover.Observation) []evidence.Item {
	primary := a.declaration().state.Primary
	item := func(kind failover.Signal, at time.Time, format string, args ...any) evidence.Item {
		return evidence.Item{Source: "agent " + a.Node, Node: primary, Kind: string(kind), Value: fmt.Sprintf(format, args...), ObservedAt: at}
	}
	var all []evidence.Item
	if s := a.watching.sight(); !s.At.IsZero() {
		all = append(all, item(failover.SignalLease, s.At, "counter %d of epoch %d stands still for %s", s.Counter, s.Epoch, s.Stood.Round(100*time.Millisecond)))
	}
	lost := "hears its primary"
	if o.PartnerLost {
		lost = "does not hear its primary"
	}
	return append(all, item(failover.SignalStandbyView, a.Clock.Now(), "%s: %s %s, silent for %s", lost, o.State, o.PartnerStatus, o.PartnerSilence.Round(time.Second)))
}

const (
	// viewKept is how old the view may be that goes with a report, viewPatience
	// how long a report waits for a newer one.
	viewKept     = 500 * time.Millisecond
	viewPatience = time.Second
)

// viewAgain takes a new view of the database, unless the last one is of this
// moment.
func (a *Agent) viewAgain(ctx context.Context) {
	if a.mono()-a.health.lastView() < viewKept {
		return
	}
	done := a.looking.start(func() { a.look(ctx) })
	bounded, cancel := clock.WithTimeout(ctx, a.Clock, viewPatience)
	defer cancel()
	select {
	case <-done:
	case <-bounded.Done():
	}
}

// send writes this node's record first: what the function finds there counts,
// the report is a hint. Its view is that of now, so that the function need not
// ask for another one.
func (a *Agent) send(ctx context.Context, d declaration, about string, items []evidence.Item) bool {
	a.viewAgain(ctx)
	a.write(ctx, a.observation(a.health.latency()))
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	err := a.Takeover.Report(ctx, d.probe.Function, evidence.Report{
		Source: evidence.SourceAgent, Version: evidence.ReportVersion, Group: a.Group, Node: d.state.Primary, Evidence: items,
	})
	a.settle("takeover", err)
	if err != nil {
		return false // the next pulse tries again
	}
	a.Log.Warn("reported to the takeover function", "group", a.Group, "node", d.state.Primary, "epoch", d.state.Epoch, "about", about)
	return true
}

// push asks for an operation whose recorded step is overdue.
func (a *Agent) push(ctx context.Context, d declaration) {
	op := d.state.Operation
	about := fmt.Sprintf("operation %s at step %s is overdue", op.ID, op.Step)
	a.watching.mu.Lock()
	last := a.watching.pushed
	a.watching.mu.Unlock()
	if a.Takeover == nil || d.probe.Function == "" || last.about == about && a.mono()-last.at < reportPause {
		return
	}
	a.lookUp(ctx)
	fresh := a.declaration()
	if !a.overdue(fresh.state) {
		return
	}
	if a.send(ctx, fresh, about, []evidence.Item{{Source: "agent " + a.Node, Node: fresh.state.Primary, Kind: "overdue", Value: about, ObservedAt: a.Clock.Now()}}) {
		a.watching.mu.Lock()
		defer a.watching.mu.Unlock()
		a.watching.pushed = report{about: about, at: a.mono()}
	}
}
