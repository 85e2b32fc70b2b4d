// Checkdeep explores the decision core far deeper than the tests do, prints
// what it has seen, and fails with the shortest story of what it has found.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

func main() {
	d := deep{coverage: check.NewCoverage()}
	flag.Int64Var(&d.limit, "states", 1_000_000, "how many states of one bound are explored at most")
	flag.IntVar(&d.calm, "calm", 8, "look at the rest of every n-th state")
	bound := flag.String("bound", "", "explore only the bounds whose name contains this")
	flag.Parse()

	begin := time.Now()
	for _, s := range append(check.Sweeps(), check.Depths()...) {
		if strings.Contains(s.Name, *bound) {
			d.explore(s)
		}
	}
	took := time.Since(begin)
	fmt.Printf("%d states, %d transitions, from %d of them the group was seen to come to rest, in %d steps at most; %s, %.0f states/s\n",
		d.states, d.transitions, d.calmed, d.longest, took.Round(time.Second), float64(d.states)/took.Seconds())
	if *bound == "" {
		d.cover()
		d.learn()
		d.doubt()
	}
	if d.failed {
		os.Exit(1)
	}
}

// deep is one run.
type deep struct {
	limit                       int64
	calm                        int
	states, transitions, calmed int64
	longest                     int64
	coverage                    *check.Coverage
	failed                      bool
}

func (d *deep) fail(format string, args ...any) {
	d.failed = true
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// explore searches within one bound. Sweeps are searched whole.
func (d *deep) explore(s check.Setup) {
	search := check.Search{Setup: s, Workers: runtime.NumCPU(), Limit: d.limit, Calm: d.calm}
	if s.Sweep {
		search.Limit, search.Calm = 0, max(1, s.Sample)
	}
	at := time.Now()
	r := search.Run()
	d.states, d.transitions, d.calmed = d.states+r.States, d.transitions+r.Transitions, d.calmed+r.Calmed
	d.longest = max(d.longest, r.Longest)
	d.coverage.Merge(r.Coverage)
	whole := "complete"
	if !r.Complete {
		whole = "up to the limit"
	}
	took := time.Since(at)
	fmt.Printf("%-66s %9d states %9d transitions, depth %3d, %6d states of the core, %s, %s, %.0f states/s\n",
		s.Name, r.States, r.Transitions, r.Depth, r.Cores, whole, took.Round(time.Second), float64(r.States)/took.Seconds())
	if r.Found != "" {
		d.fail("%s: %s\n  %s", s.Name, r.Found, strings.Join(r.Story, "\n  "))
	}
}

// cover reports whether every fault was met in every step of every phase, where
// that can be.
func (d *deep) cover() {
	met, impossible, missing := d.coverage.Complete()
	fmt.Printf("%d cells of phase, step and fault: %d met, %d impossible\n", met+len(impossible)+len(missing), met, len(impossible))
	for _, why := range impossible {
		fmt.Printf("  impossible: %s\n", why)
	}
	for _, what := range missing {
		d.fail("%s", what)
	}
}

// learn leaves each rule out, and then keeps it.
func (d *deep) learn() {
	learned := check.Learn()
	killed, searched, left := check.Killed(learned)
	fmt.Printf("%d of %d rules that the model reaches have their story\n", killed, searched)
	if len(left) > 0 {
		d.fail("without a story: %v", left)
	}
	var states int64
	for _, l := range learned {
		if l.Elsewhere != "" {
			fmt.Printf("  %s: not in the model, but in %s\n", l.Rule, l.Test)
			continue
		}
		limit := d.limit
		if l.Beside != 0 { // what the others close may be found beyond
			limit = l.Result.States
		}
		r := l.Kept(limit)
		states += r.States
		if r.Found != "" {
			d.fail("%s: with the rule kept, the same search finds: %s\n  %s", l.Rule, r.Found, strings.Join(r.Story, "\n  "))
		}
	}
	fmt.Printf("with each rule kept, the same searches find nothing in %d states\n", states)
}

// doubt breaks each assumption.
func (d *deep) doubt() {
	for _, p := range check.Premises() {
		r := p.Search(false)
		found := r.Found
		if found == "" {
			found = "Nothing."
		}
		fmt.Printf("A%d broken. %s %s\n", p.Broken+1, found, p.Expected)
		if (r.Found != "") != p.Breaks {
			d.fail("A%d: that is not what is expected", p.Broken+1)
		}
		bounds := append(append([]check.Setup{}, p.Afterwards...), p.Deeply...)
		if p.Loud {
			loud := p.Setup
			loud.LoudIsEnough = true
			bounds = append(bounds, loud)
		}
		for _, s := range bounds {
			r := check.Search{Setup: s, Workers: runtime.NumCPU(), Limit: d.limit, Calm: d.calm}.Run()
			fmt.Printf("  what becomes of it: %d states, nothing else is found: %v\n", r.States, r.Found == "")
			if r.Found != "" {
				d.fail("A%d: %s\n  %s", p.Broken+1, r.Found, strings.Join(r.Story, "\n  "))
			}
		}
	}
}
