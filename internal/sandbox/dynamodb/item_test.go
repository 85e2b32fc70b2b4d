package dynamodb

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestReturnValues(t *testing.T) {
	old := item("p", "s", Item{"a": N(1), "b": N(1)})
	updated := item("p", "s", Item{"a": N(2), "b": N(1), "c": N(1)})
	for returns, want := range map[types.ReturnValue]Item{
		"": nil, "NONE": nil, "ALL_OLD": old, "ALL_NEW": updated, "UPDATED_OLD": {"a": N(1)}, "UPDATED_NEW": {"a": N(2), "c": N(1)},
	} {
		t.Run("UpdateItem "+string(returns), func(t *testing.T) {
			run(t, func(f *fixture) {
				f.put(old)
				out, err := f.db.UpdateItem(f.req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("p", "s"), UpdateExpression: ptr("ADD a :one, c :one"),
					ExpressionAttributeValues: Item{":one": N(1)}, ReturnValues: returns})
				f.ok(err)
				f.same(want, out.Attributes)
				f.same(updated, f.get("p", "s"))
			})
		})
	}
	run(t, func(f *fixture) {
		in := &dynamodb.PutItemInput{TableName: ptr("items"), Item: old, ReturnValues: "ALL_OLD"}
		out, err := f.db.PutItem(f.req, in)
		f.ok(err)
		f.same(Item(nil), out.Attributes)
		out, err = f.db.PutItem(f.req, in)
		f.ok(err)
		f.same(old, out.Attributes)
		in.ReturnValues = "ALL_NEW"
		_, err = f.db.PutItem(f.req, in)
		f.fails(err, "ValidationException", "Return values set to invalid value")
		del := &dynamodb.DeleteItemInput{TableName: ptr("items"), Key: key("p", "s"), ReturnValues: "ALL_OLD"}
		deleted, err := f.db.DeleteItem(f.req, del)
		f.ok(err)
		f.same(old, deleted.Attributes)
		deleted, err = f.db.DeleteItem(f.req, del)
		f.ok(err)
		f.same(Item(nil), deleted.Attributes)
	})
}

func TestAFailedConditionReturnsTheItemIfAsked(t *testing.T) {
	run(t, func(f *fixture) {
		present := item("p", "s", Item{"holder": S("n1")})
		f.put(present)
		in := &dynamodb.PutItemInput{TableName: ptr("items"), Item: key("p", "s"), ConditionExpression: ptr("attribute_not_exists(pk)")}
		_, err := f.db.PutItem(f.req, in)
		if e := f.fails(err, "ConditionalCheckFailedException", "The conditional request failed"); e.Fields != nil {
			f.Fatalf("fields are %v", e.Fields)
		}
		in.ReturnValuesOnConditionCheckFailure = "ALL_OLD"
		_, err = f.db.PutItem(f.req, in)
		f.same(present, f.fails(err, "ConditionalCheckFailedException", "").Fields["Item"])
		f.same(present, f.get("p", "s"))

		_, err = f.db.DeleteItem(f.req, &dynamodb.DeleteItemInput{TableName: ptr("items"), Key: key("q", "s"), ConditionExpression: ptr("attribute_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
		if e := f.fails(err, "ConditionalCheckFailedException", ""); e.Fields != nil {
			f.Fatalf("fields of a missing item are %v", e.Fields)
		}
	})
}

func TestUpdateItemMakesTheItem(t *testing.T) {
	run(t, func(f *fixture) {
		_, err := f.db.UpdateItem(f.req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("p", "s")})
		f.ok(err)
		f.same(key("p", "s"), f.get("p", "s"))
	})
}

func TestInvalidWrites(t *testing.T) {
	long := strings.Repeat("x", 2049)
	put := func(it Item) func(*fixture) error {
		return func(f *fixture) error {
			_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: it})
			return err
		}
	}
	set := func(expression string, v types.AttributeValue) func(*fixture) error {
		return func(f *fixture) error {
			in := &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("p", "s"), UpdateExpression: &expression}
			if v != nil {
				in.ExpressionAttributeValues = Item{":v": v}
			}
			_, err := f.db.UpdateItem(f.req, in)
			return err
		}
	}
	get := func(k Item) func(*fixture) error {
		return func(f *fixture) error {
			_, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("items"), Key: k})
			return err
		}
	}
	for name, c := range map[string]struct {
		call func(*fixture) error
		want string
	}{
		"key missing":             {put(Item{"pk": S("p")}), "One or more parameter values were invalid: Missing the key sk in the item"},
		"key of another type":     {put(Item{"pk": S("p"), "sk": N(1)}), "Type mismatch for key sk expected: S actual: N"},
		"key empty":               {put(key("", "s")), "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		"hash key too long":       {put(key(long, "s")), "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		"sort key too long":       {put(key("p", long[:1025])), "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
		"index key of other type": {put(item("p", "s", Item{"g": N(1)})), "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g"},
		"index key empty":         {put(item("p", "s", Item{"g": S("")})), "IndexName: by-g, IndexKey: g"},
		"item too large":          {put(item("p", "s", Item{"d": S(strings.Repeat("x", 400*1024))})), "Item size has exceeded the maximum allowed size"},
		"empty set":               {put(item("p", "s", Item{"d": &types.AttributeValueMemberSS{}})), "An string set  may not be empty"},
		"no number":               {put(item("p", "s", Item{"d": N("1x")})), "The parameter cannot be converted to a numeric value: 1x"},
		"update of the key":       {set("SET sk = :v", S("t")), "Cannot update attribute sk. This attribute is part of the key"},
		"removal of the key":      {set("REMOVE pk", nil), "Cannot update attribute pk. This attribute is part of the key"},
		"update to large item":    {set("SET d = :v", S(strings.Repeat("x", 400*1024))), "Item size to update has exceeded the maximum allowed size"},
		"update of an index key":  {set("SET g = :v", N(1)), "Type mismatch for Index Key g"},
		"update with unused":      {set("REMOVE a", S("x")), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"},
		"key of too few parts":    {get(Item{"pk": S("p")}), "The provided key element does not match the schema"},
		"key of too many parts":   {get(item("p", "s", Item{"x": S("")})), "The provided key element does not match the schema"},
		"key of other type":       {get(Item{"pk": S("p"), "sk": N(1)}), "The provided key element does not match the schema"},
		"legacy parameter": {func(f *fixture) error {
			_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: key("p", "s"), Expected: map[string]types.ExpectedAttributeValue{}})
			return err
		}, "the sandbox does not serve the legacy parameter Expected; use an expression"},
		"legacy update": {func(f *fixture) error {
			_, err := f.db.UpdateItem(f.req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("p", "s"), AttributeUpdates: map[string]types.AttributeValueUpdate{}})
			return err
		}, "AttributeUpdates"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(f *fixture) {
				f.fails(c.call(f), "ValidationException", c.want)
				f.same(Item(nil), f.get("p", "s"))
			})
		})
	}
}

