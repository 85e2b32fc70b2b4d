package check_test

import (
	"runtime"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

// TestSweeps lets every fault happen at every moment of every course, within a
// bound that is complete. Nothing that may never be is found, the group comes to
// rest each time, and every fault was met in every step where it can happen.
func TestSweeps(t *testing.T) {
	t.Parallel()
	covered := check.NewCoverage()
	var states, longest int64
	for _, s := range check.Sweeps() {
		r := check.Search{Setup: s, Workers: runtime.GOMAXPROCS(0), Calm: max(1, s.Sample)}.Run()
		t.Logf("%s: %d states, %d transitions, depth %d", s.Name, r.States, r.Transitions, r.Depth)
		if r.Found != "" || !r.Complete {
			t.Errorf("%s: %s %q", s.Name, r.Found, r.Story)
		}
		covered.Merge(r.Coverage)
		states, longest = states+r.States, max(longest, r.Longest)
	}
	met, impossible, missing := covered.Complete()
	for _, what := range missing {
		t.Error(what)
	}
	t.Logf("%d states, at rest after %d steps at most; %d cells of phase, step and fault: %d met, %d impossible", states, longest, len(check.Cells()), met, len(impossible))
}
