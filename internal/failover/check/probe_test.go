package check

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestProbe(t *testing.T) {
	f, _ := strconv.Atoi(os.Getenv("F"))
	p, _ := strconv.Atoi(os.Getenv("P"))
	calm, _ := strconv.Atoi(os.Getenv("CALM"))
	run, _ := strconv.Atoi(os.Getenv("RUNNERS"))
	lim, _ := strconv.Atoi(os.Getenv("LIM"))
	s := Setup{Fencing: failover.PeerWindow, Agents: os.Getenv("NOAGENTS") == "", Runners: max(run, 1), Tables: 1, Faults: f, People: p}
	if os.Getenv("STRICT") != "" {
		s.Fencing = failover.Strict
	}
	b, _ := strconv.Atoi(os.Getenv("B"))
	s.Begin = Begin(b)
	t0 := time.Now()
	r := Search{Setup: s, Limit: int64(lim), Calm: calm, Workers: 2}.Run()
	fmt.Println(r.States, r.Transitions, r.Depth, r.Cores, r.Calls, r.Calmed, r.Complete, len(r.Coverage.Cells), time.Since(t0))
	if r.Found != "" {
		fmt.Println(r.Found)
		for _, l := range r.Story {
			fmt.Println("  ", l)
		}
	}
}
