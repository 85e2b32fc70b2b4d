package dynamodb

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Query reads a range of one partition of a table or index.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
func (d *DynamoDB) Query(req *wire.Request, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	if err := refuseLegacy("Query", map[string]bool{
		"AttributesToGet": in.AttributesToGet != nil, "ConditionalOperator": in.ConditionalOperator != "",
		"KeyConditions": in.KeyConditions != nil, "QueryFilter": in.QueryFilter != nil,
	}); err != nil {
		return nil, err
	}
	if in.KeyConditionExpression == nil {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	l := &listing{consistent: aws.ToBool(in.ConsistentRead), descending: in.ScanIndexForward != nil && !*in.ScanIndexForward}
	b, err := expression.Bind(in.ExpressionAttributeNames, in.ExpressionAttributeValues, true)
	if err != nil {
		return nil, err
	}
	if err := l.parse(b, in.FilterExpression, in.ProjectionExpression); err != nil {
		return nil, err
	}
	if err := l.restrict(in.Limit); err != nil {
		return nil, err
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.usable(req, in.TableName)
	if err != nil {
		return nil, err
	}
	items, err := d.read(r, l.consistent)
	if err != nil {
		return nil, err
	}
	if err := l.use(r, items, in.IndexName); err != nil {
		return nil, err
	}
	k, err := b.KeyCondition(*in.KeyConditionExpression, l.view.key)
	if err != nil {
		return nil, err
	}
	if err := b.Unused(); err != nil {
		return nil, err
	}
	if err := l.finishQuery(in, k); err != nil {
		return nil, err
	}
	p := l.over(l.view.within(k.Hash))
	return &dynamodb.QueryOutput{Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last, ConsumedCapacity: l.usage(p).report(in.ReturnConsumedCapacity)}, nil
}

// finishQuery checks what depends on the keys of the table or index.
func (l *listing) finishQuery(in *dynamodb.QueryInput, k *expression.KeyCondition) error {
	l.match = k.Match
	for _, name := range []string{l.view.key.Hash, l.view.key.Sort} {
		if name != "" && l.filter.Mentions(name) {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	if err := l.choose(in.Select); err != nil {
		return err
	}
	if err := l.start(in.ExclusiveStartKey); err != nil {
		return err
	}
	if l.after != nil && !value.Equal(l.after[l.view.key.Hash], k.Hash) {
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	return nil
}

// parse parses the expressions of a page.
func (l *listing) parse(b *expression.Bindings, filter, projection *string) (err error) {
	if filter != nil {
		if l.filter, err = b.Condition("FilterExpression", *filter); err != nil {
			return err
		}
	}
	if projection != nil {
		l.projection, err = b.Projection(*projection)
	}
	return err
}

// Scan reads a table or index, or a segment of it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
func (d *DynamoDB) Scan(req *wire.Request, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	if err := refuseLegacy("Scan", map[string]bool{
		"AttributesToGet": in.AttributesToGet != nil, "ConditionalOperator": in.ConditionalOperator != "", "ScanFilter": in.ScanFilter != nil,
	}); err != nil {
		return nil, err
	}
	if err := checkSegments(in.Segment, in.TotalSegments); err != nil {
		return nil, err
	}
	l := &listing{consistent: aws.ToBool(in.ConsistentRead)}
	b, err := expression.Bind(in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.FilterExpression != nil || in.ProjectionExpression != nil)
	if err != nil {
		return nil, err
	}
	if err := l.parse(b, in.FilterExpression, in.ProjectionExpression); err != nil {
		return nil, err
	}
	if err := b.Unused(); err != nil {
		return nil, err
	}
	if err := l.restrict(in.Limit); err != nil {
		return nil, err
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.usable(req, in.TableName)
	if err != nil {
		return nil, err
	}
	items, err := d.read(r, l.consistent)
	if err != nil {
		return nil, err
	}
	if err := l.use(r, items, in.IndexName); err != nil {
		return nil, err
	}
	if err := l.choose(in.Select); err != nil {
		return nil, err
	}
	if err := l.start(in.ExclusiveStartKey); err != nil {
		return nil, err
	}
	entries := l.view.entries
	if in.Segment != nil {
		entries = l.view.segment(*in.Segment, *in.TotalSegments)
		if l.after != nil && segmentOf(l.view.position(l.after), *in.TotalSegments) != *in.Segment {
			return nil, invalid("The provided starting key is outside the Segment")
		}
	}
	p := l.over(slices.Clip(entries))
	return &dynamodb.ScanOutput{Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last, ConsumedCapacity: l.usage(p).report(in.ReturnConsumedCapacity)}, nil
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html#Scan.ParallelScan
func checkSegments(segment, total *int32) error {
	switch {
	case segment == nil && total == nil:
		return nil
	case total == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case segment == nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case *total < 1 || *total > 1_000_000:
		return invalid("1 validation error detected: Value '%d' at 'totalSegments' failed to satisfy constraint: Member must have value between 1 and 1000000", *total)
	case *segment < 0 || *segment >= *total:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d", *segment, *total)
	}
	return nil
}
