package simulation

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Ending is how a group came to rest.
type Ending string

// The endings.
const (
	Serving  Ending = "serving" // steady, and clients write to the recorded primary
	Blocked  Ending = "blocked" // with the way out
	Refused  Ending = "refused" // steady, nobody serves, and the history names the way out
	Restless Ending = "restless"
)

const (
	look = 10 * time.Second
	// stable is how long a group must be as it is to be at rest: watch has looked
	// twice by then.
	stable = 130 * time.Second
	// limit is how long it may take: the longest way is a start in place, a window
	// that ends, and a takeover's bounded waits.
	limit = 25 * time.Minute
)

// rest waits until the group is at rest, and says how.
func (p *player) rest(ctx context.Context) error {
	var since time.Time
	var was Ending
	end := p.stage.Clock.Now().Add(limit)
	for {
		now := p.stage.Clock.Now()
		is := p.ending(ctx)
		if is != was {
			was, since = is, now
		}
		switch {
		case is != Restless && now.Sub(since) >= stable:
			p.out.Ending = is
			p.note("the group is at rest: %s", is)
			return nil
		case now.After(end):
			p.out.Ending = Restless
			p.violated("the group does not come to rest within %s after the last fault", limit)
			return nil
		}
		if err := p.stage.Clock.Sleep(ctx, look); err != nil {
			return err
		}
	}
}

// ending says how the group is now.
func (p *player) ending(ctx context.Context) Ending {
	s, err := p.table.Load(ctx, demo.Group)
	switch {
	case err != nil:
		return Restless
	case s.Phase == failover.Blocked && s.Operation != nil && s.Operation.Next != "":
		p.out.Why = "at step " + string(s.Operation.Step)
		return Blocked
	case s.Operation != nil || s.Phase != failover.Steady:
		return Restless
	case p.writes(s.Primary):
		p.out.Why = ""
		return Serving
	}
	// A reason is told once, not at every look.
	history, err := p.table.History(ctx, demo.Group, 0)
	if err != nil {
		return Restless
	}
	i := slices.IndexFunc(history, func(e failover.Entry) bool {
		return slices.Contains([]string{"refused", "would_have_acted", "approval_wanted", "ended", "started"}, e.Event)
	})
	if i >= 0 && history[i].Event != "ended" && history[i].Event != "started" && history[i].Next != "" {
		p.out.Why, _, _ = strings.Cut(history[i].Reason, ":")
		return Refused
	}
	return Restless
}

// writes reports whether a node acknowledged a commit a moment ago.
func (p *player) writes(node string) bool {
	since := p.stage.Clock.Now().Add(-look)
	acks := p.load.Acks()
	return slices.ContainsFunc(acks[max(0, len(acks)-50):], func(a demo.Ack) bool { return a.At.After(since) && a.Node == p.stage.NodeName(node) })
}
