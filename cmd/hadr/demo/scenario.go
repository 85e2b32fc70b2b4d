package demo

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Scenario is the story of a failure, or of what looks like one, and of how it
// must end.
type Scenario struct {
	Name  string
	Short string   // what happens, in one line
	Rules []string // of the safety rules, whose story it is

	// play makes it happen to a healthy group and follows it to its end.
	play func(ctx context.Context, s *scene) error
	// repeats is set where n counts something: it is played with n = 1, 2, ...
	// until there is no n-th of it.
	repeats bool
	// processes is set where it can be played with real processes, too.
	processes bool
}

// scenarioClients write slowly enough for many scenarios to be played in a
// row, and fast enough to lose something if anything is lost.
const (
	scenarioClients = 3
	scenarioPause   = 50 * time.Millisecond
	scenarioLimit   = 3 * time.Hour
)

// ScenarioNames are the names of all scenarios, in the order in which they are
// told.
func ScenarioNames() []string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.Name)
	}
	return names
}

// ScenarioOf returns the scenario with a name.
func ScenarioOf(name string) (Scenario, error) {
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, fmt.Errorf("no scenario %q: want one of %s", name, strings.Join(ScenarioNames(), ", "))
	}
	return scenarios[i], nil
}

// Run plays a scenario in virtual time and judges it.
func (sc Scenario) Run(ctx context.Context, o Options) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var played outcome
		inBubble(func() { played.result, played.err = sc.playAll(context.Background(), o) })
		done <- played
	}()
	select {
	case played := <-done:
		return played.result, played.err
	case <-ctx.Done(): // it comes from outside of the bubble, which can't wait for it
		return Result{Name: sc.Name}, context.Cause(ctx)
	}
}

// inBubble runs f where time passes only while everybody sleeps. synctest asks
// for a test; one that nobody runs will do, as long as f does not touch it.
func inBubble(f func()) { synctest.Test(new(testing.T), func(*testing.T) { f() }) }

// playAll plays a scenario with every n, in virtual time.
func (sc Scenario) playAll(ctx context.Context, o Options) (Result, error) {
	all, reached, err := sc.playOnce(ctx, o, 1)
	for n := 2; sc.repeats && reached && err == nil; n++ {
		var r Result
		r, reached, err = sc.playOnce(ctx, o, n)
		if reached {
			all.add(r)
		}
	}
	return all, err
}

// add joins the result of another play of the same scenario.
func (r *Result) add(o Result) {
	r.Audit.Acknowledged += o.Audit.Acknowledged
	r.Audit.Lost += o.Audit.Lost
	r.Audit.Double += o.Audit.Double
	r.Audit.Forked += o.Audit.Forked
	r.Audit.Examples = append(r.Audit.Examples, o.Audit.Examples...)
	r.Deviations = append(r.Deviations, o.Deviations...)
	if o.Recovery > r.Recovery { // the slowest is shown
		r.Recovery, r.Phases, r.Timeline, r.LastSecond = o.Recovery, o.Phases, o.Timeline, o.LastSecond
	}
}

// playOnce plays a scenario once. It reports whether there was an n-th of what
// n counts.
func (sc Scenario) playOnce(ctx context.Context, o Options, n int) (r Result, reached bool, err error) {
	r = Result{Name: sc.Name, Speed: 0}
	s, err := NewVirtualStage(ctx, filepath.Join(o.Dir, fmt.Sprint(n)), o.Log)
	if err != nil {
		return r, false, err
	}
	defer s.Close()
	ctx, cancel := clock.WithTimeout(ctx, s.Clock, scenarioLimit)
	defer cancel()
	table, err := s.declareAll(ctx)
	if err != nil {
		return r, false, err
	}
	if err := s.settle(ctx); err != nil {
		return r, false, err
	}
	o.Clients, o.Pause = scenarioClients, scenarioPause
	if o.Out == nil {
		o.Out = io.Discard
	}
	p, err := o.begin(ctx, s, table, coreGroup)
	if err != nil {
		return r, false, err
	}
	defer p.end()
	one := newScene(p, o, coreTable, &r, n)
	reached, err = one.run(ctx, sc)
	return r, reached, err
}

// settle waits until the group is healthy, and until a look of watch that began
// when alarms had no data yet has come to its end.
func (s *Stage) settle(ctx context.Context) error {
	if err := s.untilAlarmsOK(ctx); err != nil {
		return err
	}
	return s.Clock.Sleep(ctx, 90*time.Second)
}

// RunProcesses plays a scenario as the whole demo is played: declared by
// Terraform, with the functions, agents and commands of the hosts as processes.
func (sc Scenario) RunProcesses(ctx context.Context, o Options) (Result, error) {
	r := Result{Name: sc.Name, Speed: o.Speed}
	if !sc.processes {
		return r, fmt.Errorf("scenario %s needs functions in this process, and can be played in virtual time only", sc.Name)
	}
	s, err := NewStage(ctx, o.StageOptions)
	if err != nil {
		return r, err
	}
	defer s.Close()
	_, d, err := o.apply(ctx, s)
	if err != nil {
		return r, err
	}
	if err := s.settle(ctx); err != nil {
		return r, err
	}
	p, err := o.begin(ctx, s, d.record, d.group)
	if err != nil {
		return r, err
	}
	defer p.end()
	_, err = newScene(p, o, d.table, &r, 1).run(ctx, sc)
	return r, err
}
