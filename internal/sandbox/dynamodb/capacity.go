package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// usage counts the capacity units that a request uses of one table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
type usage struct {
	name    string
	table   float64
	indexes map[string]float64
}

func newUsage(table string) *usage { return &usage{name: table, indexes: map[string]float64{}} }

// report is the ConsumedCapacity of an answer, nil if it was not asked for.
func (u *usage) report(asked types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	if u == nil || asked == "" || asked == types.ReturnConsumedCapacityNone {
		return nil
	}
	total := u.table
	for _, n := range u.indexes {
		total += n
	}
	c := &types.ConsumedCapacity{TableName: &u.name, CapacityUnits: &total}
	if asked == types.ReturnConsumedCapacityIndexes {
		c.Table = &types.Capacity{CapacityUnits: &u.table}
		for name, n := range u.indexes {
			if c.GlobalSecondaryIndexes == nil {
				c.GlobalSecondaryIndexes = map[string]types.Capacity{}
			}
			c.GlobalSecondaryIndexes[name] = types.Capacity{CapacityUnits: &n}
		}
	}
	return c
}

// read counts a read of size bytes; factor is 2 in a transaction.
func (u *usage) read(size int, consistent bool, factor float64) {
	u.table += readUnits(size, consistent) * factor
}

// readUnits counts 4 KB for a consistent and 8 KB for an eventually consistent
// read.
func readUnits(size int, consistent bool) float64 {
	units := float64(max(1, (size+4095)/4096))
	if consistent {
		return units
	}
	return units / 2
}

// write counts a change by the larger of both items, per KB, and what it
// changes in the indexes; factor is 2 in a transaction.
func (u *usage) write(t *table, c change, factor float64) {
	u.table += writeUnits(max(value.Size(c.old), value.Size(c.new))) * factor
	for _, x := range t.indexes {
		if n := x.writeUnits(t, c); n > 0 {
			u.indexes[x.name] += n * factor
		}
	}
}

func writeUnits(size int) float64 { return float64(max(1, (size+1023)/1024)) }

// writeUnits counts one write for an entry of the index that comes, goes or
// changes, and two if its key changes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
func (x *index) writeUnits(t *table, c change) float64 {
	view := sorted{key: x.key}
	var before, after value.Item
	if view.holds(c.old) {
		before = x.project(t, c.old)
	}
	if view.holds(c.new) {
		after = x.project(t, c.new)
	}
	switch {
	case before == nil && after == nil, before != nil && after != nil && value.EqualItems(before, after):
		return 0
	case before == nil || after == nil || view.position(before) == view.position(after):
		return writeUnits(max(value.Size(before), value.Size(after)))
	default:
		return writeUnits(value.Size(before)) + writeUnits(value.Size(after))
	}
}
