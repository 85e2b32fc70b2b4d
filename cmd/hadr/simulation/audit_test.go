package simulation

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// TestJustJumped: what is not judged is what nobody can know of, and no more.
func TestJustJumped(t *testing.T) {
	off := func(by time.Duration) Story {
		return Story{Incidents: []Incident{{At: time.Minute, For: time.Hour, Fault: &fault.Fault{
			Kind: fault.ClockOffset, Selector: fault.Selector{Instance: "a"}, Effect: fault.Effect{Delay: fault.Duration(by)},
		}}}}
	}
	const bound = failover.DefaultMaxClockOffset
	for _, tt := range []struct {
		name  string
		story Story
		node  string
		at    time.Duration
		want  bool
	}{
		{"at the jump", off(bound + time.Second), "a", time.Minute, true},
		{"backwards", off(-bound - time.Second), "a", time.Minute, true},
		{"before it", off(bound + time.Second), "a", time.Minute - time.Nanosecond, false},
		{"measured since", off(bound + time.Second), "a", time.Minute + unmeasured, false},
		{"within the bound", off(bound), "a", time.Minute, false},
		{"the other node", off(bound + time.Second), "b", time.Minute, false},
		{"another fault", Story{Incidents: []Incident{{At: time.Minute, Deed: Maintenance}}}, "a", time.Minute, false},
	} {
		if got := tt.story.justJumped(tt.node, tt.at); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
