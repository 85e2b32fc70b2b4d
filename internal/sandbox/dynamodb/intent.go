package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// verb is what a write does.
type verb int

const (
	put verb = iota
	update
	remove
	check // only tests its condition, in a transaction
)

// write is a request to write one item: alone, in a batch or in a transaction.
type write struct {
	verb      verb
	table     *string
	item      value.Item // put: the item; otherwise: its key
	update    *string
	condition *string
	names     map[string]string
	values    value.Item
	onFailure types.ReturnValuesOnConditionCheckFailure
}

// intent is a write whose expressions are parsed.
type intent struct {
	verb       verb
	table      *string
	item       value.Item
	update     *expression.Update
	condition  *expression.Condition
	returnItem bool // with a failed condition
}

func (w write) parse() (*intent, error) {
	b, err := expression.Bind(w.names, w.values, w.condition != nil || w.update != nil)
	if err != nil {
		return nil, err
	}
	i := &intent{verb: w.verb, table: w.table, returnItem: w.onFailure == types.ReturnValuesOnConditionCheckFailureAllOld}
	if w.update != nil {
		if i.update, err = b.Update(*w.update); err != nil {
			return nil, err
		}
	}
	if w.condition != nil {
		if i.condition, err = b.Condition("ConditionExpression", *w.condition); err != nil {
			return nil, err
		}
	}
	if err := b.Unused(); err != nil {
		return nil, err
	}
	i.item, err = value.NormalizeItem(w.item)
	return i, err
}

// key returns the primary key of the item that the intent is about.
func (i *intent) key(t *table) (value.Item, error) {
	if i.verb == put {
		return t.keyOf(i.item)
	}
	return t.primaryKey(i.item)
}

// change is an evaluated intent: the item before and after, nil for none.
type change struct {
	key      value.Item
	old, new value.Item
}

// evaluate tests the condition on the present item and computes the new one.
// Nothing is written.
func (r *replica) evaluate(i *intent) (change, error) {
	key, err := i.key(r.table)
	if err != nil {
		return change{}, err
	}
	c := change{key: key, old: r.items.get(key)}
	if !i.condition.Match(c.old) {
		if i.returnItem {
			return c, conditionFailed(c.old)
		}
		return c, conditionFailed(nil)
	}
	switch i.verb {
	case check:
		c.new = c.old
		return c, nil
	case remove:
		return c, nil
	case put:
		c.new = i.item
		if value.Size(c.new) > value.MaxItem {
			return c, invalid("Item size has exceeded the maximum allowed size")
		}
	case update:
		if c.new, err = r.updated(i, c); err != nil {
			return c, err
		}
	}
	return c, r.table.checkIndexKeys(c.new)
}

func (r *replica) updated(i *intent, c change) (value.Item, error) {
	base := c.old
	if base == nil {
		base = c.key
	}
	if i.update == nil {
		return base, nil
	}
	for _, name := range i.update.Attributes() {
		if c.key[name] != nil {
			return nil, invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	item, err := i.update.Apply(base)
	if err == nil && value.Size(item) > value.MaxItem {
		err = invalid("Item size to update has exceeded the maximum allowed size")
	}
	return item, err
}

// apply makes an evaluated change. Every write of an item passes here.
func (d *DynamoDB) apply(r *replica, c change) {
	r.items.replace(c.old, c.new)
	d.log(r, c)
	d.spread(r, c)
}

// log writes a change into the stream of a replica.
func (d *DynamoDB) log(r *replica, c change) {
	if r.table.streams() {
		r.latestStream().record(c, r.at.region, d.world.Hex(32), d.now())
	}
}
