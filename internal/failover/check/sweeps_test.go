package check_test

import (
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

// TestSweeps lets every fault happen at every moment of every course, within a
// bound that is complete. Nothing that may never be is found, the group comes to
// rest each time, and every fault was met in every step where it can happen.
func TestSweeps(t *testing.T) {
	t.Parallel()
	met := map[check.Cell]int64{}
	var states int64
	for _, s := range check.Sweeps() {
		r := check.Search{Setup: s, Calm: max(1, s.Sample)}.Run()
		t.Logf("%s: %d states, %d transitions, depth %d", s.Name, r.States, r.Transitions, r.Depth)
		if r.Found != "" || !r.Complete {
			t.Errorf("%s: %s %q", s.Name, r.Found, r.Story)
		}
		for c, n := range r.Coverage.Cells {
			met[c] += n
		}
		states += r.States
	}
	cells, impossible := check.Cells(), 0
	for _, c := range cells {
		why := c.Impossible()
		switch {
		case why != "" && met[c] > 0:
			t.Errorf("%s was met, although %s", c, why)
		case why != "":
			impossible++
		case met[c] == 0:
			t.Errorf("%s was not met: it can't happen, or the bound is too small", c)
		}
	}
	t.Logf("%d states; %d cells of phase, step and fault: %d met, %d impossible", states, len(cells), len(cells)-impossible, impossible)
}
