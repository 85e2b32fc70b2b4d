package dynamodb

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// DescribeTable reports a table in its present state.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
func (d *DynamoDB) DescribeTable(req *wire.Request, in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.described(req, in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeTableOutput{Table: r.describe(d.now())}, nil
}

// ListTables returns up to 100 names in order.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTables.html
func (d *DynamoDB) ListTables(req *wire.Request, in *dynamodb.ListTablesInput) (*dynamodb.ListTablesOutput, error) {
	limit := aws.ToInt32(in.Limit)
	if in.Limit == nil {
		limit = 100
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value between 1 and 100", limit)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at := place{req.Account, req.Region}
	out := &dynamodb.ListTablesOutput{TableNames: []string{}}
	for _, name := range slices.Sorted(maps.Keys(d.replicas[at])) {
		if name <= aws.ToString(in.ExclusiveStartTableName) || d.lookup(at, name) == nil {
			continue
		}
		if len(out.TableNames) == int(limit) {
			out.LastEvaluatedTableName = &out.TableNames[limit-1]
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return out, nil
}

func (r *replica) describe(now time.Time) *types.TableDescription {
	t := r.table
	count, size := r.items.measure("")
	desc := &types.TableDescription{
		AttributeDefinitions:      t.definitions,
		CreationDateTime:          &r.created,
		DeletionProtectionEnabled: aws.Bool(r.protected),
		ItemCount:                 &count,
		KeySchema:                 t.keySchema,
		OnDemandThroughput:        t.maximum,
		ProvisionedThroughput:     describeThroughput(t.throughput),
		SSEDescription:            r.sse,
		TableArn:                  aws.String(r.arn()),
		TableId:                   &r.id,
		TableName:                 &t.name,
		TableSizeBytes:            &size,
		TableStatus:               r.status(now),
	}
	if !t.onDemand.IsZero() {
		desc.BillingModeSummary = &types.BillingModeSummary{BillingMode: t.billing, LastUpdateToPayPerRequestDateTime: &t.onDemand}
	}
	if t.class != "" {
		desc.TableClassSummary = &types.TableClassSummary{TableClass: t.class}
	}
	if t.streams() {
		desc.StreamSpecification = t.stream
	}
	if s := r.latestStream(); s != nil {
		desc.LatestStreamLabel = &s.label
		desc.LatestStreamArn = aws.String(r.streamARN(s))
	}
	r.describeGlobal(desc, now)
	for _, x := range t.indexes {
		desc.GlobalSecondaryIndexes = append(desc.GlobalSecondaryIndexes, r.describeIndex(x, now))
	}
	return desc
}

func (r *replica) describeIndex(x *index, now time.Time) types.GlobalSecondaryIndexDescription {
	count, size := r.items.measure(x.name)
	desc := types.GlobalSecondaryIndexDescription{
		IndexArn:              aws.String(r.arn() + "/index/" + x.name),
		IndexName:             &x.name,
		IndexSizeBytes:        &size,
		IndexStatus:           types.IndexStatusActive,
		ItemCount:             &count,
		KeySchema:             x.keySchema,
		OnDemandThroughput:    x.maximum,
		Projection:            &x.projection,
		ProvisionedThroughput: describeThroughput(x.throughput),
	}
	if now.Before(x.settles) {
		desc.IndexStatus = types.IndexStatusCreating
		desc.Backfilling = aws.Bool(r.status(now) != types.TableStatusCreating)
	}
	return desc
}

func describeThroughput(p *types.ProvisionedThroughput) *types.ProvisionedThroughputDescription {
	desc := &types.ProvisionedThroughputDescription{NumberOfDecreasesToday: aws.Int64(0), ReadCapacityUnits: aws.Int64(0), WriteCapacityUnits: aws.Int64(0)}
	if p != nil {
		desc.ReadCapacityUnits, desc.WriteCapacityUnits = p.ReadCapacityUnits, p.WriteCapacityUnits
	}
	return desc
}
