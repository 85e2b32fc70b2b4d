package agent

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestVowOfAnEarlierAgent: an agent that starts makes the vow of the one before
// it true or void, and nothing else: it ends no primary that renews in time, and
// leaves none to itself.
func TestVowOfAnEarlierAgent(t *testing.T) {
	const forever = time.Hour
	became := func(role failover.Role) func(*fencing) {
		return func(f *fencing) {
			f.primary, f.epoch = "b", 8
			f.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseActive, Role: role}
		}
	}
	tests := []struct {
		name   string
		none   bool          // there is no such vow
		left   time.Duration // of it
		away   time.Duration // for how long the record can't be read
		silent bool          // and gives no answer meanwhile
		change func(*fencing)
		after  time.Duration // the database is fenced, 0 = it is not
		vows   string        // what becomes of the vow
	}{
		{name: "it renews the lease", left: 3 * time.Second, vows: "kept"},
		{name: "the record is away for less than is left", left: 3 * time.Second, away: 2100 * time.Millisecond, vows: "kept"},
		{name: "it is cut off", left: 3 * time.Second, away: forever, after: 3 * time.Second, vows: "lifted"},
		{name: "it is cut off and gets no answer", left: 3 * time.Second, away: forever, silent: true, after: 3 * time.Second, vows: "lifted"},
		{name: "no agent ran for long, and it can read the record", left: -time.Hour, vows: "kept"},
		{name: "no agent ran for long, and the record is away for a moment", left: -time.Hour, away: 600 * time.Millisecond, vows: "kept"},
		{name: "no agent ran for long, and it is cut off", left: -time.Hour, away: forever, after: inheritedLeast, vows: "lifted"},
		{name: "no vow, and it is cut off", none: true, away: forever},
		{name: "self-fencing is not declared any more", left: 3 * time.Second, change: func(f *fencing) { f.forgoes = true }, vows: "lifted"},
		{name: "its database is a standby now", left: 3 * time.Second, change: became(failover.RoleStandby), vows: "lifted"},
		{name: "a takeover came, and its database serves on", left: 3 * time.Second, change: became(failover.RolePrimary), after: 6 * time.Second, vows: "lifted"},
		{name: "a takeover came before any vow", none: true, change: became(failover.RolePrimary)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fencing{host: leasedHost()}
				if !tt.none {
					f.kept = &Promise{Left: tt.left, Limit: time.Second}
				}
				if tt.change != nil {
					tt.change(f)
				}
				if tt.away > 0 {
					f.cutOff = tt.silent
					f.recordErr = errors.New("no route")
					f.after(tt.away, func() { f.cutOff, f.recordErr = false, nil })
				}
				began := time.Now()
				run(t, f.agent(), time.Minute)
				switch {
				case tt.after == 0 && len(f.fenced) > 0:
					t.Errorf("fenced after %s", f.fenced[0].Sub(began))
				case tt.after > 0 && len(f.fenced) != 1:
					t.Errorf("fenced %d times, want once", len(f.fenced))
				case tt.after > 0 && f.fenced[0].Sub(began) > tt.after:
					t.Errorf("fenced after %s, want %s", f.fenced[0].Sub(began), tt.after)
				case tt.after > 0 && tt.left > 0 && f.fenced[0].Sub(began) < tt.left:
					t.Errorf("fenced after %s, and %s were left", f.fenced[0].Sub(began), tt.left)
				}
				if vows := strings.Join(f.vows, " "); !tt.none && vows != tt.vows {
					t.Errorf("the vow was %q, want %q", vows, tt.vows)
				}
			})
		})
	}
}

// A fence that fails at a start is tried again.
func TestVowOfAnEarlierAgentIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fencing{host: leasedHost(), fenceErr: errors.New("process 7 is still there"), kept: &Promise{Left: time.Second, Limit: time.Second}}
		f.recordErr = errors.New("no route")
		f.after(10*time.Second, func() { f.fenceErr = nil })
		run(t, f.agent(), 20*time.Second)
		if len(f.fenced) < 10 || f.kept != nil {
			t.Errorf("tried %d times, still vowed: %v", len(f.fenced), f.kept)
		}
	})
}

// TestVowEndsBeforeTheLease: whoever reads it after a crash of the agent can
// still fence in time.
func TestVowEndsBeforeTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fencing{host: leasedHost()}
		run(t, f.agent(), 61*time.Second)
		renewed := f.renewals[len(f.renewals)-1].at
		left := f.due[len(f.due)-1].Sub(renewed)
		if left <= 0 || left+f.kept.Limit >= f.duration-failover.DefaultDrift {
			t.Errorf("fences %s after the last renewal and for %s, and the lease lasts %s", left, f.kept.Limit, f.duration)
		}
		if len(f.due) < len(f.renewals)-1 {
			t.Errorf("%d renewals, and %d vows", len(f.renewals), len(f.due))
		}
	})
}

// TestVowOfAnAgentThatWasStopped: it is lifted with the lease's word that its
// silence proves nothing, and only with that.
func TestVowOfAnAgentThatWasStopped(t *testing.T) {
	for name, away := range map[string]bool{"it says so": false, "it can't say so": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fencing{host: leasedHost()}
				a := f.agent()
				run(t, a, 61*time.Second)
				if away {
					f.recordErr = errors.New("no route")
				}
				a.Leave(t.Context())
				if (f.kept != nil) != away {
					t.Errorf("still vowed: %+v", f.kept)
				}
			})
		})
	}
}
