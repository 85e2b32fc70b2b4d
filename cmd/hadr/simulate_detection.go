package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection/chart"
)

// simulation is what the flags of `simulate detection` say.
type simulation struct {
	sets, alarms, failures []string
	plan, group            string
	trials, days           int
	seed                   uint64
	ingestion, call        string
	conditions             detection.Conditions
	model                  detection.Model
	prices                 []string
	plot                   string
	json                   bool
}

func simulateDetectionCommand(o *options) *cobra.Command {
	s := &simulation{model: detection.NewModel(), conditions: detection.Assumed}
	cmd := &cobra.Command{
		Use:   "detection",
		Short: "Simulate failures and show how long it takes to notice them, how often a healthy primary is suspected, and the cost",
		Long:  detectionHelp(),
		Example: `  hadr simulate detection
  hadr simulate detection --set fill --set fill+lease:6s/2s --plot detection.svg
  hadr simulate detection --alarm 'silent=SampleCount < 2; missing=breaching; n=2' --ingestion 0
  terraform plan -out=plan.bin && hadr simulate detection --plan plan.bin
  hadr simulate detection --group orders --set reference --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.run(cmd, o); err != nil {
				return fmt.Errorf("simulate detection: %w", err)
			}
			return nil
		},
	}
	s.flags(cmd)
	return cmd
}

func detectionHelp() string {
	var b strings.Builder
	b.WriteString(`Simulate failures of a primary at random phases against sets of detectors, and print
for each set the time until it notices (min, p50, p95, p99, max, and the worst case
over all phases when nothing is late or lost), how often it suspects a healthy
primary, and what a pair of nodes pays for it in a month.

A set (--set) is made of
`)
	for _, p := range detection.Presets {
		fmt.Fprintf(&b, "  %-22s %s\n", p.Name, p.Text)
	}
	b.WriteString(`  lease:20s/5s           a lease of 20 s, renewed every 5 s and looked at every second; lease:20s/5s/2s looks every 2 s
  view:2s                the standby's own view of its connection, read every 2 s
  NAME                   an alarm of --alarm, or a composite alarm of --plan
  A+B                    whichever notices first
  A&B                    both must notice; it binds tighter than +
and may be given a name: --set fast=fill+lease:6s/2s.

A suspicion is no takeover: the function looks at both nodes first.
How AWS ingests metrics is not published: --ingestion, --loss and --cuts are
assumptions, and so are the evaluation range and the cut-off of alarms. The cost is
for comparing: us-east-1, without free tier, and --price sets other prices.`)
	return b.String()
}

func (s *simulation) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.sets, "set", nil, "set of detectors to simulate; repeat it to compare (default: a comparison)")
	f.StringArrayVar(&s.alarms, "alarm", nil, "alarm on the probe's metric, such as 'silent=SampleCount < 2; expression=FILL(m1, 0); missing=breaching'")
	f.StringVar(&s.plan, "plan", "", "take the alarms and the probe of a Terraform plan: a plan file, or what terraform show -json prints; - is standard input")
	f.StringVar(&s.group, "group", "", "take the alarms and the probe of a group in the table")
	f.StringSliceVar(&s.failures, "failure", nil, "what fails: host, hang, crash (default: each)")
	f.IntVar(&s.trials, "failures", 100_000, "how many failures of each kind")
	f.IntVar(&s.days, "days", 365, "how many days without a failure, to count false alarms")
	f.Uint64Var(&s.seed, "seed", 1, "the same seed gives the same figures")
	f.StringVar(&s.ingestion, "ingestion", latencyText(s.conditions.Ingestion), "median and p99 of the time until a published value is seen by alarms; 0 = at once")
	f.StringVar(&s.call, "call", latencyText(s.conditions.Call), "median and p99 of a call to DynamoDB")
	f.Float64Var(&s.conditions.Loss, "loss", s.conditions.Loss, "share of published values, renewals and reads that are lost")
	f.Float64Var(&s.conditions.Cuts, "cuts", s.conditions.Cuts, "how often a month the primary is cut off from AWS")
	f.DurationVar(&s.conditions.CutLength, "cut-length", s.conditions.CutLength, "and for how long")
	f.DurationVar(&s.model.Probe.Interval, "probe-interval", s.model.Probe.Interval, "time between two probes of the agent")
	f.DurationVar(&s.model.Probe.Timeout, "probe-timeout", s.model.Probe.Timeout, "hard limit of one probe")
	f.DurationVar(&s.model.HADRTimeout, "hadr-timeout", s.model.HADRTimeout, "HADR_TIMEOUT, after which the standby misses its primary")
	f.BoolVar(&s.model.HighResolution, "high-resolution", false, "the probe is published with StorageResolution 1")
	f.DurationVar(&s.model.Assumed.ExpressionCutoff, "expression-cutoff", s.model.Assumed.ExpressionCutoff, "how long ago a period must have ended before an alarm on an expression uses it")
	f.IntVar(&s.model.Assumed.ExtraPeriods, "extra-periods", s.model.Assumed.ExtraPeriods, "how many periods beyond its own an evaluation looks at; -1 = as measured")
	f.StringArrayVar(&s.prices, "price", nil, "another price in US dollars, such as thousand-puts=0.02, composite-alarm=0.50 or million-writes=1.25")
	f.StringVar(&s.plot, "plot", "", "draw the distributions into this file (.svg or .png)")
	f.BoolVar(&s.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("plan", "group")
}

func (s *simulation) run(cmd *cobra.Command, o *options) error {
	format, err := pictureFormat(s.plot)
	if err != nil {
		return err
	}
	task := detection.Simulation{Trials: s.trials, Days: s.days, Seed: s.seed}
	for _, name := range s.failures {
		f, err := detection.ParseFailure(name)
		if err != nil {
			return fmt.Errorf("--failure: %w", err)
		}
		task.Failures = append(task.Failures, f)
	}
	if s.conditions.Ingestion, err = parseLatency("--ingestion", s.ingestion); err != nil {
		return err
	}
	if s.conditions.Call, err = parseLatency("--call", s.call); err != nil {
		return err
	}
	task.Conditions, task.Healthy = s.conditions, s.conditions
	if task.Prices, err = parsePrices(s.prices); err != nil {
		return err
	}
	if err := s.model.Probe.Check(); err != nil {
		return err
	}
	sets, notes, err := s.collect(cmd, o)
	if err != nil {
		return err
	}
	task.Sets = sets
	r, err := task.Run(cmd.Context())
	if err != nil {
		return err
	}
	if s.plot != "" {
		if err := drawTo(s.plot, r, format); err != nil {
			return err
		}
	}
	if s.json {
		return r.WriteJSON(cmd.OutOrStdout(), notes)
	}
	return r.WriteText(cmd.OutOrStdout(), notes)
}

func pictureFormat(file string) (chart.Format, error) {
	if file == "" {
		return "", nil
	}
	switch f := chart.Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")); f {
	case chart.SVG, chart.PNG:
		return f, nil
	}
	return "", fmt.Errorf("--plot %s: the name must end in .svg or .png", file)
}

// drawTo writes a picture whole or not at all.
func drawTo(file string, r detection.Report, format chart.Format) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".hadr-*")
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone once it has its name
	err = errors.Join(chart.Draw(f, r, format), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("--plot %s: %w", file, err)
	}
	return nil
}

// parsePrices reads NAME=USD.
func parsePrices(texts []string) (*detection.Prices, error) {
	p := detection.AssumedPrices
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("--price %q: want NAME=USD, such as thousand-puts=0.02", text)
		}
		if err := p.Set(name, usd); err != nil {
			return nil, fmt.Errorf("--price: %w", err)
		}
	}
	return &p, nil
}

func latencyText(l detection.Latency) string { return l.P50.String() + "," + l.P99.String() }

// parseLatency reads "2s,12s", "2s" or "0".
func parseLatency(flag, text string) (detection.Latency, error) {
	first, second, both := strings.Cut(text, ",")
	p50, err := time.ParseDuration(strings.TrimSpace(first))
	l := detection.Latency{P50: p50, P99: p50}
	if err == nil && both {
		l.P99, err = time.ParseDuration(strings.TrimSpace(second))
	}
	if err != nil {
		return l, fmt.Errorf("%s %q: want the median and the 99 %% quantile, such as 2s,12s", flag, text)
	}
	return l, nil
}
