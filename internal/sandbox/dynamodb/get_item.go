package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// GetItem reads an item; for one that does not exist Item is nil.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetItem.html
func (d *DynamoDB) GetItem(req *wire.Request, in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	if err := refuseLegacy("GetItem", map[string]bool{"AttributesToGet": in.AttributesToGet != nil}); err != nil {
		return nil, err
	}
	projection, err := parseProjection(in.ProjectionExpression, in.ExpressionAttributeNames)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.usable(req, in.TableName)
	if err != nil {
		return nil, err
	}
	key, err := r.table.primaryKey(in.Key)
	if err != nil {
		return nil, err
	}
	items, err := d.read(r, aws.ToBool(in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	item, u := items.get(key), newUsage(r.table.name)
	u.read(value.Size(item), aws.ToBool(in.ConsistentRead), 1)
	return &dynamodb.GetItemOutput{Item: pick(projection, item), ConsumedCapacity: u.report(in.ReturnConsumedCapacity)}, nil
}

// parseProjection parses the only expression of a request.
func parseProjection(source *string, names map[string]string) (*expression.Projection, error) {
	b, err := expression.Bind(names, nil, source != nil)
	if err != nil || source == nil {
		return nil, err
	}
	p, err := b.Projection(*source)
	if err != nil {
		return nil, err
	}
	return p, b.Unused()
}

// pick projects an item that may not exist.
func pick(p *expression.Projection, item value.Item) value.Item {
	if item == nil {
		return nil
	}
	return p.Apply(item)
}
