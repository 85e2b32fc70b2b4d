package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Watcher follows a takeover from the outside, as an operator could: through
// the APIs of AWS and the record.
type Watcher struct {
	Stage    *Stage
	Table    *statetable.Table
	Group    string
	Timeline *Timeline
	Load     *Load

	cloudwatch *cloudwatch.Client
	ec2        *ec2.Client

	alarms  map[string]types.StateValue
	entries int
	owners  map[string]string
	written bool
}

// pollEvery is how often the watcher looks, on the stage's clock.
const pollEvery = time.Second

func newWatcher(s *Stage, table *statetable.Table, group string, t *Timeline, l *Load) *Watcher {
	cfg := s.Config(Region)
	return &Watcher{
		Stage: s, Table: table, Group: group, Timeline: t, Load: l,
		cloudwatch: cloudwatch.NewFromConfig(cfg), ec2: ec2.NewFromConfig(cfg),
		alarms: map[string]types.StateValue{}, owners: map[string]string{},
	}
}

// follow looks until done says so, or limit has passed.
func (w *Watcher) follow(ctx context.Context, limit time.Duration, what string, done func(failover.State) bool) error {
	ctx, cancel := clock.WithTimeout(ctx, w.Stage.Clock, limit)
	defer cancel()
	for {
		state, err := w.look(ctx)
		if err == nil && done(state) {
			return nil
		}
		if sleep := w.Stage.Clock.Sleep(ctx, pollEvery); sleep != nil {
			if err == nil {
				err = sleep
			}
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
}

// prime takes what is there already for known.
func (w *Watcher) prime(ctx context.Context) error {
	history, err := w.Table.History(ctx, w.Group, 0)
	if err != nil {
		return err
	}
	w.entries = len(history)
	return errors.Join(w.lookAtAlarms(ctx), w.lookAtRoutes(ctx))
}

// look notes everything that has changed since the last look.
func (w *Watcher) look(ctx context.Context) (failover.State, error) {
	if err := errors.Join(w.lookAtAlarms(ctx), w.lookAtHistory(ctx), w.lookAtRoutes(ctx)); err != nil {
		return failover.State{}, err
	}
	if first, ok := w.Load.First(nodeName("a", w.Stage)); ok && !w.written {
		w.written = true
		w.Timeline.Add(first.At, "client", "first write again, on node %s through %s", w.node(first.Node), first.Path)
	}
	return w.Table.Load(ctx, w.Group)
}

func (w *Watcher) lookAtAlarms(ctx context.Context) error {
	out, err := w.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
	})
	if err != nil {
		return err
	}
	note := func(name string, state types.StateValue, at time.Time, reason string) {
		if old, known := w.alarms[name]; known && old != state {
			w.Timeline.Add(at, "alarm", "%s went from %s to %s: %s", name, old, state, brief(reason))
		}
		w.alarms[name] = state
	}
	for _, a := range out.MetricAlarms {
		note(*a.AlarmName, a.StateValue, *a.StateTransitionedTimestamp, *a.StateReason)
	}
	for _, a := range out.CompositeAlarms {
		note(*a.AlarmName, a.StateValue, *a.StateTransitionedTimestamp, *a.StateReason)
	}
	return nil
}

func (w *Watcher) lookAtHistory(ctx context.Context) error {
	history, err := w.Table.History(ctx, w.Group, 0)
	if err != nil {
		return err
	}
	slices.Reverse(history)
	for _, e := range history[min(w.entries, len(history)):] {
		text := e.Reason
		if e.Event != "step" {
			text = strings.ToUpper(e.Event) + " " + text
		}
		w.Timeline.Add(e.At, "control", "%s", text)
		if e.Event != "ended" {
			for _, ev := range e.Evidence {
				w.Timeline.Add(e.At, "control", "  evidence %s: %s", ev.Signal, ev.Detail)
			}
		}
		if e.Next != "" {
			w.Timeline.Add(e.At, "control", "  next: %s", e.Next)
		}
	}
	w.entries = max(w.entries, len(history))
	return nil
}

func (w *Watcher) lookAtRoutes(ctx context.Context) error {
	owners, err := w.routes(ctx)
	if err != nil {
		return err
	}
	for table, node := range owners {
		if old := w.owners[table]; old != "" && old != node {
			w.Timeline.Add(w.Stage.Clock.Now(), "route", "%s/32 in %s leads to %s", VIP, table, node)
		}
		w.owners[table] = node
	}
	return nil
}

// routes returns where the VIP leads in each table of the landscape.
func (w *Watcher) routes(ctx context.Context) (map[string]string, error) {
	out, err := w.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: w.Stage.Landscape.RouteTables})
	if err != nil {
		return nil, err
	}
	owners := map[string]string{}
	for _, t := range out.RouteTables {
		owners[*t.RouteTableId] = "nowhere"
		for _, r := range t.Routes {
			if r.DestinationCidrBlock == nil || *r.DestinationCidrBlock != VIP+"/32" || r.NetworkInterfaceId == nil {
				continue
			}
			owners[*t.RouteTableId] = *r.NetworkInterfaceId
			for node, h := range w.Stage.Landscape.Databases {
				if h.NetworkInterfaceID == *r.NetworkInterfaceId {
					owners[*t.RouteTableId] = "node " + node
				}
			}
		}
	}
	return owners, nil
}

// node returns the id of a node by the name that its database answers with.
func (w *Watcher) node(name string) string {
	for _, id := range []string{"a", "b"} {
		if nodeName(id, w.Stage) == name {
			return id
		}
	}
	return name
}

// history returns the entries of the group, oldest first.
func (w *Watcher) history(ctx context.Context) ([]failover.Entry, error) {
	h, err := w.Table.History(ctx, w.Group, 0)
	slices.Reverse(h)
	return h, err
}

func brief(reason string) string {
	if len(reason) > 110 {
		return reason[:107] + "..."
	}
	return reason
}
