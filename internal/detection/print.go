package detection

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// WriteText prints a report for people; notes are about where its sets come from.
func (r Report) WriteText(w io.Writer, notes []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	name := "%-" + strconv.Itoa(r.longestName()) + "s\t"
	fmt.Fprintf(w, "From a failure to its detection: %d failures of each kind, seed %d.\n%s\n", r.Trials, r.Seed, r.Conditions)
	if len(r.Sets) == 0 {
		return nil
	}
	for k, of := range r.Sets[0].Failures {
		fmt.Fprintf(w, "\n%s\n", of.Failure.Title())
		fmt.Fprintf(t, name+"min\tp50\tp95\tp99\tmax\tworst case\tnot seen\t\n", "set")
		for _, s := range r.Sets {
			x := s.Failures[k]
			fmt.Fprintf(t, name+"%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", s.Name,
				Seconds(x.Min), Seconds(x.P50), Seconds(x.P95), Seconds(x.P99), Seconds(x.Max), Seconds(x.Worst), percent(x.Missed, r.Trials))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nSuspicions of a healthy primary in %d days, and the cost of a pair of nodes\n%s\n", r.Days, r.Healthy)
	fmt.Fprintf(t, name+"a month\tUSD a month\t\n", "set")
	for _, s := range r.Sets {
		fmt.Fprintf(t, name+"%s\t%.2f\t\n", s.Name, s.FalseAlarms, s.MonthlyUSD)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\nThe worst case is over all phases when nothing is late or lost. A suspicion is no takeover: the function looks at both nodes first.\n")
	for _, n := range r.notes(notes) {
		fmt.Fprintf(w, "- %s.\n", n)
	}
	return nil
}

func (r Report) longestName() int {
	n := len("set")
	for _, s := range r.Sets {
		n = max(n, utf8.RuneCountInString(s.Name))
	}
	return n
}

// notes are the given ones and those of all sets, each once.
func (r Report) notes(more []string) []string {
	seen := map[string]bool{}
	var out []string
	add := func(notes []string) {
		for _, n := range notes {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	add(more)
	for _, s := range r.Sets {
		add(s.Notes)
	}
	return out
}

// String says what is assumed, in a sentence.
func (c Conditions) String() string {
	if c == Ideal {
		return "Nothing is late or lost."
	}
	parts := []string{
		fmt.Sprintf("metrics are seen after %s (p99 %s)", short(c.Ingestion.P50), short(c.Ingestion.P99)),
		fmt.Sprintf("calls take %s (p99 %s)", c.Call.P50, c.Call.P99),
		fmt.Sprintf("%g %% is lost", 100*c.Loss),
	}
	if c.Cuts > 0 && c.CutLength > 0 {
		parts = append(parts, fmt.Sprintf("the primary is cut off from AWS for %s, %g time(s) a month", short(c.CutLength), c.Cuts))
	}
	return "Assumed: " + strings.Join(parts, ", ") + "."
}

// Seconds writes a time in seconds, rounded up so that nothing looks better than
// it is; what is never seen is a dash.
func Seconds(d time.Duration) string {
	if d == Never {
		return "-"
	}
	return fmt.Sprintf("%d s", WholeSeconds(d))
}

// WholeSeconds rounds up.
func WholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func percent(n, of int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %%", 100*float64(n)/float64(of))
}

// String is the rate in a month, or a bound where nothing was seen.
func (r Rate) String() string {
	switch {
	case r.Days == 0:
		return "-"
	case r.Count == 0:
		return fmt.Sprintf("< %.2g", r.AtMost())
	}
	return fmt.Sprintf("%.2g", r.PerMonth())
}

// seconds is a time in JSON: a number with milliseconds, null for Never.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	if time.Duration(s) == Never {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(time.Duration(s).Seconds()*1000) / 1000)
}

type timesJSON struct {
	Failure Failure `json:"failure"`
	Min     seconds `json:"min_seconds"`
	P50     seconds `json:"p50_seconds"`
	P95     seconds `json:"p95_seconds"`
	P99     seconds `json:"p99_seconds"`
	Max     seconds `json:"max_seconds"`
	Mean    seconds `json:"mean_seconds"`
	Worst   seconds `json:"worst_case_seconds"`
	Missed  int     `json:"not_seen"`
}

type rateJSON struct {
	Count    int      `json:"count"`
	Days     int      `json:"days"`
	PerMonth *float64 `json:"per_month"`
	AtMost   *float64 `json:"per_month_at_most,omitempty"` // with 95 % confidence, where none was seen
}

type setJSON struct {
	Name        string      `json:"name"`
	Failures    []timesJSON `json:"failures"`
	FalseAlarms rateJSON    `json:"false_alarms"`
	MonthlyUSD  float64     `json:"monthly_usd"`
	Cost        []Charge    `json:"cost"`
	Notes       []string    `json:"notes"`
}

type latencyJSON struct {
	P50 seconds `json:"p50_seconds"`
	P99 seconds `json:"p99_seconds"`
}

type conditionsJSON struct {
	Ingestion latencyJSON `json:"ingestion"`
	Call      latencyJSON `json:"call"`
	Loss      float64     `json:"loss"`
	Cuts      float64     `json:"cuts_per_month"`
	CutLength seconds     `json:"cut_length_seconds"`
}

func (c Conditions) json() conditionsJSON {
	return conditionsJSON{
		latencyJSON{seconds(c.Ingestion.P50), seconds(c.Ingestion.P99)}, latencyJSON{seconds(c.Call.P50), seconds(c.Call.P99)},
		c.Loss, c.Cuts, seconds(c.CutLength),
	}
}

// WriteJSON prints a report for machines: times in seconds, null for what is
// not seen.
func (r Report) WriteJSON(w io.Writer, notes []string) error {
	out := struct {
		Seed       uint64         `json:"seed"`
		Trials     int            `json:"failures_of_each_kind"`
		Conditions conditionsJSON `json:"conditions"`
		Healthy    conditionsJSON `json:"conditions_without_failure"`
		Sets       []setJSON      `json:"sets"`
		Notes      []string       `json:"notes"`
	}{r.Seed, r.Trials, r.Conditions.json(), r.Healthy.json(), nil, append([]string{}, notes...)}
	for _, s := range r.Sets {
		x := setJSON{Name: s.Name, FalseAlarms: rateJSON{Count: s.FalseAlarms.Count, Days: s.FalseAlarms.Days}, MonthlyUSD: cents(s.MonthlyUSD), Notes: append([]string{}, s.Notes...)}
		if s.FalseAlarms.Days > 0 {
			x.FalseAlarms.PerMonth = new(s.FalseAlarms.PerMonth())
			if s.FalseAlarms.Count == 0 {
				x.FalseAlarms.AtMost = new(s.FalseAlarms.AtMost())
			}
		}
		for _, c := range s.Cost {
			x.Cost = append(x.Cost, Charge{c.Item, cents(c.USD)})
		}
		for _, t := range s.Failures {
			x.Failures = append(x.Failures, timesJSON{
				t.Failure, seconds(t.Min), seconds(t.P50), seconds(t.P95), seconds(t.P99), seconds(t.Max), seconds(t.Mean), seconds(t.Worst), t.Missed,
			})
		}
		out.Sets = append(out.Sets, x)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func cents(usd float64) float64 { return math.Round(usd*100) / 100 }
