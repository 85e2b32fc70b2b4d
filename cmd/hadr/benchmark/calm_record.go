package benchmark

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// ledger is the record of one group as the functions reach it, with the
// conditions of DynamoDB's writes.
type ledger struct {
	control.Store // what a day without a failure does not need
	calm          *calm

	mu    sync.Mutex
	state failover.State
	lease *failover.Lease
	nodes map[string]failover.Observation
	seen  map[string]string
}

func newLedger(q *calm) *ledger {
	return &ledger{calm: q, state: pair(), nodes: map[string]failover.Observation{}, seen: map[string]string{}}
}

// Load implements control.Store.
func (l *ledger) Load(ctx context.Context, _ string) (failover.State, error) {
	if err := l.calm.reach(ctx, "", "load"); err != nil {
		return failover.State{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, nil
}

// Claim implements control.Store: it counts the takeover, and refuses it.
func (l *ledger) Claim(_ context.Context, _, next failover.State) error {
	l.calm.mu.Lock()
	l.calm.out.Takeovers++
	l.calm.mu.Unlock()
	l.calm.tell("TAKEOVER: %s %+v", next.Operation.Trigger, next.Operation.Evidence)
	return control.ErrMaintenance
}

// Save implements control.Store.
func (l *ledger) Save(ctx context.Context, prev, next failover.State) error {
	if err := l.calm.reach(ctx, "", "save"); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Version != prev.Version {
		return control.ErrConflict
	}
	next.Attempt, next.Version, next.Config, next.Maintenance = nil, prev.Version+1, l.state.Config, l.state.Maintenance
	l.state = next
	return nil
}

// Seal implements control.Store. Nothing is sealed, as no takeover goes on.
func (l *ledger) Seal(context.Context, string, string, uint64, string) (bool, string, error) {
	return true, "", nil
}

// ReadLease implements control.Leases.
func (l *ledger) ReadLease(ctx context.Context, _ string) (failover.Lease, error) {
	if err := l.calm.reach(ctx, "", "read lease"); err != nil {
		return failover.Lease{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return failover.Lease{}, control.ErrNotFound
	}
	return *l.lease, nil
}

// SealSeen implements control.Leases: one that was renewed meanwhile is not
// sealed (R10), any other one only in word.
func (l *ledger) SealSeen(ctx context.Context, _ string, seen failover.Lease, _ string) (bool, string, error) {
	now, err := l.ReadLease(ctx, "")
	return err == nil && now.Counter == seen.Counter, "it was renewed", err
}

// Unseal implements control.Leases.
func (l *ledger) Unseal(context.Context, string, string) error { return nil }

// Append implements control.Store.
func (l *ledger) Append(context.Context, string, failover.Entry) error { return nil }

// Node implements control.Store.
func (l *ledger) Node(ctx context.Context, _, node string) (failover.Observation, error) {
	if err := l.calm.reach(ctx, "", "node "+node); err != nil {
		return failover.Observation{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.nodes[node]
	if !ok {
		return o, control.ErrNotFound
	}
	return o, nil
}

// PutNode implements control.Store: what is older than the record stays out.
func (l *ledger) PutNode(_ context.Context, _ string, o failover.Observation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !o.ReadAt.Before(l.nodes[o.Node].ReadAt) {
		l.nodes[o.Node] = o
	}
	return nil
}

// ReadAlarms implements control.Store.
func (l *ledger) ReadAlarms(context.Context, string) (map[string][]string, error) {
	return map[string][]string{"a": {failedAlarm}}, nil
}

// Binding implements control.Store.
func (l *ledger) Binding(_ context.Context, arn string) (group, node string, err error) {
	if arn != failedAlarm {
		return "", "", control.ErrNotFound
	}
	return l.state.Group, "a", nil
}

// See implements control.Store.
func (l *ledger) See(_ context.Context, arn string, changed time.Time, id string, _ time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := fmt.Sprint(arn, changed.UnixNano())
	if first, ok := l.seen[key]; ok {
		return first, nil
	}
	l.seen[key] = id
	return id, nil
}

// Unknown implements control.Store.
func (l *ledger) Unknown(_ context.Context, e failover.Entry, _ []byte) error {
	return fmt.Errorf("an event of nobody: %s", e.Reason)
}

// Sweep implements watch.Sweeper.
func (l *ledger) Sweep(context.Context, time.Time) (int, error) { return 0, nil }

// seat is the record as the agent of a node reaches it.
type seat struct {
	*ledger
	node string
}

// Load implements agent.Record.
func (s seat) Load(ctx context.Context, group string) (failover.State, error) {
	if err := s.calm.reach(ctx, s.node, "load"); err != nil {
		return failover.State{}, err
	}
	return s.ledger.Load(ctx, group)
}

// ReadProbe implements agent.Record.
func (s seat) ReadProbe(ctx context.Context, _, node string) (statetable.Probe, error) {
	return s.calm.probe(node), s.calm.reach(ctx, s.node, "probe")
}

// PutNode implements agent.Record.
func (s seat) PutNode(ctx context.Context, group string, o failover.Observation) error {
	if err := s.calm.reach(ctx, s.node, "put node"); err != nil {
		return err
	}
	return s.ledger.PutNode(ctx, group, o)
}

// ReadLease implements agent.Record.
func (s seat) ReadLease(ctx context.Context, group string) (failover.Lease, error) {
	if err := s.calm.reach(ctx, s.node, "read lease"); err != nil {
		return failover.Lease{}, err
	}
	return s.ledger.ReadLease(ctx, group)
}

// RenewLease implements agent.Record.
func (s seat) RenewLease(ctx context.Context, _ string, next failover.Lease) error {
	if err := s.calm.reach(ctx, s.node, "renew"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lease; l != nil && (l.Holder != next.Holder || l.Epoch != next.Epoch || l.Counter+1 != next.Counter) {
		return fmt.Errorf("the lease has counter %d", l.Counter)
	}
	s.lease = &next
	s.calm.mu.Lock()
	defer s.calm.mu.Unlock()
	s.calm.out.Renewals++
	return nil
}

// caller is how the agent of a node reaches the takeover function.
type caller struct {
	calm *calm
	node string
}

// Report implements agent.Takeover.
func (c caller) Report(ctx context.Context, _ string, r evidence.Report) error {
	if err := c.calm.reach(ctx, c.node, "report"); err != nil {
		return err
	}
	payload, err := json.Marshal(r)
	if err != nil {
		return err
	}
	c.calm.mu.Lock()
	c.calm.out.Reports++
	c.calm.mu.Unlock()
	c.calm.noticed()
	c.calm.invoke(context.WithoutCancel(ctx), 0, r.Reason(), payload)
	return nil
}
