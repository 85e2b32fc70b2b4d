package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// Story is what goes wrong in one run.
type Story struct {
	Seed      uint64
	Length    time.Duration // when all faults end
	Leased    bool          // the group has a lease, too
	Policy    failover.Policy
	Fencing   failover.Fencing
	Restored  bool       // in the end a person brings back what is down
	Incidents []Incident // in the order of their times
}

// Incident is one thing that goes wrong, or that somebody does.
type Incident struct {
	At  time.Duration // after the beginning of the story
	For time.Duration // 0 = it has no end of its own; it ends with the story
	// Fault is one of the sandbox's. Its Instance, Place and Peer may be the name
	// of a node.
	Fault *fault.Fault
	Deed  Deed
	Node  string // of a deed
	// Program and Effect are of Death: it dies after its n-th effect from then on.
	Program string
	Effect  int
}

// Deed is what somebody does.
type Deed string

// The deeds.
const (
	Takeover    Deed = "takeover-by-hand" // on Node, past the product
	Force       Deed = "forced-by-hand"   // the same by force: what no story of a seed has, as it loses commits
	Reboot      Deed = "reboot"
	Start       Deed = "start" // of a stopped instance, as automatic recovery does
	Maintenance Deed = "maintenance"
	WatchOff    Deed = "watch-off"
	Death       Deed = "death"

	// Through the product.
	AskTakeover    Deed = "takeover"
	AskAfterWindow Deed = "takeover-after-window"
	AskSwitchover  Deed = "switchover"
	AskRejoin      Deed = "rejoin"
	Release        Deed = "release"
	Resume         Deed = "resume"
	Cancel         Deed = "cancel"
	Acknowledge    Deed = "acknowledge"
	Approve        Deed = "approve"
)

// How long a story is, and until when the first failure begins. A long one
// outlasts a peer window.
const (
	short = 4 * time.Minute
	long  = 10 * time.Minute
	early = time.Minute
)

// Draw makes the story of a seed.
func Draw(seed uint64) Story {
	return drawFrom(rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), seed)
}

// source is where the choices of a story come from.
type source interface {
	IntN(n int) int
	Int64N(n int64) int64
	Float64() float64
	Uint64() uint64
}

func drawFrom(choices source, seed uint64) Story {
	d := &draw{source: choices, story: Story{Seed: seed, Length: short}}
	if d.chance(0.2) {
		d.story.Length = long
	}
	d.failure("a", d.between(5*time.Second, early))
	if d.chance(0.5) {
		d.second()
	}
	for range d.IntN(5) {
		d.call()
	}
	for range d.IntN(3) {
		d.event()
	}
	for range d.IntN(3) {
		d.hindrance()
	}
	if d.chance(0.6) {
		d.deaths()
	}
	d.story.Leased = d.chance(0.25)
	d.story.Policy, d.story.Fencing = failover.Automatic, failover.Strict
	if d.story.Leased && d.chance(0.6) { // a dead-man stands behind it
		d.story.Fencing = failover.PeerWindow
	}
	switch {
	case d.chance(0.1):
		d.story.Policy = failover.Approval
	case d.chance(0.03):
		d.story.Policy = failover.Observe
	}
	d.orders()
	d.story.Restored = d.chance(0.3)
	slices.SortStableFunc(d.story.Incidents, func(a, b Incident) int { return int(a.At - b.At) })
	return d.story
}

// draw is a story that is being drawn.
type draw struct {
	source
	story Story
}

func (d *draw) add(i Incident) { d.story.Incidents = append(d.story.Incidents, i) }

func (d *draw) fault(at, length time.Duration, f fault.Fault) {
	if f.Probability > 0 {
		f.Seed = d.Uint64() | 1
	}
	d.add(Incident{At: at, For: length, Fault: &f})
}

func (d *draw) chance(p float64) bool { return d.Float64() < p }

// between has the resolution of the clock: no two incidents meet.
func (d *draw) between(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64(to-from)))
}

// late is until when failures begin.
func (d *draw) late() time.Duration { return d.story.Length * 3 / 4 }

func pick[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

func other(node string) string {
	if node == "a" {
		return "b"
	}
	return "a"
}

// String tells the story for people.
func (s Story) String() string {
	var b strings.Builder
	if s.Leased {
		b.WriteString("           the group has a lease\n")
	}
	if s.Policy != failover.Automatic || s.Fencing != failover.Strict {
		fmt.Fprintf(&b, "           policy %s, fencing %s\n", s.Policy, s.Fencing)
	}
	for _, i := range s.Incidents {
		fmt.Fprintf(&b, "%+8.1f s  %s\n", i.At.Seconds(), i)
	}
	return b.String()
}

// Kind names an incident for statistics.
func (i Incident) Kind() string {
	if i.Fault != nil {
		kind := string(i.Fault.Kind)
		if i.Fault.When == fault.After {
			kind += "-after"
		}
		return kind
	}
	return string(i.Deed)
}

func (i Incident) String() string {
	text := i.Kind()
	switch {
	case i.Deed == Death:
		return fmt.Sprintf("%s dies after its effect %d", i.Program, i.Effect)
	case i.Fault != nil:
		text += detail(i.Fault)
	case i.Node != "":
		text += " of node " + i.Node
	}
	if i.For > 0 {
		text += fmt.Sprintf(", for %.1f s", i.For.Seconds())
	}
	return text
}

func detail(f *fault.Fault) string {
	var b strings.Builder
	for _, part := range []struct{ name, value string }{
		{"service", f.Service}, {"operation", f.Operation}, {"role", f.Role}, {"node", f.Instance}, {"process", f.Process},
		{"place", f.Place}, {"peer", f.Peer}, {"direction", string(f.Direction)},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, " %s=%s", part.name, part.value)
		}
	}
	if f.Probability > 0 {
		fmt.Fprintf(&b, " probability=%g", f.Probability)
	}
	if f.Count > 0 {
		fmt.Fprintf(&b, " count=%d", f.Count)
	}
	if f.Delay != 0 {
		fmt.Fprintf(&b, " delay=%s", time.Duration(f.Delay).Round(100*time.Millisecond))
	}
	if f.Powered {
		b.WriteString(" powered")
	}
	return b.String()
}

// programs are those whose calls may fail; "" is everybody.
var programs = []string{demo.TakeoverFunction, demo.TakeoverFunction, demo.WatchFunction, demo.WatchFunction, ""}
