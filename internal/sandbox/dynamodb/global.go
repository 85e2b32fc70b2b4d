package dynamodb

import (
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// globalVersion is the version of global tables that the sandbox serves.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_versions.html
const globalVersion = "2019.11.21"

// DefaultReplicationLag is how long a write takes to the other Regions of an
// eventually consistent global table. AWS says: usually a second or less.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
const DefaultReplicationLag = time.Second

// global is a global table. Its replicas share one store if it is strongly
// consistent, so that every write is everywhere at once; otherwise each has its
// own, and writes travel between them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
type global struct {
	strong  bool
	members []*replica
	witness string // Region, "" for none
	settles time.Time
	pending []replication
}

// replication is a write on its way to another Region.
type replication struct {
	due   time.Time
	from  string // Region
	to    *replica
	key   value.Item
	item  value.Item // nil if it was deleted
	stamp stamp
}

// stamp orders the writes of one item: the last writer wins.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.conflict-resolution
type stamp struct {
	at     time.Time
	region string
}

func (s stamp) after(o stamp) bool {
	return s.at.After(o.at) || s.at.Equal(o.at) && s.region > o.region
}

// SetReplicationLag sets how long later writes travel.
func (d *DynamoDB) SetReplicationLag(lag time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lag = lag
}

// Isolate cuts a Region off from the others, or joins it again. Writes of
// eventually consistent global tables wait until then. Of a strongly consistent
// one, a Region that reaches no second Region serves no writes and no strongly
// consistent reads.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.availability
func (d *DynamoDB) Isolate(region string, cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at, tables := range d.replicas {
		for _, r := range tables {
			if at.region != region || r.global == nil || !r.global.strong {
				continue
			}
			r.frozen = nil
			if cut {
				r.frozen = r.items.clone()
			}
		}
	}
	d.isolated[region] = cut
}

// reaches reports whether the Region of r reaches a second one of its table.
func (d *DynamoDB) reaches(r *replica) bool {
	if d.isolated[r.at.region] {
		return false
	}
	if w := r.global.witness; w != "" && !d.isolated[w] {
		return true
	}
	return slices.ContainsFunc(r.global.members, func(m *replica) bool { return m != r && !d.isolated[m.at.region] })
}

func (d *DynamoDB) cutOff(r *replica) bool {
	return r.global != nil && r.global.strong && !d.reaches(r)
}

func unavailable(what string, r *replica) error {
	return wire.Errorf("InternalServerError", "%s of the multi-Region strongly consistent table %s fail: %s reaches no other Region of it", what, r.table.name, r.at.region).WithStatus(http.StatusInternalServerError)
}

// accepts fails while r can take no write.
func (d *DynamoDB) accepts(r *replica) error {
	if d.cutOff(r) {
		return unavailable("Writes", r)
	}
	return nil
}

// read returns the items that a read of r sees.
func (d *DynamoDB) read(r *replica, consistent bool) (*store, error) {
	switch {
	case !d.cutOff(r):
		return r.items, nil
	case consistent:
		return nil, unavailable("Strongly consistent reads", r)
	case r.frozen != nil:
		return r.frozen, nil
	}
	return r.items, nil
}

// spread takes a write of r, which r has already, to the other replicas.
func (d *DynamoDB) spread(r *replica, c change) {
	g, now := r.global, d.now()
	if g == nil {
		return
	}
	written := stamp{now, r.at.region}
	if !g.strong {
		r.stamp(c.key, written)
	}
	for _, m := range g.members {
		switch {
		case m == r || m.deleting:
		case g.strong:
			d.log(m, c)
		default:
			g.pending = append(g.pending, replication{now.Add(d.lag), r.at.region, m, c.key, c.new, written})
		}
	}
}

// stamp notes when an item was written last.
func (r *replica) stamp(key value.Item, s stamp) {
	if r.stamps == nil {
		r.stamps = map[string]stamp{}
	}
	r.stamps[r.items.items.position(key)] = s
}

// settle brings a global table up to the present: writes that have arrived, and
// replicas that are gone.
func (d *DynamoDB) settle(g *global) {
	now := d.now()
	waiting := g.pending[:0]
	for _, p := range g.pending {
		if p.due.After(now) || d.isolated[p.from] || d.isolated[p.to.at.region] {
			waiting = append(waiting, p)
			continue
		}
		d.arrive(p)
	}
	clear(g.pending[len(waiting):])
	g.pending = waiting
	g.members = slices.DeleteFunc(g.members, func(m *replica) bool { return m.deleting && !now.Before(m.settles) })
	if len(g.members) == 1 && g.witness == "" {
		g.members[0].global = nil
	}
}

func (d *DynamoDB) arrive(p replication) {
	position := p.to.items.items.position(p.key)
	if !p.stamp.after(p.to.stamps[position]) {
		return
	}
	c := change{key: p.key, old: p.to.items.get(p.key), new: p.item}
	p.to.items.replace(c.old, c.new)
	p.to.stamp(p.key, p.stamp)
	d.log(p.to, c)
}

// describeGlobal adds what DescribeTable shows of a global table.
func (r *replica) describeGlobal(desc *types.TableDescription, now time.Time) {
	g := r.global
	if g == nil {
		return
	}
	desc.GlobalTableVersion, desc.MultiRegionConsistency = aws.String(globalVersion), types.MultiRegionConsistencyEventual
	if g.strong {
		desc.MultiRegionConsistency = types.MultiRegionConsistencyStrong
	}
	for _, m := range g.members {
		if m != r {
			desc.Replicas = append(desc.Replicas, types.ReplicaDescription{
				RegionName: aws.String(m.at.region), ReplicaArn: aws.String(m.arn()), ReplicaStatus: types.ReplicaStatus(m.status(now)),
			})
		}
	}
	if g.witness != "" {
		status := types.WitnessStatusActive
		if now.Before(g.settles) {
			status = types.WitnessStatusCreating
		}
		desc.GlobalTableWitnesses = []types.GlobalTableWitnessDescription{{RegionName: aws.String(g.witness), WitnessStatus: status}}
	}
}
