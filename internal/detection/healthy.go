package detection

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// stretch is a time without a failure: [from, to). What is published before it
// belongs to it, so that no evaluation looks into nothing.
type stretch struct {
	from, to   time.Duration
	conditions *Conditions
	cuts       []span // the primary is cut off from AWS
	signals    map[*Signal][]alarm.Datum
}

// newStretch draws a stretch of that length after before.
func newStretch(r *rand.Rand, before, length time.Duration, c *Conditions, publishers map[*Signal]*publisher) *stretch {
	d := &stretch{from: before, to: before + length, conditions: c, signals: map[*Signal][]alarm.Datum{}}
	if c.Cuts > 0 && c.CutLength > 0 {
		between := float64(Month) / c.Cuts
		for at := time.Duration(r.ExpFloat64() * between); at < d.to; at += c.CutLength + time.Duration(r.ExpFloat64()*between) {
			d.cuts = append(d.cuts, span{at, at + c.CutLength})
		}
	}
	for signal, p := range publishers {
		all := signal.Stream.Publish(p.data[:0], alarm.Publication{
			Until: d.to, Offset: uniform(p.r, signal.Stream.Interval), Failure: Never, Ingest: p.ingest(c),
		})
		p.data = slices.DeleteFunc(all, func(x alarm.Datum) bool { return signal.Calls > 0 && d.cut(x.At) })
		d.signals[signal] = p.data
	}
	return d
}

// cut reports whether the primary is cut off.
func (d *stretch) cut(at time.Duration) bool {
	for _, c := range d.cuts {
		if at >= c.from && at < c.to {
			return true
		}
	}
	return false
}

// window returns a signal's data stamped within [from, to).
func (d *stretch) window(s *Signal, from, to time.Duration) []alarm.Datum {
	all := d.signals[s]
	first := sort.Search(len(all), func(i int) bool { return all[i].At >= from })
	n := sort.Search(len(all)-first, func(i int) bool { return all[first+i].At >= to })
	return all[first : first+n]
}

// lostTicks returns the ticks of a stretch that are lost, in order.
func lostTicks(r *rand.Rand, d *stretch, first, interval time.Duration) []time.Duration {
	var out []time.Duration
	if loss := d.conditions.Loss; loss > 0 {
		// The number of good ones between two lost ones is geometric.
		perLoss := math.Log1p(-loss)
		for at := first; ; at += interval {
			skip := math.Floor(math.Log1p(-r.Float64()) / perLoss)
			if skip*float64(interval) > float64(d.to-at) {
				break
			}
			at += time.Duration(skip) * interval
			if at >= d.to {
				break
			}
			out = append(out, at)
		}
	}
	for _, c := range d.cuts {
		for at := first + ceilPolls(c.from-first, interval); at < min(c.to, d.to); at += interval {
			if at >= d.from {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
