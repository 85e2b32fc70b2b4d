package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// PhaseTime is how long one part of the recovery took.
type PhaseTime struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
}

// Result is what a demo found. Times are of the sandbox's clock.
type Result struct {
	Name       string            `json:"name"`
	Speed      float64           `json:"speed"`
	Recovery   float64           `json:"recovery_seconds"` // failure to the first write on the new primary
	Phases     []PhaseTime       `json:"phases"`
	LastSecond int               `json:"commits_in_the_last_second"`
	Audit      Audit             `json:"audit"`
	Primary    string            `json:"primary"`
	Epoch      uint64            `json:"epoch"`
	Owners     map[string]string `json:"vip_owner_by_route_table"`
	Told       []string          `json:"told,omitempty"` // to people, oldest first
	Plan       *Plan             `json:"plan,omitempty"`
	Timeline   []Moment          `json:"timeline"`
	// Closing is what a run without deviations ends with.
	Closing string `json:"-"`
	// Deviations are differences from what must be; none is success.
	Deviations []string `json:"deviations"`
}

func (r *Result) expect(ok bool, format string, args ...any) {
	if !ok {
		r.Deviations = append(r.Deviations, fmt.Sprintf(format, args...))
	}
}

// measure fills in the phases from the history of the operation.
func (r *Result) measure(failure time.Time, history []failover.Entry, first Ack) {
	r.Recovery = first.At.Sub(failure).Seconds()
	for _, e := range history {
		if e.Event != "ended" || len(e.Phases) == 0 {
			continue
		}
		r.Phases = append(r.Phases, PhaseTime{"detect", e.Phases[0].Start.Sub(failure).Seconds()})
		var order []failover.StepName
		sum := map[failover.StepName]float64{}
		for _, p := range e.Phases {
			if !slices.Contains(order, p.Step) {
				order = append(order, p.Step)
			}
			sum[p.Step] += p.End.Sub(p.Start).Seconds()
		}
		for _, s := range order {
			r.Phases = append(r.Phases, PhaseTime{string(s), sum[s]})
		}
	}
}

// Print writes the result for people.
func (r Result) Print(w io.Writer) {
	fmt.Fprintln(w)
	if r.Recovery > 0 {
		fmt.Fprintf(w, "Recovery: %.1f s from the failure to the first write on the new primary\n", r.Recovery)
	}
	for _, p := range r.Phases {
		fmt.Fprintf(w, "  %-10s %6.1f s\n", p.Phase, p.Seconds)
	}
	fmt.Fprintf(w, "Commits:  %d acknowledged", r.Audit.Acknowledged)
	if r.LastSecond > 0 {
		fmt.Fprintf(w, ", %d in the last second before the failure", r.LastSecond)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "          %d lost, %d acknowledged twice, %d positions with two writers\n", r.Audit.Lost, r.Audit.Double, r.Audit.Forked)
	for _, e := range r.Audit.Examples {
		fmt.Fprintf(w, "          %s\n", e)
	}
	fmt.Fprintf(w, "Primary:  node %s", r.Primary)
	if r.Epoch > 0 {
		fmt.Fprintf(w, " in epoch %d", r.Epoch)
	}
	fmt.Fprintln(w)
	for _, table := range sortedKeys(r.Owners) {
		fmt.Fprintf(w, "VIP:      in %s it leads to %s\n", table, r.Owners[table])
	}
	for i, subject := range r.Told {
		fmt.Fprintf(w, "%-9s %s\n", []string{"Told:", ""}[min(i, 1)], subject)
	}
	if r.Plan != nil {
		text := "there are changes:\n" + r.Plan.Text
		if r.Plan.Empty {
			text = "No changes"
		}
		fmt.Fprintf(w, "Plan:     %s\n", text)
		for _, warning := range r.Plan.Warnings {
			fmt.Fprintf(w, "          Warning: %s\n", warning)
		}
	}
	if len(r.Deviations) == 0 {
		closing := "Everything is as it must be."
		if r.Closing != "" {
			closing = r.Closing
		}
		fmt.Fprintf(w, "\n%s\n", closing)
		return
	}
	fmt.Fprintln(w, "\nNOT as it must be:")
	for _, d := range r.Deviations {
		fmt.Fprintf(w, "  - %s\n", d)
	}
}

// Write writes the result as JSON.
func (r Result) Write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
