package statetable

import (
	"context"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Node implements control.Store.
func (t *Table) Node(ctx context.Context, group, node string) (failover.Observation, error) {
	it, err := t.get(ctx, groupPK(group), "NODE#"+node)
	if err != nil {
		return failover.Observation{}, err
	}
	var o failover.Observation
	return o, decode(it, &o)
}

// PutNode writes what an agent or watch read on a node. A record that is newer
// stays: the write of an agent that was frozen comes too late.
func (t *Table) PutNode(ctx context.Context, group string, o failover.Observation) error {
	attributes, err := encode(o)
	if err != nil {
		return err
	}
	readAt := number(o.ReadAt.UnixMilli())
	attributes["read_at_ms"] = readAt
	err = t.put(ctx, groupPK(group), "NODE#"+o.Node, attributes, condition{
		text:   "attribute_not_exists(#pk) OR #read_at_ms <= :read_at",
		values: item{":read_at": readAt},
	})
	if awsclient.IsConditionFailed(err) {
		return nil
	}
	return err
}

// Probe is what the agent of a node measures.
type Probe struct {
	Group     string
	Node      string
	Namespace string        // of the metric
	Metric    string        // name, in milliseconds, with the dimensions Group and Node
	Interval  time.Duration // between two probes
	Timeout   time.Duration // hard limit of one probe
	Threshold time.Duration // slower counts as failed
	Sentinel  time.Duration // published for a probe that timed out, above the threshold

	LeaseDuration time.Duration // for which the lease must stand still to count as expired; 0 = no lease
	LeaseInterval time.Duration // between two renewals, and two looks at it
	Function      string        // name or ARN of the takeover function, that hears of an expired lease
	SelfFencing   bool          // a primary that can't renew stops its own database before the lease expires
}

// PutProbe declares the probe of a node.
func (t *Table) PutProbe(ctx context.Context, p Probe) error {
	attributes, err := encode(p)
	if err != nil {
		return err
	}
	return t.put(ctx, groupPK(p.Group), "PROBE#"+p.Node, attributes, condition{})
}

// ReadProbe returns the probe of a node, or control.ErrNotFound.
func (t *Table) ReadProbe(ctx context.Context, group, node string) (Probe, error) {
	it, err := t.get(ctx, groupPK(group), "PROBE#"+node)
	if err != nil {
		return Probe{}, err
	}
	var p Probe
	return p, decode(it, &p)
}

// DeleteProbe removes the probe of a node. It is no error if there is none.
func (t *Table) DeleteProbe(ctx context.Context, group, node string) error {
	return t.delete(ctx, groupPK(group), "PROBE#"+node, condition{})
}