func TestGetItemProjects(t *testing.T) {
	run(t, func(f *fixture) {
		f.put(item("p", "s", Item{"a": N("1.0"), "b": N(2)}))
		in := &dynamodb.GetItemInput{TableName: ptr("items"), Key: key("p", "s"), ProjectionExpression: ptr("#a"), ExpressionAttributeNames: map[string]string{"#a": "a"}}
		out, err := f.db.GetItem(f.req, in)
		f.ok(err)
		f.same(Item{"a": N(1)}, out.Item) // canonical
		in.Key = key("p", "none")
		out, err = f.db.GetItem(f.req, in)
		f.ok(err)
		if out.Item != nil {
			f.Fatalf("missing item is %v", out.Item)
		}
	})
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func TestConsumedCapacity(t *testing.T) {
	run(t, func(f *fixture) {
		big := item("p", "s", Item{"d": S(strings.Repeat("x", 5000)), "g": S("g"), "n": N(1)})
		write := func(it Item) *types.ConsumedCapacity {
			out, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: it, ReturnConsumedCapacity: "INDEXES"})
			f.ok(err)
			return out.ConsumedCapacity
		}
		c := write(big)
		is(f, "table", *c.Table.CapacityUnits, 5)
		is(f, "index", *c.GlobalSecondaryIndexes["by-g"].CapacityUnits, 1)
		is(f, "total", *c.CapacityUnits, 6)
		is(f, "unchanged index", len(write(big).GlobalSecondaryIndexes), 0)
		moved := item("p", "s", Item{"g": S("h"), "n": N(1)})
		c = write(moved)
		is(f, "table by the larger item", *c.Table.CapacityUnits, 5)
		is(f, "index with another key", *c.GlobalSecondaryIndexes["by-g"].CapacityUnits, 2)

		f.put(big)
		for consistent, want := range map[bool]float64{true: 2, false: 1} {
			out, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("items"), Key: key("p", "s"), ConsistentRead: &consistent, ReturnConsumedCapacity: "TOTAL"})
			f.ok(err)
			is(f, fmt.Sprintf("read with consistent=%t", consistent), *out.ConsumedCapacity.CapacityUnits, want)
		}
	})
}

func TestParallelCompareAndSwapsLoseNothing(t *testing.T) {
	run(t, func(f *fixture) {
		f.put(item("cas", "s", Item{"v": N(0)}))
		var applied atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				for range 20 {
					seen, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("items"), Key: key("cas", "s"), ConsistentRead: ptr(true)})
					if err != nil {
						t.Error(err)
						return
					}
					_, err = f.db.UpdateItem(f.req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("cas", "s"), UpdateExpression: ptr("SET v = v + :one"), ConditionExpression: ptr("v = :seen"),
						ExpressionAttributeValues: Item{":one": N(1), ":seen": seen.Item["v"]}})
					switch {
					case err == nil:
						applied.Add(1)
					case !strings.HasPrefix(err.Error(), "ConditionalCheckFailedException"):
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		f.same(N(applied.Load()), f.get("cas", "s")["v"])
		if applied.Load() < 20 {
			f.Fatalf("%d updates applied: a swap by the only writer would succeed", applied.Load())
		}
	})
}
