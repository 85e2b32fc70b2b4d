package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection/awsalarms"
)

// collect makes the sets of all flags. Alarms of a plan, of a group and of
// --alarm can be used in --set by their names.
func (s *simulation) collect(cmd *cobra.Command, o *options) (sets []detection.Set, notes []string, err error) {
	declared := map[string]detection.Set{}
	add := func(found []detection.Set, of []string) {
		for _, set := range found {
			declared[set.Name] = set
			sets = append(sets, set)
		}
		notes = append(notes, of...)
	}
	if s.plan != "" {
		found, of, err := s.fromPlan(cmd)
		if err != nil {
			return nil, nil, fmt.Errorf("--plan %s: %w", s.plan, err)
		}
		add(found, of)
	}
	if s.group != "" {
		found, of, err := s.fromGroup(cmd.Context(), o)
		if err != nil {
			return nil, nil, fmt.Errorf("--group %s: %w", s.group, err)
		}
		add(found, of)
	}
	own, err := s.fromAlarms(declared)
	if err != nil {
		return nil, nil, err
	}
	if len(own.Detectors) > 0 && len(s.sets) == 0 {
		sets = append(sets, own)
	}
	texts := s.sets
	if len(texts) == 0 && len(sets) == 0 {
		texts = detection.Comparison
	}
	for _, text := range texts {
		set, err := s.model.ParseSet(text, declared)
		if err != nil {
			return nil, nil, fmt.Errorf("--set: %w", err)
		}
		sets = append(sets, set)
	}
	return sets, notes, nil
}

// fromAlarms reads --alarm: each is a set of its own, and all together are one.
func (s *simulation) fromAlarms(declared map[string]detection.Set) (detection.Set, error) {
	all := detection.Set{Name: "alarms"}
	for _, text := range s.alarms {
		d, err := s.model.ParseAlarm(text)
		if err != nil {
			return all, fmt.Errorf("--alarm: %w", err)
		}
		found, notes, err := s.model.Sets(detection.Declared{Metrics: []alarm.Definition{d}})
		if err != nil || len(found) == 0 {
			return all, fmt.Errorf("--alarm: %w", errors.Join(append([]error{err}, texts(notes)...)...))
		}
		declared[d.Name] = found[0]
		all.Detectors = append(all.Detectors, found[0].Detectors...)
	}
	return all, nil
}

func texts(notes []string) (out []error) {
	for _, n := range notes {
		out = append(out, errors.New(n))
	}
	return out
}

// planLimit is more than any plan of a database pair has.
const planLimit = 256 << 20

func (s *simulation) fromPlan(cmd *cobra.Command) ([]detection.Set, []string, error) {
	text, err := readPlan(cmd, s.plan)
	if err != nil {
		return nil, nil, err
	}
	declared, err := s.model.ReadPlan(text)
	if err != nil {
		return nil, nil, err
	}
	return s.model.Sets(declared)
}

// readPlan reads a plan as JSON. The file that terraform plan -out writes is a
// zip archive, which only Terraform can read.
func readPlan(cmd *cobra.Command, name string) ([]byte, error) {
	var in io.Reader = cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it is only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, planLimit))
	if err != nil || !bytes.HasPrefix(text, []byte("PK")) {
		return text, err
	}
	if name == "-" {
		return nil, errors.New("a plan file can't be read from standard input: give its name, or what terraform show -json prints")
	}
	show := exec.CommandContext(cmd.Context(), "terraform", "show", "-json", name)
	var said bytes.Buffer
	show.Stderr = &said
	text, err = show.Output()
	if err != nil {
		return nil, fmt.Errorf("terraform show -json: %w: %s; run it where terraform plan ran", err, bytes.TrimSpace(said.Bytes()))
	}
	return text, nil
}

// fromGroup reads what a group in the table is watched with: one set for each
// node that has failure alarms.
func (s *simulation) fromGroup(ctx context.Context, o *options) (sets []detection.Set, notes []string, err error) {
	session, err := o.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := awsclient.Load(ctx, awsclient.Options{Version: version, Region: o.region, Profile: o.profile})
	if err != nil {
		return nil, nil, err
	}
	alarms, err := session.table.ReadAlarms(ctx, s.group)
	if err != nil {
		return nil, nil, err
	}
	if len(alarms) == 0 {
		return nil, nil, fmt.Errorf("no failure alarm is bound to a node of it in table %s: see failure_alarm_arns of hadr_group", o.table)
	}
	for _, node := range slices.Sorted(maps.Keys(alarms)) {
		model := s.model
		var lease *detection.Lease
		if p, err := session.table.ReadProbe(ctx, s.group, node); err == nil {
			model.Probe = detection.Probe{
				Namespace: p.Namespace, Metric: p.Metric, Interval: p.Interval, Timeout: p.Timeout, Sentinel: float64(p.Sentinel.Milliseconds()),
			}
			model.Threshold = float64(p.Threshold.Milliseconds())
			if p.LeaseDuration > 0 {
				l := model.Lease(p.LeaseDuration, p.LeaseInterval)
				lease = &l
			}
		} else {
			notes = append(notes, fmt.Sprintf("node %s has no probe on record: %s every %s is assumed", node, model.Probe.Metric, model.Probe.Interval))
		}
		declared, err := awsalarms.Read(ctx, cloudwatch.NewFromConfig(cfg), alarms[node])
		if err != nil {
			return nil, nil, err
		}
		found, of, err := model.Sets(declared)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > 0 {
			alarms := detection.Any(s.group+"-"+node, found...)
			sets = append(sets, alarms)
			if lease != nil {
				sets = append(sets, detection.Any(alarms.Name+"+"+lease.Name(), alarms, detection.Set{Detectors: []detection.Detector{*lease}}))
			}
		}
		notes = append(notes, of...)
	}
	return sets, notes, nil
}
