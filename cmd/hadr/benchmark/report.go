package benchmark

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Assumptions is said beside every figure.
const Assumptions = "latencies of AWS and Db2 are assumed (testdata/latency-profile.json), not measured"

// Figures sum up the outages of a case.
type Figures struct {
	Case     string
	Outages  int
	Lost     []Outage // that nobody ended
	Longest  Outage
	Restored Quantiles
	// Everywhere counts until clients write through every route table.
	Everywhere Quantiles
	Phases     []Phase
}

// Phase is the share of a part of the takeover.
type Phase struct {
	Name string
	Quantiles
}

// Quantiles of times.
type Quantiles struct{ P50, P95, P99, Max time.Duration }

// phases are the parts of a takeover, in order: what is read and found before
// the claim is decide; recheck is the last look at the standby before the fence.
var phases = []string{"detect", "decide", "recheck", "fence", "fenced", "promote", "confirm", "redirect", "verify"}

// Sum sums up outages of one case.
func Sum(name string, outages []Outage) Figures {
	f := Figures{Case: name, Outages: len(outages)}
	var restored, everywhere []time.Duration
	parts := map[string][]time.Duration{}
	for _, o := range outages {
		if o.Lost != "" {
			f.Lost = append(f.Lost, o)
			continue
		}
		if o.Restored > f.Longest.Restored {
			f.Longest = o
		}
		restored, everywhere = append(restored, o.Restored), append(everywhere, o.Everywhere)
		for name, d := range o.Phases {
			parts[name] = append(parts[name], d)
		}
	}
	f.Restored, f.Everywhere = quantiles(restored), quantiles(everywhere)
	for _, name := range phases {
		if len(parts[name]) > 0 {
			f.Phases = append(f.Phases, Phase{name, quantiles(parts[name])})
		}
	}
	return f
}

func quantiles(times []time.Duration) (q Quantiles) {
	if len(times) == 0 {
		return q
	}
	slices.Sort(times)
	at := func(p float64) time.Duration { return times[min(int(p*float64(len(times))), len(times)-1)] }
	return Quantiles{at(.5), at(.95), at(.99), times[len(times)-1]}
}

// String is a table for people, in seconds.
func (f Figures) String() string {
	var b strings.Builder
	row := func(name string, q Quantiles) {
		fmt.Fprintf(&b, "  %-36s %7.1f %7.1f %7.1f %7.1f\n", name, q.P50.Seconds(), q.P95.Seconds(), q.P99.Seconds(), q.Max.Seconds())
	}
	fmt.Fprintf(&b, "%s: %d failures, the longest one of seed %d; %s\n  %-36s %7s %7s %7s %7s\n",
		f.Case, f.Outages, f.Longest.Seed, Assumptions, "seconds", "p50", "p95", "p99", "max")
	row("failure to first write", f.Restored)
	row("... through every route table", f.Everywhere)
	for _, p := range f.Phases {
		row("  "+p.Name, p.Quantiles)
	}
	for _, o := range f.Lost {
		fmt.Fprintf(&b, "  seed %d: nobody serves: %s\n", o.Seed, o.Lost)
	}
	return b.String()
}

// Scores sum up days without a failure.
type Scores struct {
	Case      string
	Days      int
	Renewals  uint64
	Reports   int
	Alarms    int
	Takeovers int
	Told      []string // of takeovers
}

// Score sums up days of one case.
func Score(name string, all []Calm) Scores {
	s := Scores{Case: name, Days: len(all)}
	for _, q := range all {
		s.Renewals += q.Renewals
		s.Reports += q.Reports
		s.Alarms += q.Alarms
		s.Takeovers += q.Takeovers
		if q.Takeovers > 0 {
			s.Told = append(s.Told, fmt.Sprintf("seed %d: %s", q.Seed, strings.Join(q.Story, "; ")))
		}
	}
	return s
}

// String is a line for people.
func (s Scores) String() string {
	text := fmt.Sprintf("%s: %d days without a failure: %d takeovers; the standby's agent suspected the primary %d times, alarms went red %d times, the lease was renewed %d times; %s",
		s.Case, s.Days, s.Takeovers, s.Reports, s.Alarms, s.Renewals, Assumptions)
	return strings.Join(append([]string{text}, s.Told...), "\n  ")
}
