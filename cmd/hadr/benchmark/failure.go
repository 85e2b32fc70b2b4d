package benchmark

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/ec2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/ssm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Case is a group and what befalls its primary.
type Case struct {
	Name    string
	Lease   time.Duration // 0 = none
	Renewed time.Duration
	Failure fault.Fault // its Instance is filled in
}

// Failures of a primary.
var (
	HostGone     = fault.Fault{Kind: fault.PowerLoss}
	DatabaseGone = fault.Fault{Kind: fault.KillProcess, Effect: fault.Effect{Process: "db2sysc"}}
)

// Places of cases in Cases.
const (
	shortLease = iota
	longLease
	alarmsAlone
	databaseOnly
)

// Cases are what is measured.
var Cases = []Case{
	{"host, lease 6s/2s", 6 * time.Second, 2 * time.Second, HostGone},
	{"host, lease 20s/5s", 20 * time.Second, 5 * time.Second, HostGone},
	{"host, alarms alone", 0, 0, HostGone},
	{"database, lease 6s/2s", 6 * time.Second, 2 * time.Second, DatabaseGone},
}

// Outage is one failure and what came of it.
type Outage struct {
	Seed uint64 `json:"seed"`
	// Restored is the time from the failure to the first write that the new
	// primary acknowledged, Everywhere to the first one through the last route
	// table.
	Restored   time.Duration `json:"restored"`
	Everywhere time.Duration `json:"everywhere"`
	// Phases are how long each part of it took, by step of the takeover; "detect"
	// comes before.
	Phases map[string]time.Duration `json:"phases"`
	// Lost says why it was not restored, "" if it was.
	Lost string `json:"lost,omitempty"`
}

const (
	// spread is the time over which failures, and the starts of agents, are
	// spread: the longest period that anything has here. leased is the same for a
	// lease, which tells of them first where there is one.
	spread = time.Minute
	leased = 10 * time.Second
	// patience is how long a takeover is waited for.
	patience = 15 * time.Minute
	// settled is what alarms need until all of them have seen whole minutes of a
	// primary that is well.
	settled = 4 * time.Minute
	// kept is what a lease needs until its holder promises all that it can.
	kept = 15 * time.Second
	look = time.Second
)

// failing plays one failure.
type failing struct {
	Case
	dice   *dice
	stage  *demo.Stage
	table  *statetable.Table
	outage Outage
}

// Fail plays one failure of a case in a directory of its own. It must be called
// in a bubble of testing/synctest.
func Fail(ctx context.Context, dir string, c Case, seed uint64, p Profile) (Outage, error) {
	d := newDice(seed, p)
	f := &failing{Case: c, dice: d, outage: Outage{Seed: seed, Phases: map[string]time.Duration{}}}
	var err error
	f.stage, err = demo.NewDisturbedStage(ctx, dir, slog.New(slog.DiscardHandler), network{d}, d.names(), d.tuning())
	if err != nil {
		return f.outage, fmt.Errorf("building the stage: %w", err)
	}
	defer f.stage.Close()
	f.stage.SSM.SetDelays(ssm.Delays{Visibility: ssm.DefaultDelays.Visibility})
	delays := ec2.DefaultDelays
	delays.Stop = d.draw(StopSkipShutdown, 0)
	f.stage.EC2.SetDelays(delays)
	if f.table, err = f.stage.Declare(ctx); err != nil {
		return f.outage, fmt.Errorf("declaring the group: %w", err)
	}
	if err := f.prepare(ctx); err != nil {
		return f.outage, fmt.Errorf("preparing the group: %w", err)
	}
	return f.outage, f.fail(ctx)
}

// prepare starts the agents at phases of their own, and waits until alarms and
// lease know a primary that is well. The lease comes last, as it costs most.
func (f *failing) prepare(ctx context.Context) error {
	if err := f.start(ctx, spread); err != nil {
		return err
	}
	if err := f.wait(ctx, settled); err != nil || f.Lease == 0 {
		return err
	}
	if err := f.lease(ctx); err != nil {
		return err
	}
	if err := f.start(ctx, leased); err != nil {
		return err
	}
	return f.wait(ctx, kept)
}

