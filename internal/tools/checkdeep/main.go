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
	limit := flag.Int64("states", 6_000_000, "how many states of one bound are explored at most")
	calm := flag.Int("calm", 8, "look at the rest of every n-th state")
	bound := flag.String("bound", "", "explore only the bounds whose name contains this")
	flag.Parse()
	var states, transitions, calmed int64
	begin := time.Now()
	for _, s := range check.Depths() {
		if !strings.Contains(s.Name, *bound) {
			continue
		}
		at := time.Now()
		r := check.Search{Setup: s, Workers: runtime.NumCPU(), Limit: *limit, Calm: *calm}.Run()
		states, transitions, calmed = states+r.States, transitions+r.Transitions, calmed+r.Calmed
		whole := "complete"
		if !r.Complete {
			whole = "up to the limit"
		}
		took := time.Since(at)
		fmt.Printf("%-64s %9d states %9d transitions, depth %2d, %d states of the core, %d calls of Step, %s, %s, %.0f states/s\n",
			s.Name, r.States, r.Transitions, r.Depth, r.Cores, r.Calls, whole, took.Round(time.Second), float64(r.States)/took.Seconds())
		if r.Found != "" {
			fmt.Fprintf(os.Stderr, "%s\n  %s\n", r.Found, strings.Join(r.Story, "\n  "))
			os.Exit(1)
		}
	}
	took := time.Since(begin)
	fmt.Printf("%d states, %d transitions, from %d of them the group was seen to come to rest; %s, %.0f states/s\n",
		states, transitions, calmed, took.Round(time.Second), float64(states)/took.Seconds())
	killed, searched, left := check.Killed(check.Learn())
	fmt.Printf("%d of %d rules that the model reaches have their story\n", killed, searched)
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "without a story: %v\n", left)
		os.Exit(1)
	}
}
