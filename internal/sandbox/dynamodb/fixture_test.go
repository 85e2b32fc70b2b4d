package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

type Item = value.Item

func S(v string) types.AttributeValue { return value.S(v) }
func N(v any) types.AttributeValue    { return value.N(fmt.Sprint(v)) }

func ptr[T any](v T) *T { return &v }

// key is a primary key of the table "items".
func key(pk, sk string) Item { return Item{"pk": S(pk), "sk": S(sk)} }

// item is an item of the table "items".
func item(pk, sk string, attributes Item) Item {
	out := key(pk, sk)
	for k, v := range attributes {
		out[k] = v
	}
	return out
}

var sameItem = cmp.Options{
	cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}),
	cmpopts.EquateEmpty(),
}

// fixture is a DynamoDB with the table "items" (pk, sk, index by-g on g and
// sk), called as one account in one Region, in virtual time.
type fixture struct {
	*testing.T
	db  *DynamoDB
	req *wire.Request
}

func run(t *testing.T, test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, db: New(world.New(clock.System())), req: request("us-east-1", world.DefaultAccount)}
		f.create(tableInput("items"))
		test(f)
	})
}

func request(region, account string) *wire.Request {
	return &wire.Request{Context: context.Background(), Region: region, Account: account}
}

func tableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: ptr("pk"), AttributeType: "S"}, {AttributeName: ptr("sk"), AttributeType: "S"}, {AttributeName: ptr("g"), AttributeType: "S"}},
		KeySchema: []types.KeySchemaElement{{AttributeName: ptr("pk"), KeyType: "HASH"}, {AttributeName: ptr("sk"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: ptr("by-g"), Projection: &types.Projection{ProjectionType: "INCLUDE", NonKeyAttributes: []string{"n"}},
			KeySchema: []types.KeySchemaElement{{AttributeName: ptr("g"), KeyType: "HASH"}, {AttributeName: ptr("sk"), KeyType: "RANGE"}}}},
	}
}

// create makes a table and waits until it is ACTIVE.
func (f *fixture) create(in *dynamodb.CreateTableInput) *types.TableDescription {
	f.Helper()
	out, err := f.db.CreateTable(f.req, in)
	f.ok(err)
	time.Sleep(createTime)
	return out.TableDescription
}

func (f *fixture) describe(name string) *types.TableDescription {
	f.Helper()
	out, err := f.db.DescribeTable(f.req, &dynamodb.DescribeTableInput{TableName: &name})
	f.ok(err)
	return out.Table
}

func (f *fixture) put(items ...Item) {
	f.Helper()
	for _, it := range items {
		_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: it})
		f.ok(err)
	}
}

func (f *fixture) get(pk, sk string) Item {
	f.Helper()
	out, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("items"), Key: key(pk, sk)})
	f.ok(err)
	return out.Item
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// fails checks code and a part of the message of an error.
func (f *fixture) fails(err error, code, text string) *wire.Error {
	f.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, text) {
		f.Fatalf("error is %v, want %s: %s", err, code, text)
	}
	return e
}

func (f *fixture) same(want, got any) {
	f.Helper()
	if diff := cmp.Diff(want, got, sameItem); diff != "" {
		f.Fatalf("differs (-want +got):\n%s", diff)
	}
}

// is checks a plain value.
func is[V comparable](f *fixture, what string, got, want V) {
	f.Helper()
	if got != want {
		f.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func text(p *string) string { return aws.ToString(p) }
