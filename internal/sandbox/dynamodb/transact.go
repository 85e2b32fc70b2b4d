package dynamodb

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
const (
	maxTransaction      = 100
	maxTransactionBytes = 4 << 20
	tokenLife           = 10 * time.Minute
	transactionFactor   = 2 // capacity units of a transaction against those of a plain request
)

// tokenID identifies a ClientRequestToken.
type tokenID struct {
	place
	token string
}

// remembered is a committed transaction that a token may repeat.
type remembered struct {
	items   []types.TransactWriteItem
	expires time.Time
}

// TransactWriteItems writes all items or none. A repeated ClientRequestToken
// succeeds for ten minutes without writing again.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func (d *DynamoDB) TransactWriteItems(req *wire.Request, in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := checkCount(len(in.TransactItems)); err != nil {
		return nil, err
	}
	intents := make([]*intent, len(in.TransactItems))
	for n, item := range in.TransactItems {
		w, err := transactWrite(item)
		if err != nil {
			return nil, err
		}
		if intents[n], err = w.parse(); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id := tokenID{place{req.Account, req.Region}, aws.ToString(in.ClientRequestToken)}
	if repeated, err := d.repeats(id, in.TransactItems); repeated || err != nil {
		return &dynamodb.TransactWriteItemsOutput{}, err
	}
	plan, err := d.prepare(req, intents)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: d.commit(plan, transactionFactor, in.ReturnConsumedCapacity)}
	if id.token != "" {
		d.tokens[id] = remembered{in.TransactItems, d.now().Add(tokenLife)}
	}
	return out, nil
}

func checkCount(n int) error {
	if n < 1 || n > maxTransaction {
		return invalid("1 validation error detected: Value of length %d at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to %d and greater than or equal to 1", n, maxTransaction)
	}
	return nil
}

// repeats reports whether a token stands for a transaction that is done.
func (d *DynamoDB) repeats(id tokenID, items []types.TransactWriteItem) (bool, error) {
	now := d.now()
	for k, t := range d.tokens {
		if !now.Before(t.expires) {
			delete(d.tokens, k)
		}
	}
	if len(id.token) > 36 {
		return false, invalid("1 validation error detected: Value '%s' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36", id.token)
	}
	before, ok := d.tokens[id]
	if !ok || id.token == "" {
		return false, nil
	}
	if !reflect.DeepEqual(before.items, items) {
		return false, wire.Errorf("IdempotentParameterMismatchException", "The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with different requests, unless the requests are identical")
	}
	return true, nil
}

func transactWrite(item types.TransactWriteItem) (write, error) {
	var all []write
	if p := item.Put; p != nil {
		all = append(all, write{put, p.TableName, p.Item, nil, p.ConditionExpression, p.ExpressionAttributeNames, p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure})
	}
	if u := item.Update; u != nil {
		if u.UpdateExpression == nil {
			return write{}, invalid("The UpdateExpression parameter is required for an Update in a transaction")
		}
		all = append(all, write{update, u.TableName, u.Key, u.UpdateExpression, u.ConditionExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues, u.ReturnValuesOnConditionCheckFailure})
	}
	if r := item.Delete; r != nil {
		all = append(all, write{remove, r.TableName, r.Key, nil, r.ConditionExpression, r.ExpressionAttributeNames, r.ExpressionAttributeValues, r.ReturnValuesOnConditionCheckFailure})
	}
	if c := item.ConditionCheck; c != nil {
		if c.ConditionExpression == nil {
			return write{}, invalid("The ConditionExpression parameter is required for a ConditionCheck")
		}
		all = append(all, write{check, c.TableName, c.Key, nil, c.ConditionExpression, c.ExpressionAttributeNames, c.ExpressionAttributeValues, c.ReturnValuesOnConditionCheckFailure})
	}
	if len(all) != 1 {
		return write{}, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return all[0], nil
}

// prepare evaluates all writes on the present items. What is wrong with the
// request fails by itself; what is wrong with items cancels the transaction.
func (d *DynamoDB) prepare(req *wire.Request, intents []*intent) (*plan, error) {
	plan := newPlan()
	size := 0
	reasons := make([]types.CancellationReason, len(intents))
	for n, i := range intents {
		r, err := d.usable(req, i.table)
		if err != nil {
			return nil, err
		}
		if err := r.transactional(); err != nil {
			return nil, err
		}
		c, err := r.evaluate(i)
		if c.key != nil && !plan.add(r, c) {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		size += value.Size(c.new)
		reasons[n] = reason(err)
	}
	if size > maxTransactionBytes {
		return nil, invalid("Collection size cannot be more than 4 MB for transactions: Member must have length less than or equal to %d bytes", maxTransactionBytes)
	}
	return plan, cancelled(reasons)
}

// transactional fails for a table without transactions.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.consistency-modes
func (r *replica) transactional() error {
	if r.global == nil || !r.global.strong {
		return nil
	}
	return invalid("Transactions are not supported on the multi-Region strongly consistent global table %s", r.table.name)
}

// reason says why one write cancels a transaction, with code None if it does
// not.
func reason(err error) types.CancellationReason {
	var e *wire.Error
	if !errors.As(err, &e) {
		return types.CancellationReason{Code: aws.String("None")}
	}
	r := types.CancellationReason{Code: aws.String("ValidationError"), Message: &e.Message}
	if e.Code == "ConditionalCheckFailedException" {
		r.Code = aws.String("ConditionalCheckFailed")
		r.Item, _ = e.Fields["Item"].(value.Item)
	}
	return r
}

// cancelled returns nil if no write has a reason.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func cancelled(reasons []types.CancellationReason) error {
	codes, failed := make([]string, len(reasons)), false
	for i, r := range reasons {
		codes[i] = *r.Code
		failed = failed || codes[i] != "None"
	}
	if !failed {
		return nil
	}
	return &wire.Error{
		Code:    "TransactionCanceledException",
		Message: fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", ")),
		Fields:  map[string]any{"CancellationReasons": reasons},
	}
}

// TransactGetItems reads up to 100 items at one moment, in the order of the
// request.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
func (d *DynamoDB) TransactGetItems(req *wire.Request, in *dynamodb.TransactGetItemsInput) (*dynamodb.TransactGetItemsOutput, error) {
	if err := checkCount(len(in.TransactItems)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &dynamodb.TransactGetItemsOutput{}
	plan := newPlan()
	var order []*usage
	byReplica := map[*replica]*usage{}
	reasons := make([]types.CancellationReason, len(in.TransactItems))
	for n, item := range in.TransactItems {
		g := item.Get
		if g == nil {
			return nil, invalid("1 validation error detected: Value null at 'transactItems.%d.member.get' failed to satisfy constraint: Member must not be null", n+1)
		}
		projection, err := parseProjection(g.ProjectionExpression, g.ExpressionAttributeNames)
		if err != nil {
			return nil, err
		}
		r, err := d.usable(req, g.TableName)
		if err != nil {
			return nil, err
		}
		if err := r.transactional(); err != nil {
			return nil, err
		}
		key, err := r.table.primaryKey(g.Key)
		reasons[n] = reason(err)
		if err != nil {
			continue
		}
		if !plan.claim(r, key) {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		found := r.items.get(key)
		if byReplica[r] == nil {
			byReplica[r] = newUsage(r.table.name)
			order = append(order, byReplica[r])
		}
		byReplica[r].read(value.Size(found), true, transactionFactor)
		out.Responses = append(out.Responses, types.ItemResponse{Item: pick(projection, found)})
	}
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	out.ConsumedCapacity = reports(order, in.ReturnConsumedCapacity)
	return out, nil
}
