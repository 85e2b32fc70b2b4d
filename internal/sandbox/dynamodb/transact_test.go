package dynamodb

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func putting(it Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: ptr("items"), Item: it}}
}

func updating(k Item, expression string, values Item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: ptr("items"), Key: k, UpdateExpression: &expression, ExpressionAttributeValues: values}}
}

func checking(k Item, condition string, values Item) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: ptr("items"), Key: k, ConditionExpression: &condition, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: "ALL_OLD"}}
}

func (f *fixture) transact(token string, items ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items}
	if token != "" {
		in.ClientRequestToken = &token
	}
	_, err := f.db.TransactWriteItems(f.req, in)
	return err
}

func TestATransactionWritesAllOrNothing(t *testing.T) {
	run(t, func(f *fixture) {
		lock := item("lock", "s", Item{"epoch": N(2)})
		f.put(lock, key("gone", "s"))
		writes := func(epoch int) []types.TransactWriteItem {
			return []types.TransactWriteItem{
				putting(item("new", "s", Item{"epoch": N(epoch)})),
				checking(key("lock", "s"), "epoch = :e", Item{":e": N(epoch)}),
				updating(key("made", "s"), "ADD n :one", Item{":one": N(1)}),
				{Delete: &types.Delete{TableName: ptr("items"), Key: key("gone", "s")}},
			}
		}
		e := f.fails(f.transact("", writes(3)...), "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, None, None]")
		reasons := e.Fields["CancellationReasons"].([]types.CancellationReason)
		f.same(lock, reasons[1].Item)
		is(f, "message", text(reasons[1].Message), "The conditional request failed")
		f.same([]Item{nil, nil, key("gone", "s")}, []Item{f.get("new", "s"), f.get("made", "s"), f.get("gone", "s")})

		f.ok(f.transact("", writes(2)...))
		f.same([]Item{item("new", "s", Item{"epoch": N(2)}), item("made", "s", Item{"n": N(1)}), nil}, []Item{f.get("new", "s"), f.get("made", "s"), f.get("gone", "s")})
		f.same(lock, f.get("lock", "s"))

		e = f.fails(f.transact("", putting(key("x", "s")), updating(key("new", "s"), "SET a = nothing", nil)), "TransactionCanceledException", "[None, ValidationError]")
		f.same(Item(nil), f.get("x", "s"))
		if m := text(e.Fields["CancellationReasons"].([]types.CancellationReason)[1].Message); !strings.Contains(m, "does not exist in the item") {
			f.Fatalf("message is %q", m)
		}
	})
}

func TestAClientRequestTokenWritesOnce(t *testing.T) {
	run(t, func(f *fixture) {
		add := func(n int) types.TransactWriteItem {
			return updating(key("counter", "s"), "ADD n :n", Item{":n": N(n)})
		}
		count := func(want int) {
			f.Helper()
			f.same(item("counter", "s", Item{"n": N(want)}), f.get("counter", "s"))
		}
		f.ok(f.transact("token", add(1)))
		f.ok(f.transact("token", add(1)))
		count(1)
		f.fails(f.transact("token", add(2)), "IdempotentParameterMismatchException", "same client token")
		count(1)
		f.ok(f.transact("other", add(1)))
		count(2)
		time.Sleep(tokenLife - time.Second)
		f.ok(f.transact("token", add(1)))
		count(2)
		time.Sleep(2 * time.Second)
		f.ok(f.transact("token", add(1))) // forgotten
		count(3)

		// A cancelled transaction did nothing, so its token is free.
		check := checking(key("gate", "s"), "attribute_exists(pk)", nil)
		f.fails(f.transact("retry", add(1), check), "TransactionCanceledException", "")
		f.put(key("gate", "s"))
		f.ok(f.transact("retry", add(1), check))
		count(4)
	})
}

