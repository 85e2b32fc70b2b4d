package simulation

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// TestJustJumped: what is not judged is what nobody can know of, and no more.
func TestJustJumped(t *testing.T) {
	jump := func(by time.Duration) Incident {
		return Incident{At: time.Minute, For: time.Hour, Fault: &fault.Fault{
			Kind: fault.ClockOffset, Selector: fault.Selector{Instance: "a"}, Effect: fault.Effect{Delay: fault.Duration(by)},
		}}
	}
	with := func(all ...Incident) Story {
		slices.SortFunc(all, func(i, j Incident) int { return cmp.Compare(i.At, j.At) })
		return Story{Length: 4 * time.Minute, Incidents: all}
	}
	off := func(by time.Duration, all ...Incident) Story { return with(append(all, jump(by))...) }
	cut := func(at, lasts time.Duration, place, peer string) Incident {
		return Incident{At: at, For: lasts, Fault: &fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: place, Peer: peer}}}
	}
	freeze := func(process string) Incident {
		return Incident{At: 80 * time.Second, For: 20 * time.Second, Fault: &fault.Fault{
			Kind: fault.Freeze, Selector: fault.Selector{Instance: "a"}, Effect: fault.Effect{Process: process},
		}}
	}
	const (
		s      = time.Second
		bound  = failover.DefaultMaxClockOffset
		beyond = bound + s
	)
	for _, tt := range []struct {
		name  string
		story Story
		node  string
		at    time.Duration
		want  bool
	}{
		{"at the jump", off(beyond), "a", time.Minute, true},
		{"backwards", off(-beyond), "a", time.Minute, true},
		{"before it", off(beyond), "a", time.Minute - time.Nanosecond, false},
		{"measured since", off(beyond), "a", time.Minute + unmeasured, false},
		{"within the bound", off(bound), "a", time.Minute, false},
		{"the other node", off(beyond), "b", time.Minute, false},
		{"another fault", with(Incident{At: time.Minute, Deed: Maintenance}), "a", time.Minute, false},
		{"its zone is cut off for long", off(beyond, cut(20*s, time.Hour, demo.Region+"a", "")), "a", 4*time.Minute + 24*s, true},
		{"that has ended, and its agent has told", off(beyond, cut(20*s, time.Hour, demo.Region+"a", "")), "a", 4*time.Minute + 25*s, false},
		{"its zone was cut off before", off(beyond, cut(20*s, 30*s, demo.Region+"a", "")), "a", 85 * s, false},
		{"it is cut off before its agent tells, once more after that", off(beyond, cut(80*s, 20*s, "a", ""), cut(110*s, 20*s, "a", "")), "a", 154 * s, true},
		{"it is cut off when its agent has told", off(beyond, cut(85*s, time.Minute, "a", "")), "a", 90 * s, false},
		{"it is cut off from its partner alone", off(beyond, cut(20*s, time.Hour, "a", "b")), "a", 85 * s, false},
		{"the other zone is cut off", off(beyond, cut(20*s, time.Hour, demo.Region+"b", "")), "a", 85 * s, false},
		{"it stands still", off(beyond, freeze("")), "a", 124 * s, true},
		{"a program of it stands still", off(beyond, freeze("db2sysc")), "a", 85 * s, false},
	} {
		if got := tt.story.justJumped(tt.node, tt.at); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
