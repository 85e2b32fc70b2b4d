package statetable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
)

// API is what a Table needs of a DynamoDB client.
type API interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Table is the record. It is safe for concurrent use.
type Table struct {
	api   API
	name  string
	clock clock.Clock
}

var _ control.Store = (*Table)(nil)

// New returns the record in a table, given by name or ARN.
func New(api API, tableName string, c clock.Clock) *Table {
	return &Table{api: api, name: tableName, clock: c}
}

// Errors beside those of control.
var (
	// ErrExists: the group has a state already.
	ErrExists = errors.New("already exists")
	// ErrBusy: an operation is running.
	ErrBusy = errors.New("an operation is running")
	// ErrBound: an alarm belongs to another group or node.
	ErrBound = errors.New("bound elsewhere")
)

type item = map[string]types.AttributeValue

// Keys of the items.
const (
	skConfig  = "CONFIG"
	skState   = "STATE"
	skLease   = "LEASE"
	skBinding = "BINDING"
	skSeen    = "SEEN"
	pkUnknown = "UNKNOWN"
)

func key(pk, sk string) item {
	return item{"pk": str(pk), "sk": str(sk)}
}

func groupPK(group string) string { return "GROUP#" + group }

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func boolean(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

func number[T int | int64 | uint64](n T) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

// get reads one item, or returns control.ErrNotFound.
func (t *Table) get(ctx context.Context, pk, sk string) (item, error) {
	out, err := t.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key(pk, sk), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s/%s of table %s: %w", pk, sk, t.name, err)
	}
	if len(out.Item) == 0 {
		return nil, fmt.Errorf("%s/%s of table %s: %w", pk, sk, t.name, control.ErrNotFound)
	}
	return out.Item, nil
}

// put writes a whole item under an optional condition.
func (t *Table) put(ctx context.Context, pk, sk string, attributes item, c condition) error {
	it := key(pk, sk)
	maps.Copy(it, attributes)
	in := &dynamodb.PutItemInput{TableName: &t.name, Item: it}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.parts()
	if _, err := t.api.PutItem(ctx, in); err != nil {
		return fmt.Errorf("write %s/%s of table %s: %w", pk, sk, t.name, err)
	}
	return nil
}

func (t *Table) delete(ctx context.Context, pk, sk string, c condition) error {
	in := &dynamodb.DeleteItemInput{TableName: &t.name, Key: key(pk, sk)}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.parts()
	if _, err := t.api.DeleteItem(ctx, in); err != nil {
		return fmt.Errorf("delete %s/%s of table %s: %w", pk, sk, t.name, err)
	}
	return nil
}

// list reads the items of a partition whose sort key begins with prefix, in
// order or newest first; limit 0 reads them all.
func (t *Table) list(ctx context.Context, pk, prefix string, newestFirst bool, limit int) ([]item, error) {
	in := &dynamodb.QueryInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!newestFirst),
		KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :prefix)"),
		ExpressionAttributeNames:  map[string]string{"#pk": "pk", "#sk": "sk"},
		ExpressionAttributeValues: item{":pk": str(pk), ":prefix": str(prefix)},
	}
	if prefix == "" {
		in.KeyConditionExpression = aws.String("#pk = :pk")
		delete(in.ExpressionAttributeNames, "#sk")
		delete(in.ExpressionAttributeValues, ":prefix")
	}
	var all []item
	for {
		if limit > 0 {
			in.Limit = aws.Int32(int32(min(limit-len(all), 1000)))
		}
		out, err := t.api.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read %s/%s* of table %s: %w", pk, prefix, t.name, err)
		}
		all = append(all, out.Items...)
		if len(out.LastEvaluatedKey) == 0 || limit > 0 && len(all) >= limit {
			return all, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// newULID returns an identifier that sorts by time.
func newULID(at time.Time) string {
	return ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String()
}

// condition is a condition expression with its names and values. Every
// attribute is written as #name, because many plain words are reserved
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html).
type condition struct {
	text   string
	values item
}

func (c condition) parts() (*string, map[string]string, item) {
	if c.text == "" {
		return nil, nil, nil
	}
	values := c.values
	if len(values) == 0 {
		values = nil
	}
	return &c.text, names(c.text), values
}

// names collects the #attributes of an expression.
func names(expression string) map[string]string {
	found := map[string]string{}
	for _, f := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" (),=", r) }) {
		if strings.HasPrefix(f, "#") {
			found[f] = f[1:]
		}
	}
	return found
}

// update is an UpdateItem on named attributes: set the non-nil, remove the nil.
func (t *Table) update(ctx context.Context, pk, sk string, attributes item, c condition) error {
	var set, remove []string
	values := maps.Clone(c.values)
	if values == nil {
		values = item{}
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if attributes[name] == nil {
			remove = append(remove, "#"+name)
			continue
		}
		set = append(set, "#"+name+" = :set_"+name)
		values[":set_"+name] = attributes[name]
	}
	var expression []string
	if len(set) > 0 {
		expression = append(expression, "SET "+strings.Join(set, ", "))
	}
	if len(remove) > 0 {
		expression = append(expression, "REMOVE "+strings.Join(remove, ", "))
	}
	text := strings.Join(expression, " ")
	in := &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: key(pk, sk),
		UpdateExpression:         &text,
		ExpressionAttributeNames: names(text + " " + c.text),
	}
	if c.text != "" {
		in.ConditionExpression = &c.text
	}
	if len(values) > 0 {
		in.ExpressionAttributeValues = values
	}
	if _, err := t.api.UpdateItem(ctx, in); err != nil {
		return fmt.Errorf("update %s/%s of table %s: %w", pk, sk, t.name, err)
	}
	return nil
}
