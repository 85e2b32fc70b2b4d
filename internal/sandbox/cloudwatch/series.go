package cloudwatch

import (
	"sort"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// series is the data of one metric in one unit: aggregates over a second or
// longer, in order of time.
type series struct {
	unit  string
	cells []cell
	full  int // number of cells at which the next compaction is due
}

// cell aggregates what was published for one second, or for a minute or more of
// standard resolution or old data.
type cell struct {
	start int64 // Unix time in seconds
	alarm.Aggregate
}

// firstCompaction is the number of cells that a series may have before it is
// worth a look at their age.
const firstCompaction = 4096

// cell returns the aggregate that starts at start, a new one if there is none.
func (s *series) cell(start int64) *cell {
	n := len(s.cells)
	if n > 0 && s.cells[n-1].start == start {
		return &s.cells[n-1]
	}
	i := n
	if n > 0 && s.cells[n-1].start > start {
		i = s.find(start)
		if s.cells[i].start == start {
			return &s.cells[i]
		}
	}
	s.cells = append(s.cells, cell{})
	copy(s.cells[i+1:], s.cells[i:])
	s.cells[i] = cell{start: start}
	return &s.cells[i]
}

// find returns the index of the first cell that starts at or after t.
func (s *series) find(t int64) int {
	return sort.Search(len(s.cells), func(i int) bool { return s.cells[i].start >= t })
}

// retention is how long data keeps a resolution.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html#metrics-retention
var retention = []struct {
	age        time.Duration
	resolution int64 // of data older than age, in seconds; 0 = dropped
}{
	{455 * 24 * time.Hour, 0},
	{63 * 24 * time.Hour, 3600},
	{15 * 24 * time.Hour, 300},
	{3 * time.Hour, 60},
}

// compact merges and drops old cells, at most once per doubling of the series.
func (s *series) compact(now time.Time) {
	if len(s.cells) < max(s.full, firstCompaction) {
		return
	}
	kept := s.cells[:0]
	for i := range s.cells {
		c := s.cells[i]
		start, drop := c.start, false
		for _, r := range retention {
			if c.start < now.Add(-r.age).Unix() {
				if drop = r.resolution == 0; !drop {
					start -= start % r.resolution
				}
				break
			}
		}
		switch n := len(kept); {
		case drop:
		case n > 0 && kept[n-1].start == start:
			kept[n-1].Merge(&c.Aggregate)
		default:
			c.start = start
			kept = append(kept, c)
		}
	}
	clear(s.cells[len(kept):])
	s.cells, s.full = kept, 2*len(kept)
}

// collect adds the data of [from, to) to a. Only statistics that need the single
// samples pay for them.
func (s *series) collect(a *alarm.Aggregate, from, to int64, samples bool) {
	for i := s.find(from); i < len(s.cells) && s.cells[i].start < to; i++ {
		if samples {
			a.Merge(&s.cells[i].Aggregate)
		} else {
			a.MergeSummary(&s.cells[i].Aggregate)
		}
	}
}
