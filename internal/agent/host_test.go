package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// host is a database host as the agent sees it.
type host struct {
	mu        sync.Mutex
	view      failover.Observation
	probe     func(ctx context.Context) error
	probes    int
	primary   string
	recordErr error

	amend func(*statetable.Probe)

	vip    string
	bound  bool
	values []float64
	times  []time.Time
	nodes  []failover.Observation

	bindErr    error
	frozen     chan struct{} // a call that never ends, until it is closed
	viewErr    bool
	viewHangs  bool
	viewTakes  time.Duration
	cutOff     bool          // from AWS: calls get no answer
	window     time.Duration // peer window, 0 = none
	hears      bool          // its standby
	living     bool          // the other node renews its lease
	epoch      uint64
	operation  *failover.Operation
	refused    time.Time
	guard      failover.Guard // that refused
	fenced     bool
	duration   time.Duration // of the lease, 0 = none
	interval   time.Duration
	lease      failover.Lease
	renewals   []renewal
	offset     time.Duration
	metricsErr error
	killErr    error
	reportErr  error
	killed     []time.Time
	reports    []sent
}

type renewal struct {
	lease failover.Lease
	at    time.Time
}

type sent struct {
	function string
	report   evidence.Report
	at       time.Time
}

// set changes the host while an agent runs on it.
func (h *host) set(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// after changes it later.
func (h *host) after(d time.Duration, f func()) { time.AfterFunc(d, func() { h.set(f) }) }

func (h *host) Load(context.Context, string) (failover.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := failover.State{
		Primary: h.primary, Epoch: h.epoch, Operation: h.operation, Refused: failover.Refusal{Guard: h.guard, At: h.refused},
		Config: failover.Config{VIP: h.vip, Nodes: []failover.NodeConfig{{ID: "a"}, {ID: "b"}}},
	}
	if h.fenced {
		s.Fenced = map[string]failover.Fence{"a": {}}
	}
	return s, h.recordErr
}

func (h *host) ReadProbe(context.Context, string, string) (statetable.Probe, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := statetable.Probe{
		Group: "orders", Node: "a", Namespace: "HADR", Metric: "SQLLatency",
		Interval: 20 * time.Second, Timeout: 19 * time.Second, Threshold: 20 * time.Second, Sentinel: 20001 * time.Millisecond,
		LeaseDuration: h.duration, LeaseInterval: h.interval, Function: "takeover",
	}
	if h.amend != nil {
		h.amend(&p)
	}
	return p, h.recordErr
}

// reach waits for an answer that does not come while the host is cut off.
func (h *host) reach(ctx context.Context) {
	h.mu.Lock()
	cut := h.cutOff
	h.mu.Unlock()
	if cut {
		<-ctx.Done()
	}
}

func (h *host) PutNode(ctx context.Context, _ string, o failover.Observation) error {
	h.reach(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recordErr != nil {
		return h.recordErr
	}
	h.nodes = append(h.nodes, o)
	return nil
}

func (h *host) Put(_ context.Context, _ statetable.Probe, at time.Time, ms float64) error {
	h.mu.Lock()
	frozen := h.frozen
	h.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.metricsErr != nil {
		return h.metricsErr
	}
	h.values, h.times = append(h.values, ms), append(h.times, at)
	return nil
}

func (h *host) View(ctx context.Context, _ map[string]string) failover.Observation {
	h.mu.Lock()
	hangs, takes := h.viewHangs, h.viewTakes
	h.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return failover.Observation{Answer: failover.Silent, AnswerError: "no answer in time"}
	}
	time.Sleep(takes)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.viewErr {
		return failover.Observation{Answer: failover.Silent, AnswerError: "no answer in time"}
	}
	return h.now(h.view)
}

// now dates a view, and the window of a primary that hears its standby.
func (h *host) now(o failover.Observation) failover.Observation {
	o.HostTime = time.Now()
	switch {
	case h.window == 0 || o.Role != failover.RolePrimary:
		o.BlockedUntil = time.Time{}
	case h.hears:
		o.BlockedUntil = o.HostTime.Add(h.window)
	}
	return o
}

func (h *host) Probe(ctx context.Context, _ string, _ map[string]string) error {
	h.mu.Lock()
	h.probes++
	probe := h.probe
	h.mu.Unlock()
	return probe(ctx)
}

func (h *host) ReadLease(ctx context.Context, _ string) (failover.Lease, error) {
	h.reach(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recordErr != nil {
		return failover.Lease{}, h.recordErr
	}
	if h.lease.Epoch == 0 {
		return failover.Lease{}, control.ErrNotFound
	}
	return h.lease, nil
}

func (h *host) RenewLease(ctx context.Context, _ string, next failover.Lease) error {
	h.reach(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.recordErr != nil:
		return h.recordErr
	case h.lease.Sealed && h.lease.Epoch == next.Epoch, h.lease.Epoch > next.Epoch:
		return statetable.ErrLeaseLost
	case h.lease.Epoch == next.Epoch && h.lease.Counter+1 != next.Counter:
		return errors.New("another counter")
	}
	h.lease = next
	h.renewals = append(h.renewals, renewal{next, time.Now()})
	return nil
}

func (h *host) Kill(context.Context, map[string]string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.killed = append(h.killed, time.Now())
	if h.killErr != nil {
		return h.killErr
	}
	h.view = failover.Observation{Answer: failover.Answered, Database: failover.DatabaseDown}
	return nil
}

func (h *host) Report(_ context.Context, function string, r evidence.Report) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reports = append(h.reports, sent{function, r, time.Now()})
	return h.reportErr
}

func (h *host) Hold(context.Context, string) error { return h.bind(true) }

func (h *host) Release(context.Context, string) error { return h.bind(false) }

func (h *host) bind(bound bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bindErr == nil {
		h.bound = bound
	}
	return h.bindErr
}

func (h *host) Offset() (time.Duration, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.offset, time.Now()
}

func primaryHost() *host {
	return &host{
		primary: "a", epoch: 7,
		view:  failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive, State: "PEER"},
		probe: func(context.Context) error { time.Sleep(30 * time.Millisecond); return nil },
	}
}

// measure runs an agent on h for d.
func measure(t *testing.T, h *host, d time.Duration) {
	t.Helper()
	run(t, h.agent("a"), d)
}

func (h *host) agent(node string) *Agent {
	return &Agent{
		Group: "orders", Node: node, Record: h, Metrics: h, Database: h, Endpoint: h, Offset: h, Takeover: h,
		Watchdog: 30 * time.Second, Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
	}
}

func run(t *testing.T, a *Agent, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
}