func TestInvalidTransactions(t *testing.T) {
	run(t, func(f *fixture) {
		var many []types.TransactWriteItem
		for i := range 101 {
			many = append(many, putting(key(fmt.Sprint("many", i), "s")))
		}
		var heavy []types.TransactWriteItem
		for i := range 11 {
			heavy = append(heavy, putting(item(fmt.Sprint("heavy", i), "s", Item{"d": S(strings.Repeat("x", 399*1024))})))
		}
		for name, c := range map[string]struct {
			items []types.TransactWriteItem
			want  string
		}{
			"nothing":             {nil, "'transactItems' failed to satisfy constraint"},
			"101 actions":         {many, "Member must have length less than or equal to 100"},
			"5 MB":                {heavy, "4 MB"},
			"one item twice":      {[]types.TransactWriteItem{putting(key("many0", "s")), {Delete: &types.Delete{TableName: ptr("items"), Key: key("many0", "s")}}}, "Transaction request cannot include multiple operations on one item"},
			"two actions in one":  {[]types.TransactWriteItem{{Put: putting(key("many0", "s")).Put, Delete: &types.Delete{TableName: ptr("items"), Key: key("x", "s")}}}, "TransactItems can only contain one of Check, Put, Update or Delete"},
			"no action":           {[]types.TransactWriteItem{{}}, "can only contain one of"},
			"check of nothing":    {[]types.TransactWriteItem{{ConditionCheck: &types.ConditionCheck{TableName: ptr("items"), Key: key("x", "s")}}}, "ConditionExpression"},
			"update with nothing": {[]types.TransactWriteItem{{Update: &types.Update{TableName: ptr("items"), Key: key("x", "s")}}}, "UpdateExpression"},
			"bad expression":      {[]types.TransactWriteItem{updating(key("x", "s"), "SET", nil)}, "Invalid UpdateExpression: Syntax error"},
		} {
			if err := f.transact("", c.items...); err == nil || !strings.Contains(err.Error(), c.want) {
				f.Fatalf("%s: error is %v, want %s", name, err, c.want)
			}
		}
		f.same([]Item{nil, nil}, []Item{f.get("many0", "s"), f.get("heavy0", "s")})
		missing := putting(key("x", "s"))
		missing.Put.TableName = ptr("missing")
		f.fails(f.transact("", putting(key("many0", "s")), missing), "ResourceNotFoundException", "Requested resource not found")
		f.same(Item(nil), f.get("many0", "s"))
	})
}

func TestTransactGetItems(t *testing.T) {
	run(t, func(f *fixture) {
		f.put(item("a", "s", Item{"v": N(1), "w": N(2)}))
		get := func(pk string) types.TransactGetItem {
			return types.TransactGetItem{Get: &types.Get{TableName: ptr("items"), Key: key(pk, "s"), ProjectionExpression: ptr("v")}}
		}
		out, err := f.db.TransactGetItems(f.req, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("missing"), get("a")}, ReturnConsumedCapacity: "TOTAL"})
		f.ok(err)
		f.same([]Item{nil, {"v": N(1)}}, []Item{out.Responses[0].Item, out.Responses[1].Item})
		is(f, "capacity", *out.ConsumedCapacity[0].CapacityUnits, 4)
		_, err = f.db.TransactGetItems(f.req, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("a"), get("a")}})
		f.fails(err, "ValidationException", "multiple operations on one item")
		bad := get("a")
		bad.Get.Key = Item{"pk": S("a")}
		_, err = f.db.TransactGetItems(f.req, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("a"), bad}})
		f.fails(err, "TransactionCanceledException", "[None, ValidationError]")
	})
}

