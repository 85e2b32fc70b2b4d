package benchmark

import (
	"context"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// failedAlarm is the composite alarm of the primary.
const failedAlarm = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a-failed"

// alarms are those of the primary that watch the round trip of SQL; its
// processes and its machine are well.
type alarms struct {
	calm    *calm
	watches []*alarm.Watch

	mu   sync.Mutex
	data []alarm.Datum // of the primary, in the order of their times
	red  []bool
	at   time.Time // when the composite alarm went red, zero while it is not
}

func newAlarms(q *calm) (*alarms, error) {
	a := &alarms{calm: q}
	for _, d := range detection.PresetAlarms(detection.PresetFill, detection.DefaultProbe(), 20_000) {
		if m := d.Metrics(); len(m) != 1 || m[0].Name != detection.DefaultProbe().Metric {
			continue
		}
		w, err := alarm.NewWatch(d)
		if err != nil {
			return nil, err
		}
		w.Schedule.Phase = q.dice.phase(d.Name)
		a.watches = append(a.watches, w)
	}
	a.red = make([]bool, len(a.watches))
	return a, nil
}

// dataKept is how long data is kept: no evaluation looks further back.
const dataKept = 20 * time.Minute

// evaluate evaluates each alarm when it is due.
func (a *alarms) evaluate(ctx context.Context) {
	// As with a new alarm, the first data must be there.
	if a.calm.clock.Sleep(ctx, morning) != nil {
		return
	}
	for {
		first, next := 0, time.Time{}
		for i, w := range a.watches {
			if at := w.Schedule.Next(time.Now()); next.IsZero() || at.Before(next) {
				first, next = i, at
			}
		}
		if a.calm.clock.Sleep(ctx, time.Until(next)) != nil {
			return
		}
		a.look(ctx, first)
	}
}

// look evaluates one alarm, and calls the function if the primary's composite
// alarm goes red.
func (a *alarms) look(ctx context.Context, i int) {
	a.mu.Lock()
	now := time.Now()
	before := now.Add(-dataKept).Sub(time.Unix(0, 0))
	for len(a.data) > 0 && a.data[0].At < before {
		a.data = a.data[1:]
	}
	if s := a.watches[i].State(now.Sub(time.Unix(0, 0)), [][]alarm.Datum{a.data}); s != alarm.Retain {
		a.red[i] = s == alarm.Alarm
	}
	was, red := !a.at.IsZero(), false
	for _, r := range a.red {
		red = red || r
	}
	switch {
	case !red:
		a.at = time.Time{}
	case !was:
		a.at = now
	}
	a.mu.Unlock()
	if red && !was {
		a.calm.mu.Lock()
		a.calm.out.Alarms++
		a.calm.mu.Unlock()
		a.calm.noticed()
		id := alarm.Identity{ARN: failedAlarm, Name: "orders-a-failed", Account: "123456789012", Region: "eu-central-1"}
		t := alarm.Transition{Alarm: id, New: alarm.Condition{State: alarm.Alarm, At: now}, Old: alarm.Condition{State: alarm.OK, At: now.Add(-time.Minute)}, Rule: "ALARM(silent)"}
		a.calm.invoke(context.WithoutCancel(ctx), a.calm.dice.draw(ActionToLambda, 0), "alarm "+a.watches[i].Definition.Name, t.LambdaEvent())
	}
}

// Evidence implements control.Alarms.
func (a *alarms) Evidence(ctx context.Context, _ []string) ([]failover.Evidence, error) {
	if err := a.calm.reach(ctx, "", "alarms"); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() {
		return nil, nil
	}
	return []failover.Evidence{{Signal: failover.SignalAlarm, Detail: "in ALARM", At: a.at, Source: failedAlarm}}, nil
}

// sender is how the agent of a node publishes.
type sender struct {
	calm *calm
	node string
}

// Put implements agent.Metrics. A value may be lost on the way although the call
// was answered.
func (s sender) Put(ctx context.Context, _ statetable.Probe, at time.Time, milliseconds float64) error {
	if err := s.calm.reach(ctx, s.node, "put"); err != nil {
		return err
	}
	if s.node != "a" {
		return nil
	}
	ingestion := s.calm.dice.profile[MetricIngestion]
	if s.calm.in(slowAWS) > 0 {
		ingestion = slowIngestion
	}
	a := s.calm.alarms
	a.mu.Lock()
	defer a.mu.Unlock()
	day0 := time.Unix(0, 0)
	seen := time.Now().Add(ingestion.Quantile(s.calm.dice.unit(calls.Digest("ingestion"))))
	a.data = append(a.data, alarm.Datum{At: at.Sub(day0), Seen: seen.Sub(day0), Value: milliseconds})
	return nil
}
