package check_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

func TestSweeps(t *testing.T) {
	all := map[check.Cell]int64{}
	for _, s := range check.Sweeps() {
		t0 := time.Now()
		r := check.Search{Setup: s, Calm: 1}.Run()
		t.Logf("%s: %d states, %d transitions, depth %d, %d calmed, %s", s.Name, r.States, r.Transitions, r.Depth, r.Calmed, time.Since(t0))
		if r.Found != "" {
			t.Errorf("%s: %s", s.Name, r.Found)
			for _, line := range r.Story {
				t.Log(line)
			}
		}
		for c, n := range r.Coverage.Cells {
			all[c] += n
		}
	}
	if os.Getenv("CELLS") != "" {
		steps := map[string]map[check.Fault]bool{}
		for c := range all {
			k := fmt.Sprint(c.Phase, " ", c.Step)
			if steps[k] == nil {
				steps[k] = map[check.Fault]bool{}
			}
			steps[k][c.Fault] = true
		}
		for k, v := range steps {
			var missing []int
			for f := check.RunnerDies; f <= check.PathBlocked; f++ {
				if !v[f] {
					missing = append(missing, int(f))
				}
			}
			t.Log(k, "missing", missing)
		}
	}
}