// Money moves between accounts in parallel; none is made or lost, and no
// reader sees half a transfer.
func TestTransactionsAreSerializable(t *testing.T) {
	run(t, func(f *fixture) {
		const accounts, balance = 4, 25
		for i := range accounts {
			f.put(item("account", fmt.Sprint(i), Item{"n": N(balance)}))
		}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 50 {
					from, to := key("account", fmt.Sprint((w+i)%accounts)), key("account", fmt.Sprint((w+i+1+w%3)%accounts))
					take := updating(from, "SET n = n - :ten", Item{":ten": N(10)})
					take.Update.ConditionExpression, take.Update.ExpressionAttributeValues = ptr("n >= :ten"), Item{":ten": N(10)}
					var e *wire.Error
					if err := f.transact("", take, updating(to, "SET n = n + :ten", Item{":ten": N(10)})); errors.As(err, &e) && e.Code != "TransactionCanceledException" {
						t.Error(err)
					}
					out, err := f.db.Query(f.req, &dynamodb.QueryInput{TableName: ptr("items"), KeyConditionExpression: ptr("pk = :p"), ExpressionAttributeValues: Item{":p": S("account")}})
					if err != nil {
						t.Error(err)
						return
					}
					sum := 0
					for _, it := range out.Items {
						var n int
						fmt.Sscan(it["n"].(*types.AttributeValueMemberN).Value, &n)
						if n < 0 {
							t.Errorf("balance is %d", n)
						}
						sum += n
					}
					if sum != accounts*balance {
						t.Errorf("the sum is %d", sum)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestBatches(t *testing.T) {
	run(t, func(f *fixture) {
		puts := func(n int, pk string) (w []types.WriteRequest) {
			for i := range n {
				w = append(w, types.WriteRequest{PutRequest: &types.PutRequest{Item: key(fmt.Sprint(pk, i), "s")}})
			}
			return w
		}
		write := func(w ...types.WriteRequest) error {
			_, err := f.db.BatchWriteItem(f.req, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"items": w}})
			return err
		}
		read := func(keys ...Item) (*dynamodb.BatchGetItemOutput, error) {
			return f.db.BatchGetItem(f.req, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"items": {Keys: keys}}})
		}
		f.put(key("gone", "s"))
		f.ok(write(append(puts(24, "p"), types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key("gone", "s")}})...))
		out, err := read(key("p0", "s"), key("p23", "s"), key("gone", "s"))
		f.ok(err)
		is(f, "items", len(out.Responses["items"]), 2)
		is(f, "unprocessed", len(out.UnprocessedKeys), 0)

		f.fails(write(puts(26, "over")...), "ValidationException", "Too many items requested for the BatchWriteItem call")
		f.fails(write(append(puts(1, "twice"), puts(1, "twice")...)...), "ValidationException", "Provided list of item keys contains duplicates")
		f.fails(write(), "ValidationException", "required")
		f.fails(write(types.WriteRequest{}), "ValidationException", "")
		f.fails(write(append(puts(1, "half"), types.WriteRequest{PutRequest: &types.PutRequest{Item: Item{"pk": S("p")}}})...), "ValidationException", "Missing the key sk in the item")
		for _, pk := range []string{"over0", "twice0", "half0"} {
			f.same(Item(nil), f.get(pk, "s"))
		}
		var many []Item
		for i := range 101 {
			many = append(many, key(fmt.Sprint(i), "s"))
		}
		_, err = read(many...)
		f.fails(err, "ValidationException", "Too many items requested for the BatchGetItem call")
		_, err = read(key("p0", "s"), key("p0", "s"))
		f.fails(err, "ValidationException", "duplicates")
	})
}

func TestABatchOverSixteenMegabytesIsReadInParts(t *testing.T) {
	run(t, func(f *fixture) {
		var keys []Item
		for i := range 50 {
			f.put(item("big", fmt.Sprint(i), Item{"d": S(strings.Repeat("x", 390*1024))}))
			keys = append(keys, key("big", fmt.Sprint(i)))
		}
		request := map[string]types.KeysAndAttributes{"items": {Keys: keys}}
		seen, rounds := 0, 0
		for len(request) > 0 {
			out, err := f.db.BatchGetItem(f.req, &dynamodb.BatchGetItemInput{RequestItems: request})
			f.ok(err)
			seen += len(out.Responses["items"])
			request = out.UnprocessedKeys
			rounds++
		}
		is(f, "items", seen, 50)
		is(f, "rounds", rounds, 2)
	})
}
