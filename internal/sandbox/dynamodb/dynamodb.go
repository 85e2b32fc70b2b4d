// Package dynamodb is DynamoDB in memory: tables per account and Region, items,
// indexes, expressions and transactions as the documentation describes them.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/Welcome.html
package dynamodb

import (
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// DynamoDB holds the tables of all accounts and Regions.
type DynamoDB struct {
	world *world.World

	// mu orders all requests: every write is linearizable, every transaction
	// serializable, and every read consistent.
	mu       sync.Mutex
	replicas map[place]map[string]*replica // by table name
	tokens   map[tokenID]remembered
	lag      time.Duration    // of replication between Regions
	isolated map[string]bool  // Regions that reach no other
	keys     map[place]string // ARNs of the KMS keys that are managed for DynamoDB
}

// place is where a table lives.
type place struct{ account, region string }

// New returns a DynamoDB without tables.
func New(w *world.World) *DynamoDB {
	return &DynamoDB{world: w, replicas: map[place]map[string]*replica{}, tokens: map[tokenID]remembered{}, lag: DefaultReplicationLag, isolated: map[string]bool{}, keys: map[place]string{}}
}

func (d *DynamoDB) now() time.Time { return d.world.Clock.Now() }

// Service returns the operations of DynamoDB.
func (d *DynamoDB) Service() *wire.Service {
	wire.RegisterUnion[types.AttributeValue](
		&types.AttributeValueMemberS{}, &types.AttributeValueMemberN{}, &types.AttributeValueMemberB{}, &types.AttributeValueMemberBOOL{}, &types.AttributeValueMemberNULL{},
		&types.AttributeValueMemberSS{}, &types.AttributeValueMemberNS{}, &types.AttributeValueMemberBS{}, &types.AttributeValueMemberL{}, &types.AttributeValueMemberM{},
	)
	s := &wire.Service{
		Name:     "dynamodb",
		Target:   "DynamoDB_20120810",
		Version:  "2012-08-10",
		Default:  wire.JSON10,
		Schema:   schemas.DynamoDB_20120810,
		Types:    dynamodb.TypeRegistry,
		Checksum: true,
	}
	d.handleTables(s)
	d.handleItems(s)
	return s
}

func (d *DynamoDB) handleTables(s *wire.Service) {
	wire.Handle(s, "CreateTable", schemas.CreateTable, schemas.CreateTableOutput, d.CreateTable)
	wire.Handle(s, "DescribeTable", schemas.DescribeTable, schemas.DescribeTableOutput, d.DescribeTable)
	wire.Handle(s, "UpdateTable", schemas.UpdateTable, schemas.UpdateTableOutput, d.UpdateTable)
	wire.Handle(s, "DeleteTable", schemas.DeleteTable, schemas.DeleteTableOutput, d.DeleteTable)
	wire.Handle(s, "ListTables", schemas.ListTables, schemas.ListTablesOutput, d.ListTables)
	wire.Handle(s, "TagResource", schemas.TagResource, nil, d.TagResource)
	wire.Handle(s, "UntagResource", schemas.UntagResource, nil, d.UntagResource)
	wire.Handle(s, "ListTagsOfResource", schemas.ListTagsOfResource, schemas.ListTagsOfResourceOutput, d.ListTagsOfResource)
	wire.Handle(s, "DescribeContinuousBackups", schemas.DescribeContinuousBackups, schemas.DescribeContinuousBackupsOutput, d.DescribeContinuousBackups)
	wire.Handle(s, "UpdateContinuousBackups", schemas.UpdateContinuousBackups, schemas.UpdateContinuousBackupsOutput, d.UpdateContinuousBackups)
	wire.Handle(s, "DescribeTimeToLive", schemas.DescribeTimeToLive, schemas.DescribeTimeToLiveOutput, d.DescribeTimeToLive)
	wire.Handle(s, "UpdateTimeToLive", schemas.UpdateTimeToLive, schemas.UpdateTimeToLiveOutput, d.UpdateTimeToLive)
}

func (d *DynamoDB) handleItems(s *wire.Service) {
	wire.Handle(s, "PutItem", schemas.PutItem, schemas.PutItemOutput, d.PutItem)
	wire.Handle(s, "GetItem", schemas.GetItem, schemas.GetItemOutput, d.GetItem)
	wire.Handle(s, "UpdateItem", schemas.UpdateItem, schemas.UpdateItemOutput, d.UpdateItem)
	wire.Handle(s, "DeleteItem", schemas.DeleteItem, schemas.DeleteItemOutput, d.DeleteItem)
	wire.Handle(s, "Query", schemas.Query, schemas.QueryOutput, d.Query)
	wire.Handle(s, "Scan", schemas.Scan, schemas.ScanOutput, d.Scan)
	wire.Handle(s, "BatchGetItem", schemas.BatchGetItem, schemas.BatchGetItemOutput, d.BatchGetItem)
	wire.Handle(s, "BatchWriteItem", schemas.BatchWriteItem, schemas.BatchWriteItemOutput, d.BatchWriteItem)
	wire.Handle(s, "TransactGetItems", schemas.TransactGetItems, schemas.TransactGetItemsOutput, d.TransactGetItems)
	wire.Handle(s, "TransactWriteItems", schemas.TransactWriteItems, schemas.TransactWriteItemsOutput, d.TransactWriteItems)
}
