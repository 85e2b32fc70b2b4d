package watch

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// table is a record of steady groups without endpoint and alarms.
type table struct {
	control.Store
	swept []time.Time
}

func (t *table) Load(_ context.Context, group string) (failover.State, error) {
	if group == "broken" {
		return failover.State{}, errors.New("no route to host")
	}
	return failover.State{Group: group, Primary: "a", Epoch: 1, Phase: failover.Steady, Config: failover.Config{
		Nodes: []failover.NodeConfig{{ID: "a"}, {ID: "b"}},
	}}, nil
}

func (t *table) Node(_ context.Context, _, node string) (failover.Observation, error) {
	role := map[string]failover.Role{"a": failover.RolePrimary, "b": failover.RoleStandby}[node]
	return failover.Observation{Node: node, Source: "agent", ReadAt: time.Now(), Answer: failover.Answered, Role: role, Database: failover.DatabaseActive}, nil
}

func (t *table) ReadAlarms(context.Context, string) (map[string][]string, error) { return nil, nil }

func (t *table) Sweep(_ context.Context, now time.Time) (int, error) {
	t.swept = append(t.swept, now)
	return 3, nil
}

type machines struct{ control.Instances }

func (machines) State(context.Context, failover.NodeConfig) (failover.InstanceState, string, error) {
	return failover.InstanceRunning, "ok", nil
}

// engine is never asked for anything but its words.
type engine struct{ control.Engine }

func (engine) Manual() failover.Manual { return failover.Manual{} }

func newHandler(t *table, groups ...string) *Handler {
	log := slog.New(slog.DiscardHandler)
	return &Handler{
		Groups: groups, Sweeper: t, Clock: clock.System(), Log: log, NewID: func(time.Time) string { return "op" },
		Runner: func(context.Context, string) (*control.Runner, error) {
			return &control.Runner{Store: t, Instances: machines{}, Engine: engine{}, Clock: clock.System(), Log: log}, nil
		},
	}
}

func TestOneBrokenGroupHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Minute) // not the full hour
		tab := &table{}
		a, err := newHandler(tab, "orders", "broken", "stock").Handle(t.Context())
		if err == nil {
			t.Error("the broken group is not reported")
		}
		want := map[string]string{"orders": "nothing", "stock": "nothing", "broken": "reading the record of group broken: no route to host"}
		if diff := cmp.Diff(want, a.Groups); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if len(tab.swept) > 0 {
			t.Error("swept at another time than the full hour")
		}
	})
}

func TestSweepsOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab := &table{}
		h := newHandler(tab, "orders")
		for range 120 {
			if _, err := h.Handle(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if len(tab.swept) != 2 {
			t.Errorf("swept %d times in two hours", len(tab.swept))
		}
	})
}
