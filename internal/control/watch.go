package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// heard is how old an agent's record may be for watch not to ask its node.
const heard = time.Minute

// Watch is the minutely look at a group: it goes on with what was interrupted,
// and sees what events missed (R3, R18, R32). operationID is used if it starts
// something.
func (r *Runner) Watch(ctx context.Context, group, operationID string) (Result, error) {
	w := &work{Runner: r, group: group, log: r.Log.With("group", group)}
	defer w.background.Wait()
	if err := w.load(ctx); err != nil {
		return Result{}, err
	}
	if running(w.state) && w.state.Operation.Kind != failover.Rejoin {
		// Nothing that could be seen matters: the operation is gone on with.
		return r.Run(ctx, group, failover.Watched{At: r.Clock.Now(), OperationID: operationID})
	}
	return r.Run(ctx, group, w.see(ctx, operationID))
}

// see reads what the core needs for a look. What can't be read is left out: the
// look of the next minute has it.
func (w *work) see(ctx context.Context, operationID string) failover.Watched {
	e := failover.Watched{OperationID: operationID, Nodes: map[string]failover.Observation{}, Owners: map[string]string{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, n := range w.config().Nodes {
		wg.Go(func() {
			o := w.hear(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			e.Nodes[n.ID] = o
		})
	}
	if w.config().VIP != "" {
		for _, table := range w.config().Routes {
			wg.Go(func() {
				owner, err := w.Routes.Owner(ctx, table, w.config().VIP)
				if err != nil {
					w.log.Warn("reading a route failed", "table", table, "error", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				e.Owners[table] = owner
			})
		}
	}
	wg.Go(func() {
		l := w.lease(ctx)
		mu.Lock()
		defer mu.Unlock()
		e.Lease = l
	})
	alarms, err := w.redAlarms(ctx)
	if err != nil {
		w.log.Warn("reading the alarms failed", "error", err)
	}
	wg.Wait()
	e.Alarms, e.At = alarms, w.Clock.Now()
	return e
}

// lease reads the lease of the primary, empty where there is none.
func (w *work) lease(ctx context.Context) failover.Lease {
	if w.Leases == nil {
		return failover.Lease{}
	}
	l, err := w.Leases.ReadLease(ctx, w.group)
	if err != nil {
		if !errors.Is(err, ErrNotFound) {
			w.log.Warn("reading the lease failed", "error", err)
		}
		return failover.Lease{}
	}
	return l
}

// hear returns what a node's agent wrote a moment ago, or asks the node and
// records the answer for nodes without an agent.
func (w *work) hear(ctx context.Context, n failover.NodeConfig) failover.Observation {
	o, err := w.Store.Node(ctx, w.group, n.ID)
	if err == nil && w.Clock.Now().Sub(o.ReadAt) < heard && o.Source == "agent" {
		machine, check, err := w.Instances.State(ctx, n)
		if err != nil {
			w.log.Warn("reading the machine failed", "node", n.ID, "error", err)
		}
		o.Instance, o.InstanceCheck = machine, check
		return o
	}
	o = w.observe(ctx, n.ID, w.config().WithDefaults().GatherTimeout)
	if o.Answer == failover.Answered {
		record := o
		record.Source = "watch"
		if err := w.Store.PutNode(ctx, w.group, record); err != nil {
			w.log.Warn("recording what was read on a node failed", "node", n.ID, "error", err)
		}
	}
	return o
}

func (w *work) redAlarms(ctx context.Context) ([]failover.RedAlarm, error) {
	bound, err := w.Store.ReadAlarms(ctx, w.group)
	if err != nil {
		return nil, err
	}
	var arns []string
	node := map[string]string{}
	for n, list := range bound {
		for _, arn := range list {
			arns = append(arns, arn)
			node[arn] = n
		}
	}
	if len(arns) == 0 {
		return nil, nil
	}
	found, err := w.Alarms.Evidence(ctx, arns)
	if err != nil {
		return nil, err
	}
	var red []failover.RedAlarm
	for _, e := range found {
		red = append(red, failover.RedAlarm{ARN: e.Source, Node: node[e.Source], Since: e.At, Reason: e.Detail})
	}
	return red, nil
}
