package failover

import (
	"testing"
	"time"
)

// TestSealsLeftBehind (R10): a seal is taken off where nothing came of it, and
// only once nothing can come of it any more.
func TestSealsLeftBehind(t *testing.T) {
	left := Lease{Holder: "a", Epoch: 7, Counter: 41, Sealed: true, SealedBy: "op9", SealedAt: now.Add(-time.Minute), SealID: "seal1"}
	with := func(change func(*Lease)) Lease { l := left; change(&l); return l }
	tests := []struct {
		name    string
		state   func(*State)
		lease   Lease
		void    string
		told    int
		unseals bool
	}{
		{name: "nothing came of it", lease: left, void: "seal1", told: 1, unseals: true},
		{name: "it is void already: told once", lease: left, state: func(s *State) { s.VoidSeal = "seal1" }, void: "seal1", unseals: true},
		{name: "an older one is void", lease: left, state: func(s *State) { s.VoidSeal = "seal0" }, void: "seal1", told: 1, unseals: true},
		{name: "in maintenance", lease: left, state: func(s *State) { s.Maintenance.On = true }, void: "seal1", told: 1, unseals: true},
		{name: "while an old primary rejoins: that claim did not seal", lease: left, state: func(s *State) {
			s.Phase, s.Operation = Rejoining, &Operation{ID: "op2", Kind: Rejoin, From: "b", To: "a", Step: StepPeer, StepSince: now, Config: s.Config}
		}, void: "seal1", told: 1, unseals: true},
		{name: "it was claimed: that raised the epoch", lease: left, state: func(s *State) { s.Epoch = 8 }},
		{name: "it was set a moment ago", lease: with(func(l *Lease) { l.SealedAt = now.Add(-sealPatience + time.Millisecond) })},
		{name: "there is none", lease: with(func(l *Lease) { l.Sealed = false })},
		{name: "there is no lease, or it can't be read", lease: Lease{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := steadyState()
			if tt.state != nil {
				tt.state(&s)
			}
			next, effects := Step(s, Watched{At: now, Lease: tt.lease})
			told, unseals := 0, false
			for _, e := range effects {
				switch e := e.(type) {
				case Record:
					told++
				case Unseal:
					unseals = e == Unseal{Node: "a", SealID: "seal1"}
				}
			}
			if next.VoidSeal != tt.void || told != tt.told || unseals != tt.unseals {
				t.Errorf("void %q, told %d times, unseals %v; want %q, %d, %v", next.VoidSeal, told, unseals, tt.void, tt.told, tt.unseals)
			}
		})
	}
}

// TestLateSeal (R16): the old primary's dead-man looks at its lease for the last
// time long enough before the end of its window. What is sealed later is not
// seen by it, and needs a stop that is read.
func TestLateSeal(t *testing.T) {
	decided := func(c Config, left time.Duration) State {
		s := steadyState()
		s.Config = c.WithDefaults()
		s.Attempt = &Attempt{OperationID: "op1", Suspect: "a", Kind: Takeover, Fencing: PeerWindow, WindowEnd: now.Add(left), Since: now}
		return s
	}
	slow := testConfig()
	slow.PromoteDelay = time.Minute
	tests := []struct {
		name   string
		config Config
		left   time.Duration
		want   Fencing
	}{
		{"sealed at once, with just enough of the window left", testConfig(), 25 * time.Second, PeerWindow},
		{"the last moment", testConfig(), 22 * time.Second, PeerWindow},
		{"a moment later", testConfig(), 22*time.Second - 1, Strict},
		{"declared to be slow: the dead-man looks earlier, too", slow, 66 * time.Second, Strict},
		{"no window", testConfig(), 0, PeerWindow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := decided(tt.config, tt.left)
			if tt.left == 0 {
				s.Attempt.WindowEnd = time.Time{}
			}
			next, _ := Step(s, Sealed{At: now, OK: true})
			if next.Operation == nil || next.Operation.Fencing != tt.want {
				t.Errorf("operation %+v, want fencing %s", next.Operation, tt.want)
			}
		})
	}
	for _, c := range []Config{{}, {PromoteDelay: time.Second, PromoteMargin: 2 * time.Second}, {PromoteDelay: time.Hour}} {
		c = c.WithDefaults()
		if last, need := c.LastSeal(), c.PromoteDelay+c.PromoteMargin; last <= 0 || last >= need {
			t.Errorf("delay %s, margin %s: last look %s before the end, want less than %s", c.PromoteDelay, c.PromoteMargin, last, need)
		}
	}
}
