package detection

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Simulation is what is asked of the model.
type Simulation struct {
	Sets       []Set
	Failures   []Failure  // kinds; nil = all
	Trials     int        // failures of each kind
	Days       int        // days without a failure, to count false alarms
	Seed       uint64     // the same seed gives the same figures
	Conditions Conditions // of the failures
	Healthy    Conditions // of the days without a failure
	Prices     *Prices    // nil = AssumedPrices
}

// Limits of a simulation.
const (
	MaxTrials = 10_000_000
	MaxDays   = 100_000
)

// part is how many failures are drawn from one source of randomness. Parts are
// simulated side by side; the figures do not depend on how many at once.
const part = 2_000

func (s *Simulation) check() error {
	switch {
	case len(s.Sets) == 0:
		return errors.New("nothing to simulate: no set of detectors is given")
	case s.Trials < 1 || s.Trials > MaxTrials:
		return fmt.Errorf("%d failures: want 1 to %d", s.Trials, MaxTrials)
	case s.Days < 0 || s.Days > MaxDays:
		return fmt.Errorf("%d days: want 0 to %d", s.Days, MaxDays)
	}
	for _, set := range s.Sets {
		if len(set.Detectors) == 0 {
			return fmt.Errorf("set %s has no detectors", set.Name)
		}
	}
	return errors.Join(s.Conditions.Check(), s.Healthy.Check())
}

// Run simulates all failures with all sets.
func (s Simulation) Run(ctx context.Context) (Report, error) {
	if s.Failures == nil {
		s.Failures = Failures
	}
	if err := s.check(); err != nil {
		return Report{}, err
	}
	r := Report{Seed: s.Seed, Trials: s.Trials, Days: s.Days, Conditions: s.Conditions, Healthy: s.Healthy}
	c := s.compile()
	prices := AssumedPrices
	if s.Prices != nil {
		prices = *s.Prices
	}
	for _, set := range s.Sets {
		bill := set.Cost(prices)
		r.Sets = append(r.Sets, SetReport{Name: set.Name, Notes: set.Notes(), Cost: bill, MonthlyUSD: Monthly(bill), FalseAlarms: Rate{Days: s.Days}})
	}
	for _, f := range s.Failures {
		times, err := c.fail(ctx, f)
		if err != nil {
			return Report{}, err
		}
		for i, set := range s.Sets {
			r.Sets[i].Failures = append(r.Sets[i].Failures, summarise(f, times[i], set.Worst(f)))
		}
	}
	counts, err := c.live(ctx)
	for i, n := range counts {
		r.Sets[i].FalseAlarms.Count = n
	}
	return r, err
}

// compiled is a simulation with each detector once, whatever sets it is in.
type compiled struct {
	*Simulation
	detectors []Detector
	members   [][]int // of each set: places in detectors
	signals   []*Signal
}

func (s *Simulation) compile() *compiled {
	c := &compiled{Simulation: s}
	place := map[string]int{}
	for _, set := range s.Sets {
		var members []int
		for _, d := range set.Detectors {
			i, known := place[d.Key()]
			if !known {
				i = len(c.detectors)
				place[d.Key()] = i
				c.detectors = append(c.detectors, d)
				for _, signal := range d.signals() {
					if !slices.Contains(c.signals, signal) {
						c.signals = append(c.signals, signal)
					}
				}
			}
			members = append(members, i)
		}
		c.members = append(c.members, members)
	}
	return c
}

// watchers are fresh for each part.
func (c *compiled) watchers(n uint64) []watcher {
	out := make([]watcher, len(c.detectors))
	for i, d := range c.detectors {
		out[i] = d.watcher(newRand(c.Seed, d.Key(), n))
	}
	return out
}

// publishers are fresh for each part, with the longest horizon that a detector
// needs.
func (c *compiled) publishers(n uint64, horizon func(Detector) (before, after time.Duration)) (map[*Signal]*publisher, time.Duration) {
	out := map[*Signal]*publisher{}
	for _, s := range c.signals {
		out[s] = &publisher{r: newRand(c.Seed, s.Name, n), signal: s}
	}
	earliest := time.Duration(0)
	for _, d := range c.detectors {
		before, after := horizon(d)
		earliest = max(earliest, before)
		for _, s := range d.signals() {
			out[s].before, out[s].after = max(out[s].before, before), max(out[s].after, after)
		}
	}
	return out, earliest
}

// fail simulates failures of one kind and returns the times of each set.
func (c *compiled) fail(ctx context.Context, f Failure) ([][]time.Duration, error) {
	out := make([][]time.Duration, len(c.Sets))
	for i := range out {
		out[i] = make([]time.Duration, c.Trials)
	}
	err := inParts(ctx, (c.Trials+part-1)/part, func(n int) {
		publishers, earliest := c.publishers(uint64(n), func(d Detector) (time.Duration, time.Duration) { return d.horizon(f) })
		watchers := c.watchers(uint64(n))
		r := newRand(c.Seed, "failure "+string(f), uint64(n))
		t := &trial{failure: f, conditions: &c.Conditions, published: publishers}
		seen := make([]time.Duration, len(watchers))
		times := make([]time.Duration, 0, len(watchers))
		for k := n * part; k < min((n+1)*part, c.Trials); k++ {
			t.next(r, earliest)
			for i, w := range watchers {
				seen[i] = w.sees(t)
			}
			for i, members := range c.members {
				times = times[:0]
				for _, m := range members {
					times = append(times, seen[m])
				}
				out[i][k] = c.Sets[i].when(times)
			}
		}
	})
	return out, err
}

// live simulates days without a failure and counts how often each set suspects
// the primary. Every day has phases of its own.
func (c *compiled) live(ctx context.Context) ([]int, error) {
	perDay := make([][]int, c.Days)
	err := inParts(ctx, c.Days, func(n int) {
		publishers, before := c.publishers(uint64(n), func(d Detector) (time.Duration, time.Duration) { return d.horizon(Host) })
		d := newStretch(newRand(c.Seed, "healthy", uint64(n)), before, 24*time.Hour, &c.Healthy, publishers)
		spans := make([][]span, len(c.detectors))
		for i, w := range c.watchers(uint64(n)) {
			spans[i] = w.suspects(d)
		}
		perDay[n] = make([]int, len(c.Sets))
		for i, members := range c.members {
			of := make([][]span, len(members))
			for j, m := range members {
				of[j] = spans[m]
			}
			perDay[n][i] = c.Sets[i].onsets(of)
		}
	})
	total := make([]int, len(c.Sets))
	for _, day := range perDay {
		for i, n := range day {
			total[i] += n
		}
	}
	return total, err
}

// inParts runs parts 0 to n-1 on all processors, until ctx ends.
func inParts(ctx context.Context, n int, run func(int)) error {
	next := make(chan int)
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := range next {
				run(i)
			}
		})
	}
	var err error
	for i := 0; i < n && err == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
			err = fmt.Errorf("simulating: %w", context.Cause(ctx))
		}
	}
	close(next)
	all.Wait()
	return err
}