// start starts the agents again, at any moment of a time.
func (f *failing) start(ctx context.Context, within time.Duration) error {
	for _, node := range []string{"b", "a"} {
		if err := f.wait(ctx, f.dice.between(0, within, "start of "+node)); err != nil {
			return err
		}
		if err := f.stage.RunCommand(ctx, node, "systemctl restart hadr-agent"); err != nil {
			return err
		}
	}
	return nil
}

// period is the time over which the failure is spread.
func (f *failing) period() time.Duration {
	if f.Lease > 0 {
		return leased
	}
	return spread
}

// lease declares a lease, and that a stop which is accepted is fence enough
// where the dead-man is in force (R16).
func (f *failing) lease(ctx context.Context) error {
	config, err := f.table.ReadConfig(ctx, demo.Group)
	if err != nil {
		return err
	}
	config.Fencing = failover.PeerWindow
	if err := f.table.PutConfig(ctx, demo.Group, config); err != nil {
		return err
	}
	for _, node := range []string{"a", "b"} {
		probe, err := f.table.ReadProbe(ctx, demo.Group, node)
		if err != nil {
			return err
		}
		probe.LeaseDuration, probe.LeaseInterval, probe.Function = f.Lease, f.Renewed, demo.TakeoverFunction
		if err := f.table.PutProbe(ctx, probe); err != nil {
			return err
		}
	}
	return nil
}

func (f *failing) wait(ctx context.Context, d time.Duration) error {
	return f.stage.Clock.Sleep(ctx, d)
}

// fail lets the primary fail and measures until clients write again.
func (f *failing) fail(ctx context.Context) error {
	clients := f.clients()
	old := f.stage.NodeName("a")
	for _, c := range clients {
		if node, err := c.write(ctx); err != nil || node != old {
			return fmt.Errorf("before the failure a client of %s does not write to node a: %q, %w", c.path, node, err)
		}
	}
	if err := f.wait(ctx, f.dice.between(0, f.period(), "failure")); err != nil {
		return err
	}
	fails := f.Failure
	fails.Instance = f.stage.Instance("a")
	at := f.stage.Clock.Now()
	if _, err := f.stage.Faults.Inject(ctx, fails); err != nil {
		return err
	}
	if !f.restored(ctx, clients, at) {
		f.outage.Lost = f.why(ctx)
		return nil
	}
	return f.phases(ctx, at)
}

func (f *failing) clients() (all []*client) {
	dial := f.stage.Clients(1, 0, 0).Dial
	for _, path := range f.stage.Landscape.RouteTables {
		all = append(all, &client{path: path, dial: dial})
	}
	return all
}

// restored waits until every client writes to node b.
func (f *failing) restored(ctx context.Context, clients []*client, failed time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	took := make([]time.Duration, len(clients))
	fresh := f.stage.NodeName("b")
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			if at, err := c.writesTo(ctx, func(node string) bool { return node == fresh }); err == nil {
				took[i] = at.Sub(failed)
			}
		})
	}
	all.Wait()
	f.outage.Restored, f.outage.Everywhere = took[0], took[0]
	for _, t := range took {
		if t == 0 {
			return false
		}
		f.outage.Restored, f.outage.Everywhere = min(f.outage.Restored, t), max(f.outage.Everywhere, t)
	}
	return true
}

// why tells what the record says of a failure after which nobody serves.
func (f *failing) why(ctx context.Context) string {
	history, err := f.table.History(ctx, demo.Group, 1)
	if err != nil || len(history) == 0 {
		return "nothing was started"
	}
	return history[0].Event + ": " + history[0].Reason
}

// phases waits for the end of the operation and takes its times.
func (f *failing) phases(ctx context.Context, failed time.Time) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		history, err := f.table.History(ctx, demo.Group, 0)
		if err != nil {
			return err
		}
		for _, e := range history {
			if e.Event != "ended" && e.Event != "blocked" || e.Kind != failover.Takeover {
				continue
			}
			for _, p := range e.Phases {
				f.outage.Phases[string(p.Step)] += p.End.Sub(p.Start)
				if p.Step == "decide" {
					f.outage.Phases["detect"] = p.Start.Sub(failed)
				}
			}
			return nil
		}
		if err := f.wait(ctx, look); err != nil {
			return err
		}
	}
	return errors.New("clients write again, but the takeover does not end")
}
