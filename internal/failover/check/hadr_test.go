package check

import "testing"

// pairInPeer is a pair in peer state, with clients on node a.
func pairInPeer() world { return (&Setup{}).start(0) }

// TestTakeoverByForce is what Db2 documents for BY FORCE PEER WINDOW ONLY.
func TestTakeoverByForce(t *testing.T) {
	tests := []struct {
		name   string
		change func(*world)
		want   bool
	}{
		{"in peer state", func(*world) {}, true},
		{"the primary has died a moment ago", func(w *world) { w.halt(0, stopped) }, true},
		{"the window is over", func(w *world) { w.halt(0, stopped); w.pass(&Setup{}, 0, peerWindow) }, false},
		{"the window is over, and the clock is behind", func(w *world) { w.skew = true; w.halt(0, stopped); w.pass(&Setup{}, 0, peerWindow) }, true},
		{"it catches up", func(w *world) { w.link = false; w.settle(); w.link = true; w.connect() }, false},
		{"its database is down", func(w *world) { w.halt(1, running) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := pairInPeer()
			tt.change(&w)
			if got := w.promote(1, false); got != tt.want {
				t.Errorf("promoted: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestCommits: a primary without its standby waits for the end of its window,
// and what it commits after that is missing on the standby.
func TestCommits(t *testing.T) {
	w := pairInPeer()
	w.link = false
	w.settle()
	if acks, _ := w.acknowledges(0); acks || !w.nodes[1].whole {
		t.Fatalf("it commits within its window: %+v", w.nodes)
	}
	w.pass(&Setup{}, 0, peerWindow)
	if acks, _ := w.acknowledges(0); !acks || w.nodes[1].whole {
		t.Fatalf("it does not go on alone: %+v", w.nodes)
	}
	w.promote(1, true)
	w.routes = [2]uint8{1, 1}
	if w.settle(); w.wrong != twoWriters {
		t.Errorf("two primaries with clients: %v", w.wrong)
	}
}

// TestDeadMan: the agent of a primary that sees neither standby nor lease ends
// its database before the window does; for the loss of the lease alone it does
// not.
func TestDeadMan(t *testing.T) {
	s := &Setup{Agents: true}
	for _, tt := range []struct {
		name        string
		link, lease bool
		want        database
	}{
		{"neither", false, false, down},
		{"standby", true, false, active},
		{"lease", false, true, active},
	} {
		w := pairInPeer()
		w.link = tt.link
		if !tt.lease {
			w.seal = shut
		}
		w.settle()
		if w.pass(s, 0, peerWindow); w.nodes[0].database != tt.want {
			t.Errorf("it sees %s: database %d, want %d", tt.name, w.nodes[0].database, tt.want)
		}
	}
}

// TestSet: every hash is new once, and knows its parent, however full it gets.
func TestSet(t *testing.T) {
	s := newSet()
	hash := func(i uint64) uint64 { return i * 0x9e3779b97f4a7c15 }
	for i := uint64(1); i < 100_000; i++ {
		if !s.add(hash(i), i) {
			t.Fatalf("%d is not new", i)
		}
	}
	for i := uint64(1); i < 100_000; i++ {
		if s.add(hash(i), 0) || s.parent(hash(i)) != i {
			t.Fatalf("%d: parent %d", i, s.parent(hash(i)))
		}
	}
	if _, ok := s.get(hash(100_000)); ok || s.len() != 99_999 {
		t.Errorf("%d hashes", s.len())
	}
}

// BenchmarkSearch is a complete small search.
func BenchmarkSearch(b *testing.B) {
	var states int64
	for b.Loop() {
		states += Search{Setup: Sweeps()[2], Calm: 1}.Run().States
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}
