package dynamodb

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-api
const (
	maxBatchGet   = 100
	maxBatchWrite = 25
	maxBatchBytes = 16 << 20
)

// BatchGetItem reads up to 100 items of several tables.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func (d *DynamoDB) BatchGetItem(req *wire.Request, in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	total := 0
	for _, k := range in.RequestItems {
		total += len(k.Keys)
	}
	if total > maxBatchGet {
		return nil, invalid("Too many items requested for the BatchGetItem call")
	}
	if total == 0 {
		return nil, invalid("The requestItems parameter is required for BatchGetItem")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]value.Item{}, UnprocessedKeys: map[string]types.KeysAndAttributes{}}
	budget := maxBatchBytes
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		if err := d.getSome(req, name, in.RequestItems[name], out, &budget, in.ReturnConsumedCapacity); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// getSome reads the items of one table until the budget of bytes is spent; the
// other keys are left unprocessed.
func (d *DynamoDB) getSome(req *wire.Request, name string, want types.KeysAndAttributes, out *dynamodb.BatchGetItemOutput, budget *int, asked types.ReturnConsumedCapacity) error {
	if err := refuseLegacy("BatchGetItem", map[string]bool{"AttributesToGet": want.AttributesToGet != nil}); err != nil {
		return err
	}
	projection, err := parseProjection(want.ProjectionExpression, want.ExpressionAttributeNames)
	if err != nil {
		return err
	}
	r, err := d.usable(req, &name)
	if err != nil {
		return err
	}
	keys, err := r.distinctKeys(want.Keys)
	if err != nil {
		return err
	}
	stored, err := d.read(r, aws.ToBool(want.ConsistentRead))
	if err != nil {
		return err
	}
	u := newUsage(r.table.name)
	items := []value.Item{}
	for i, key := range keys {
		item := stored.get(key)
		size := value.Size(item)
		if *budget -= size; *budget < 0 {
			want.Keys = want.Keys[i:]
			out.UnprocessedKeys[name] = want
			break
		}
		u.read(size, aws.ToBool(want.ConsistentRead), 1)
		if item != nil {
			items = append(items, projection.Apply(item))
		}
	}
	out.Responses[name] = items
	if c := u.report(asked); c != nil {
		out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
	}
	return nil
}

func (r *replica) distinctKeys(keys []value.Item) ([]value.Item, error) {
	seen := map[string]bool{}
	out := make([]value.Item, len(keys))
	for i, k := range keys {
		key, err := r.table.primaryKey(k)
		if err != nil {
			return nil, err
		}
		position := r.items.items.position(key)
		if seen[position] {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		seen[position] = true
		out[i] = key
	}
	return out, nil
}

// BatchWriteItem puts and deletes up to 25 items, each by itself. A request
// that is not valid writes nothing.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
func (d *DynamoDB) BatchWriteItem(req *wire.Request, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
	total := 0
	for _, w := range in.RequestItems {
		total += len(w)
	}
	if total > maxBatchWrite {
		return nil, invalid("Too many items requested for the BatchWriteItem call")
	}
	if total == 0 {
		return nil, invalid("The requestItems parameter is required for BatchWriteItem")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	plan := newPlan()
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, w := range in.RequestItems[name] {
			i, err := batchIntent(name, w)
			if err != nil {
				return nil, err
			}
			r, err := d.usable(req, &name)
			if err != nil {
				return nil, err
			}
			if err := d.accepts(r); err != nil {
				return nil, err
			}
			c, err := r.evaluate(i)
			if err != nil {
				return nil, err
			}
			if !plan.add(r, c) {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
		}
	}
	out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{}}
	out.ConsumedCapacity = d.commit(plan, 1, in.ReturnConsumedCapacity)
	return out, nil
}

func batchIntent(table string, w types.WriteRequest) (*intent, error) {
	switch {
	case (w.PutRequest == nil) == (w.DeleteRequest == nil):
		return nil, invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	case w.PutRequest != nil:
		return write{verb: put, table: &table, item: w.PutRequest.Item}.parse()
	default:
		return write{verb: remove, table: &table, item: w.DeleteRequest.Key}.parse()
	}
}

// plan collects evaluated changes of different items, to apply them together.
type plan struct {
	steps []planned
	seen  map[*replica]map[string]bool
}

type planned struct {
	replica *replica
	change  change
}

func newPlan() *plan { return &plan{seen: map[*replica]map[string]bool{}} }

// claim notes that key is part of the plan; false if it was already.
func (p *plan) claim(r *replica, key value.Item) bool {
	if p.seen[r] == nil {
		p.seen[r] = map[string]bool{}
	}
	position := r.items.items.position(key)
	fresh := !p.seen[r][position]
	p.seen[r][position] = true
	return fresh
}

func (p *plan) add(r *replica, c change) bool {
	p.steps = append(p.steps, planned{r, c})
	return p.claim(r, c.key)
}

// commit makes all changes and reports the capacity per table; factor is 2 in a
// transaction.
func (d *DynamoDB) commit(p *plan, factor float64, asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	var order []*usage
	byReplica := map[*replica]*usage{}
	for _, s := range p.steps {
		d.apply(s.replica, s.change)
		u := byReplica[s.replica]
		if u == nil {
			u = newUsage(s.replica.table.name)
			byReplica[s.replica] = u
			order = append(order, u)
		}
		u.write(s.replica.table, s.change, factor)
	}
	return reports(order, asked)
}

func reports(all []*usage, asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	var out []types.ConsumedCapacity
	for _, u := range all {
		if c := u.report(asked); c != nil {
			out = append(out, *c)
		}
	}
	return out
}
