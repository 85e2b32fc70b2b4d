package simulation

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

var (
	oneSeed = flag.Uint64("seed", 0, "play this seed only, and tell its story")
	seeds   = flag.Uint64("seeds", 200, "how many seeds are played")
	first   = flag.Uint64("first", 1, "the first of them")
	twice   = flag.Uint64("twice", 2, "how many of them are played twice")
	nap     = flag.Duration("for", 0, "play no new seed after so long; 0 = no limit")
)

// TestMain lets garbage be: a seed makes a lot of it in a short time. A story
// costs more than what rapid plays a hundred times if nobody says otherwise.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// play plays a story in a bubble of its own. A goroutine that is left behind
// fails the test there.
func play(t *testing.T, story Story) (o Outcome) {
	t.Helper()
	dir := scratch(t)
	defer os.RemoveAll(dir)
	var err error
	synctest.Test(t, func(t *testing.T) { o, err = Play(t.Context(), dir, story) })
	if err != nil {
		t.Fatalf("seed %d could not be played: %v\n%s", story.Seed, err, o)
	}
	o.Violations = o.Check()
	return o
}

// scratch is a directory in memory where there is one.
func scratch(t *testing.T) string {
	t.Helper()
	for _, parent := range []string{"/dev/shm", ""} {
		// t.TempDir is on a disk, whose writes cost more than everything else.
		if dir, err := os.MkdirTemp(parent, "simulation"); err == nil { //nolint:usetesting
			return dir
		}
	}
	t.Fatal("no directory for the disks of the hosts")
	return ""
}

// TestSimulation plays many seeds. A seed that fails is told; it replays with
//
//	go test ./cmd/hadr/simulation -run TestSimulation -seed N -v
func TestSimulation(t *testing.T) {
	if *oneSeed != 0 {
		o := play(t, Draw(*oneSeed))
		t.Log(o)
		if len(o.Violations) > 0 {
			o = shorten(t, o)
		}
		complain(t, o)
		return
	}
	began := time.Now()
	var next, played atomic.Uint64
	total := tally{counts: map[string]int{}}
	next.Store(*first)
	t.Run("seeds", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1) - 1; seed < *first+*seeds && (*nap == 0 || time.Since(began) < *nap); seed = next.Add(1) - 1 {
					o := play(t, Draw(seed))
					if n := played.Add(1); n%1000 == 0 {
						t.Logf("%d seeds in %.0f s", n, time.Since(began).Seconds())
					}
					total.add(o)
					complain(t, o)
				}
			})
		}
	})
	t.Logf("%d seeds in %.1f s", played.Load(), time.Since(began).Seconds())
	t.Log(total.String())
}

// shorten leaves out of a story that goes wrong what is not needed for its first
// violation.
func shorten(t *testing.T, o Outcome) Outcome {
	t.Helper()
	for i := 0; i < len(o.Story.Incidents); {
		less := o.Story
		less.Incidents = slices.Delete(slices.Clone(less.Incidents), i, i+1)
		if shorter := play(t, less); len(shorter.Violations) > 0 && nameless(shorter.Violations[0]) == nameless(o.Violations[0]) {
			o = shorter
		} else {
			i++
		}
	}
	return o
}

// nameless is a text without random identifiers.
func nameless(text string) string { return random.ReplaceAllString(text, "") }

// complain tells a story that went wrong.
func complain(t *testing.T, o Outcome) {
	t.Helper()
	if len(o.Violations) == 0 {
		return
	}
	t.Errorf("seed %d:\n  - %s\n%s", o.Story.Seed, strings.Join(o.Violations, "\n  - "), o)
}

// tally counts over all seeds.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(o Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, n := range o.Met {
		t.counts[kind] += n
	}
	t.counts[strings.TrimSpace("= ended "+string(o.Ending)+" "+o.Why)]++
	t.counts["= epochs"] += int(o.Changes)
	t.counts["= commits"] += o.Audit.Acknowledged
	t.counts["= requests to the authority"] += len(o.History)
}

func (t *tally) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "\n%8d %s", t.counts[kind], kind)
	}
	return b.String()
}

// TestAuditSees: commits that are acknowledged and lost are seen, so that none
// elsewhere means none. The link is cut for longer than the window, and then
// somebody forces the standby to take over.
func TestAuditSees(t *testing.T) {
	t.Parallel()
	o := play(t, Story{Seed: 1, Length: 11 * time.Minute, Policy: failover.Automatic, Fencing: failover.Strict, Incidents: []Incident{
		{At: 5 * time.Second, Fault: &fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "a", Peer: "b"}}},
		{At: 10 * time.Minute, Deed: Force, Node: "b"},
	}})
	if o.Audit.Lost == 0 || len(o.Violations) == 0 {
		t.Errorf("the audit is blind: %+v\n%s", o.Audit, o)
	}
}

// TestReplay plays seeds twice: everything must happen at the same time again.
func TestReplay(t *testing.T) {
	for seed := *first; seed < *first+min(*seeds, *twice); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			a, b := play(t, Draw(seed)).Digest(), play(t, Draw(seed)).Digest()
			if a != b {
				t.Errorf("seed %d does not replay:\n%s", seed, firstDifference(a, b))
			}
		})
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return strings.Join(x[max(0, i-3):min(i+3, len(x))], "\n") + "\n--- and ---\n" + strings.Join(y[max(0, min(i, len(y))-3):min(i+3, len(y))], "\n")
		}
	}
	return "the second run is longer"
}
