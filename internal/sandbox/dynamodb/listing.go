package dynamodb

import (
	"slices"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
const maxPage = 1 << 20 // bytes, before the filter

// listing is what Query and Scan have in common: a page of a table or index.
type listing struct {
	table      *table
	index      *index // nil: the table itself
	view       *sorted
	descending bool
	consistent bool
	limit      int // items before the filter; 0 is no limit
	after      value.Item
	match      func(value.Item) bool // of the key condition; nil: all
	filter     *expression.Condition
	projection *expression.Projection
	count      bool // count only
}

// page is one page of a listing.
type page struct {
	items   []value.Item // nil with count
	count   int32
	scanned int32
	size    int
	last    value.Item
}

// over walks through entries of the view, which are in ascending order.
func (l *listing) over(entries []entry) page {
	if l.after != nil {
		entries = l.rest(entries)
	}
	if l.descending {
		entries = slices.Clone(entries)
		slices.Reverse(entries)
	}
	p := page{}
	if !l.count {
		p.items = []value.Item{}
	}
	for _, e := range entries {
		item := l.visible(e.item)
		if l.match != nil && !l.match(item) {
			continue
		}
		p.scanned++
		p.size += value.Size(item)
		if l.filter.Match(item) {
			p.count++
			if !l.count {
				p.items = append(p.items, l.projection.Apply(item))
			}
		}
		if int(p.scanned) == l.limit || p.size >= maxPage {
			p.last = l.keyOf(item)
			break
		}
	}
	return p
}

// rest drops what earlier pages have returned.
func (l *listing) rest(entries []entry) []entry {
	start := l.view.position(l.after)
	if l.descending {
		return entries[:sort.Search(len(entries), func(i int) bool { return entries[i].position >= start })]
	}
	return entries[sort.Search(len(entries), func(i int) bool { return entries[i].position > start }):]
}

// visible is what the index shows of an item.
func (l *listing) visible(item value.Item) value.Item {
	if l.index == nil {
		return item
	}
	return l.index.project(l.table, item)
}

// project picks the attributes of an item that the index holds.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Projection.html
func (x *index) project(t *table, item value.Item) value.Item {
	if x.projection.ProjectionType == types.ProjectionTypeAll {
		return item
	}
	out := value.Item{}
	for _, name := range x.attributes(t) {
		if v := item[name]; v != nil {
			out[name] = v
		}
	}
	return out
}

func (x *index) attributes(t *table) []string {
	return slices.Concat(keyNames(t.keySchema), keyNames(x.keySchema), x.projection.NonKeyAttributes)
}

// keyNames are the attributes of a start key.
func (l *listing) keyNames() []string {
	names := keyNames(l.table.keySchema)
	if l.index != nil {
		names = append(names, keyNames(l.index.keySchema)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (l *listing) keyOf(item value.Item) value.Item {
	key := value.Item{}
	for _, name := range l.keyNames() {
		key[name] = item[name]
	}
	return key
}

// use selects the table or an index.
func (l *listing) use(r *replica, items *store, name *string) error {
	l.table, l.view = r.table, items.items
	if name == nil {
		return nil
	}
	l.index = r.table.index(*name)
	if l.index == nil {
		return invalid("The table does not have the specified index: %s", *name)
	}
	if l.consistent {
		return invalid("Consistent reads are not supported on global secondary indexes")
	}
	l.view = items.indexes[*name]
	return l.checkProjection()
}

// checkProjection fails if attributes are wanted that the index does not hold.
func (l *listing) checkProjection() error {
	if l.projection == nil || l.index.projection.ProjectionType == types.ProjectionTypeAll {
		return nil
	}
	held := l.index.attributes(l.table)
	missing := slices.DeleteFunc(l.projection.Attributes(), func(name string) bool { return slices.Contains(held, name) })
	if len(missing) > 0 {
		return invalid("One or more parameter values were invalid: Global secondary index %s does not project [%s]", l.index.name, strings.Join(missing, ", "))
	}
	return nil
}

// start checks ExclusiveStartKey: all key attributes of table and index.
func (l *listing) start(key value.Item) error {
	if key == nil {
		return nil
	}
	key, err := value.NormalizeItem(key)
	if err != nil {
		return invalid("The provided starting key is invalid")
	}
	names := l.keyNames()
	if len(key) != len(names) {
		return invalid("The provided starting key is invalid")
	}
	for _, name := range names {
		if value.Type(key[name]) != l.table.typeOf(name) {
			return invalid("The provided starting key is invalid")
		}
	}
	l.after = key
	return nil
}

// choose applies the parameter Select.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html#DDB-Query-request-Select
func (l *listing) choose(s types.Select) error {
	switch s {
	case "":
	case types.SelectCount:
		l.count = true
		if l.projection != nil {
			return invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")
		}
	case types.SelectSpecificAttributes:
		if l.projection == nil {
			return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
		}
	case types.SelectAllProjectedAttributes:
		if l.index == nil {
			return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
		}
		fallthrough
	case types.SelectAllAttributes:
		if l.projection != nil {
			return invalid("Cannot specify the ProjectionExpression when choosing to get %s", s)
		}
		if l.index != nil && s == types.SelectAllAttributes && l.index.projection.ProjectionType != types.ProjectionTypeAll {
			return invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", l.index.name)
		}
	default:
		return invalid("1 validation error detected: Value '%s' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]", s)
	}
	return nil
}

// restrict applies the parameter Limit.
func (l *listing) restrict(limit *int32) error {
	if limit == nil {
		return nil
	}
	l.limit = int(*limit)
	return atLeastOne("limit", *limit)
}

func (l *listing) usage(p page) *usage {
	u := newUsage(l.table.name)
	if l.index == nil {
		u.table = readUnits(p.size, l.consistent)
		return u
	}
	u.indexes[l.index.name] = readUnits(p.size, false)
	return u
}
