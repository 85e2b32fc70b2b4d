package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Cell is a place where a fault happened: the phase of the group, the step of
// its operation ("" = none), and the fault.
type Cell struct {
	Phase failover.Phase
	Step  failover.StepName
	Fault Fault
}

// Coverage counts how often each cell was met.
type Coverage struct{ Cells map[Cell]int64 }

func newCoverage() *Coverage { return &Coverage{map[Cell]int64{}} }

func (c *Coverage) note(f *facts, fault Fault) { c.Cells[Cell{f.phase, f.step, fault}]++ }

func (c *Coverage) merge(o *Coverage) {
	for k, n := range o.Cells {
		c.Cells[k] += n
	}
	clear(o.Cells)
}
