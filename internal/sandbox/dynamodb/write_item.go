package dynamodb

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// PutItem writes a whole item.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
func (d *DynamoDB) PutItem(req *wire.Request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	if err := refuseLegacy("PutItem", map[string]bool{"Expected": in.Expected != nil, "ConditionalOperator": in.ConditionalOperator != ""}); err != nil {
		return nil, err
	}
	if err := checkReturnValues(in.ReturnValues, types.ReturnValueNone, types.ReturnValueAllOld); err != nil {
		return nil, err
	}
	w := write{put, in.TableName, in.Item, nil, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ReturnValuesOnConditionCheckFailure}
	done, err := d.writeOne(req, w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.PutItemOutput{Attributes: done.returned(in.ReturnValues), ConsumedCapacity: done.usage.report(in.ReturnConsumedCapacity)}, nil
}

// DeleteItem removes an item; one that does not exist is no error.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteItem.html
func (d *DynamoDB) DeleteItem(req *wire.Request, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	if err := refuseLegacy("DeleteItem", map[string]bool{"Expected": in.Expected != nil, "ConditionalOperator": in.ConditionalOperator != ""}); err != nil {
		return nil, err
	}
	if err := checkReturnValues(in.ReturnValues, types.ReturnValueNone, types.ReturnValueAllOld); err != nil {
		return nil, err
	}
	w := write{remove, in.TableName, in.Key, nil, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ReturnValuesOnConditionCheckFailure}
	done, err := d.writeOne(req, w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DeleteItemOutput{Attributes: done.returned(in.ReturnValues), ConsumedCapacity: done.usage.report(in.ReturnConsumedCapacity)}, nil
}

// UpdateItem changes attributes of an item, or makes it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html
func (d *DynamoDB) UpdateItem(req *wire.Request, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	if err := refuseLegacy("UpdateItem", map[string]bool{
		"Expected": in.Expected != nil, "ConditionalOperator": in.ConditionalOperator != "", "AttributeUpdates": in.AttributeUpdates != nil,
	}); err != nil {
		return nil, err
	}
	if err := checkReturnValues(in.ReturnValues, in.ReturnValues.Values()...); err != nil {
		return nil, err
	}
	w := write{update, in.TableName, in.Key, in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ReturnValuesOnConditionCheckFailure}
	done, err := d.writeOne(req, w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.UpdateItemOutput{Attributes: done.returned(in.ReturnValues), ConsumedCapacity: done.usage.report(in.ReturnConsumedCapacity)}, nil
}

func checkReturnValues(v types.ReturnValue, allowed ...types.ReturnValue) error {
	if v == "" || slices.Contains(allowed, v) {
		return nil
	}
	return invalid("Return values set to invalid value: %s", v)
}

// written is a write that is done.
type written struct {
	intent *intent
	change change
	usage  *usage
}

func (d *DynamoDB) writeOne(req *wire.Request, w write) (written, error) {
	i, err := w.parse()
	if err != nil {
		return written{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.usable(req, i.table)
	if err != nil {
		return written{}, err
	}
	if err := d.accepts(r); err != nil {
		return written{}, err
	}
	c, err := r.evaluate(i)
	if err != nil {
		return written{}, err
	}
	d.apply(r, c)
	u := newUsage(r.table.name)
	u.write(r.table, c, 1)
	return written{i, c, u}, nil
}

// returned picks what ReturnValues asks for, nil for nothing.
func (w written) returned(v types.ReturnValue) value.Item {
	item := w.change.old
	switch v {
	case types.ReturnValueAllOld:
		return item
	case types.ReturnValueAllNew:
		return w.change.new
	case types.ReturnValueUpdatedNew:
		item = w.change.new
	case types.ReturnValueUpdatedOld:
	default:
		return nil
	}
	if w.intent.update == nil {
		return nil
	}
	if changed := w.intent.update.Changed().Apply(item); len(changed) > 0 {
		return changed
	}
	return nil
}
