package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var (
	nodeA = failover.NodeConfig{ID: "a", Instance: "i-0000000000000000a", ENI: "eni-0000000000000000a"}
	nodeB = failover.NodeConfig{ID: "b", Instance: "i-0000000000000000b", ENI: "eni-0000000000000000b"}
)

const (
	group = "orders"
	alarm = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a"
)

// store is the record in memory, with the rules of a Store.
type store struct {
	mu      sync.Mutex
	state   failover.State
	history []failover.Entry
	agents  map[string]failover.Observation
	sealed  string

	loadErr func() error // consulted before a Load
	saveErr func() error // consulted before a Save
	appends func() error // consulted before an Append
	slow    func()       // before every answer of Save and Append
	loseAck func() bool  // the write happens, its answer does not come
}

func (s *store) Load(context.Context, string) (failover.State, error) {
	if s.loadErr != nil {
		if err := s.loadErr(); err != nil {
			return failover.State{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, nil
}

func (s *store) Claim(_ context.Context, prev, next failover.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Maintenance.On {
		return ErrMaintenance
	}
	return s.swap(prev, next)
}

func (s *store) Save(_ context.Context, prev, next failover.State) error {
	if s.saveErr != nil {
		if err := s.saveErr(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	err := s.swap(prev, next)
	s.mu.Unlock()
	if s.slow != nil {
		s.slow()
	}
	return err
}

func (s *store) swap(prev, next failover.State) error {
	if s.state.Version != prev.Version {
		return ErrConflict
	}
	m := s.state.Maintenance // people own it
	s.state = next
	s.state.Attempt, s.state.Maintenance, s.state.Version = nil, m, prev.Version+1
	s.state.Manual = failover.Manual{}
	if s.loseAck != nil && s.loseAck() {
		return errors.New("no answer")
	}
	return nil
}

func (s *store) Seal(_ context.Context, _, _ string, _ uint64, operationID string) (bool, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = operationID
	return true, "", nil
}

func (s *store) Append(_ context.Context, _ string, e failover.Entry) error {
	if s.appends != nil {
		if err := s.appends(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, e)
	return nil
}

func (s *store) Node(_ context.Context, _, node string) (failover.Observation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.agents[node]
	if !ok {
		return failover.Observation{}, ErrNotFound
	}
	return o, nil
}

func (s *store) PutNode(_ context.Context, _ string, o failover.Observation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[o.Node] = o
	return nil
}

func (s *store) ReadAlarms(context.Context, string) (map[string][]string, error) {
	return map[string][]string{"a": {alarm}}, nil
}

func (s *store) EndMaintenance(context.Context, string, failover.Maintenance) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Maintenance = failover.Maintenance{}
	return nil
}

func (s *store) Binding(context.Context, string) (string, string, error) { return group, "a", nil }

func (s *store) See(_ context.Context, _ string, _ time.Time, id string, _ time.Time) (string, error) {
	return id, nil
}

func (s *store) Unknown(context.Context, failover.Entry, []byte) error { return nil }

// site is the world outside the record: machines, databases, routes.
type site struct {
	mu       sync.Mutex
	clock    clock.Clock
	machine  map[string]failover.InstanceState
	role     map[string]failover.Role
	owner    map[string]string // table -> ENI
	calls    []string
	promoted int
	orders   map[string]bool // promotions, by operation and attempt: a node answers one twice

	stopTakes time.Duration
	reads     map[string]int // of a machine
	alarmErr  error
	stopErr   error
	moveErr   map[string]error
	onCall    func(string) // before every mutation
}

func newSite(c clock.Clock) *site {
	return &site{
		clock:   c,
		machine: map[string]failover.InstanceState{"a": failover.InstanceRunning, "b": failover.InstanceRunning},
		role:    map[string]failover.Role{"a": failover.RolePrimary, "b": failover.RoleStandby},
		owner:   map[string]string{"rtb-1": nodeA.ENI, "rtb-2": nodeA.ENI},
		moveErr: map[string]error{}, orders: map[string]bool{},
		stopTakes: 8 * time.Second, reads: map[string]int{},
	}
}

func (s *site) call(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.onCall != nil {
		s.onCall(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, text)
}

func (s *site) State(_ context.Context, n failover.NodeConfig) (failover.InstanceState, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[n.ID]++
	return s.machine[n.ID], "impaired", nil
}

func (s *site) Stop(_ context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	s.call("stop %s", n.ID)
	if s.stopErr != nil {
		return failover.Failed, s.stopErr
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machine[n.ID] = failover.InstanceStopping
	s.clock.AfterFunc(s.stopTakes, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.machine[n.ID] = failover.InstanceStopped
	})
	return failover.OK, nil
}

func (s *site) Start(_ context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	s.call("start %s", n.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machine[n.ID] = failover.InstanceRunning
	return failover.OK, nil
}

func (s *site) Groups(context.Context, failover.NodeConfig) ([]string, error) {
	return []string{"sg-db"}, nil
}

func (s *site) SetGroups(_ context.Context, n failover.NodeConfig, groups []string) error {
	s.call("groups of %s: %s", n.ID, strings.Join(groups, ", "))
	return nil
}

// Observe: node a is silent, node b a fit standby or primary.
func (s *site) Observe(_ context.Context, _ string, n failover.NodeConfig, _ map[string]string) failover.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if n.ID == "a" {
		return failover.Observation{Node: "a", ReadAt: now, Answer: failover.Silent, AnswerError: "no answer"}
	}
	return failover.Observation{
		Node: "b", ReadAt: now, HostTime: now, Answer: failover.Answered, Database: failover.DatabaseActive, Role: s.role["b"],
		State: "PEER", PartnerStatus: "CONNECTED", PartnerLost: true, PartnerSilence: 100 * time.Second,
		Fitness: failover.Fit, PromoteUntil: now.Add(200 * time.Second),
	}
}

func (s *site) Promote(_ context.Context, p Promotion, started func(string)) PromotionResult {
	s.call("promote %s epoch %d", p.Node.ID, p.Epoch)
	started("cmd-1")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promoted++
	s.orders[fmt.Sprintf("%s/%d", p.OperationID, p.Attempt)] = true
	s.role["b"] = failover.RolePrimary
	return PromotionResult{CommandID: "cmd-1", Outcome: failover.OK, Code: "DB20000I"}
}

func (s *site) StartDatabase(_ context.Context, p Promotion) (failover.Outcome, error) {
	s.call("start database %s", p.Node.ID)
	return failover.OK, nil
}

func (s *site) Rejoin(_ context.Context, p Promotion) PromotionResult {
	s.call("rejoin %s", p.Node.ID)
	return PromotionResult{Outcome: failover.OK}
}

func (s *site) Manual() failover.Manual { return failover.Manual{Reseed: "copy it by hand"} }

func (s *site) Owner(_ context.Context, table, _ string) (string, error) { return s.owner[table], nil }

func (s *site) Move(_ context.Context, table, _, eni string) error {
	s.call("move %s", table)
	if err := s.moveErr[table]; err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner[table] = eni
	return nil
}

func (s *site) Check(context.Context, string, string, int) error { return nil }

func (s *site) Evidence(context.Context, []string) ([]failover.Evidence, error) {
	if s.alarmErr != nil {
		return nil, s.alarmErr
	}
	return []failover.Evidence{{Signal: failover.SignalAlarm, Detail: "in ALARM", At: s.clock.Now(), Source: alarm}}, nil
}

// setup returns a group in steady state whose node a has just gone silent.
func setup() (*Runner, *store, *site) {
	c := clock.System() // virtual under synctest
	st := &store{
		state: failover.State{
			Group: group, Epoch: 7, Primary: "a", Phase: failover.Steady, Version: 40,
			Config: failover.Config{
				Engine: "db2", Nodes: []failover.NodeConfig{nodeA, nodeB}, VIP: "10.99.0.1", Port: 50000,
				Routes: []string{"rtb-1", "rtb-2"},
			},
		},
		agents: map[string]failover.Observation{
			"a": {Node: "a", ClockOffsetAt: c.Now().Add(-2 * time.Minute), LastGoodProbe: c.Now().Add(-110 * time.Second)},
		},
	}
	si := newSite(c)
	return &Runner{Store: st, Instances: si, Engine: si, Routes: si, Alarms: si, Clock: c, Log: slog.New(slog.DiscardHandler)}, st, si
}

func event(c clock.Clock) failover.Alarmed {
	return failover.Alarmed{At: c.Now(), Node: "a", Alarm: alarm, Changed: c.Now(), OperationID: "op1"}
}
