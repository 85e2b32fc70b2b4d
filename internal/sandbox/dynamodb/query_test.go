package dynamodb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// sortKeys lists the sort keys of items.
func sortKeys(items []Item) string {
	var out []string
	for _, it := range items {
		out = append(out, it["sk"].(*types.AttributeValueMemberS).Value)
	}
	return strings.Join(out, " ")
}

// fill puts k#0 to k#4 and one other into partition p, and another partition.
func fill(f *fixture) {
	for i := range 5 {
		f.put(item("p", fmt.Sprintf("k#%d", i), Item{"n": N(i), "g": S("gg"), "secret": S("h")}))
	}
	f.put(item("p", "other", nil), item("q", "k#1", Item{"n": N(1)}))
}

func TestQueries(t *testing.T) {
	run(t, func(f *fixture) {
		fill(f)
		for name, c := range map[string]struct {
			in      dynamodb.QueryInput
			want    string
			scanned int32
		}{
			"partition":          {dynamodb.QueryInput{KeyConditionExpression: ptr("pk = :p")}, "k#0 k#1 k#2 k#3 k#4 other", 6},
			"range":              {dynamodb.QueryInput{KeyConditionExpression: ptr("pk = :p AND begins_with(sk, :k)")}, "k#0 k#1 k#2 k#3 k#4", 5},
			"descending":         {dynamodb.QueryInput{KeyConditionExpression: ptr("pk = :p AND sk < :k3"), ScanIndexForward: ptr(false)}, "k#2 k#1 k#0", 3},
			"filter":             {dynamodb.QueryInput{KeyConditionExpression: ptr("pk = :p AND begins_with(sk, :k)"), FilterExpression: ptr("n > :two")}, "k#3 k#4", 5},
			"empty partition":    {dynamodb.QueryInput{KeyConditionExpression: ptr("pk = :none")}, "", 0},
			"index":              {dynamodb.QueryInput{IndexName: ptr("by-g"), KeyConditionExpression: ptr("g = :g AND sk >= :k3")}, "k#3 k#4", 2},
			"filter on an index": {dynamodb.QueryInput{IndexName: ptr("by-g"), KeyConditionExpression: ptr("g = :g"), FilterExpression: ptr("pk = :p AND attribute_not_exists(secret)")}, "k#0 k#1 k#2 k#3 k#4", 5},
		} {
			in := c.in
			in.TableName, in.ExpressionAttributeValues = ptr("items"), Item{}
			expressions := text(in.KeyConditionExpression) + "|" + text(in.FilterExpression) + "|"
			for k, v := range (Item{":p": S("p"), ":k": S("k#"), ":k3": S("k#3"), ":two": N(2), ":none": S("none"), ":g": S("gg")}) {
				if strings.Contains(expressions, k+" ") || strings.Contains(expressions, k+")") || strings.Contains(expressions, k+"|") {
					in.ExpressionAttributeValues[k] = v
				}
			}
			out, err := f.db.Query(f.req, &in)
			if err != nil {
				f.Fatalf("%s: %v", name, err)
			}
			is(f, name, sortKeys(out.Items), c.want)
			is(f, name+": scanned", out.ScannedCount, c.scanned)
			is(f, name+": count", int(out.Count), len(out.Items))
		}
	})
}

func TestQueriesShowWhatIsAskedFor(t *testing.T) {
	run(t, func(f *fixture) {
		fill(f)
		in := &dynamodb.QueryInput{TableName: ptr("items"), IndexName: ptr("by-g"), KeyConditionExpression: ptr("g = :g"), ExpressionAttributeValues: Item{":g": S("gg")}, Limit: ptr(int32(1))}
		out, err := f.db.Query(f.req, in)
		f.ok(err)
		f.same([]Item{item("p", "k#0", Item{"n": N(0), "g": S("gg")})}, out.Items)
		f.same(item("p", "k#0", Item{"g": S("gg")}), out.LastEvaluatedKey)
		in.ProjectionExpression = ptr("n")
		out, err = f.db.Query(f.req, in)
		f.ok(err)
		f.same([]Item{{"n": N(0)}}, out.Items)
		in.ProjectionExpression, in.Select, in.Limit = nil, "COUNT", nil
		out, err = f.db.Query(f.req, in)
		f.ok(err)
		if out.Items != nil || out.Count != 5 {
			f.Fatalf("COUNT gives %d and %d items", out.Count, len(out.Items))
		}
	})
}

func TestEveryPageSizeFindsEverything(t *testing.T) {
	run(t, func(f *fixture) {
		fill(f)
		for limit := int32(1); limit < 8; limit++ {
			for _, forward := range []bool{true, false} {
				for _, index := range []*string{nil, ptr("by-g")} {
					in := &dynamodb.QueryInput{TableName: ptr("items"), IndexName: index, Limit: &limit, ScanIndexForward: &forward, KeyConditionExpression: ptr("pk = :v"), ExpressionAttributeValues: Item{":v": S("p")}}
					want := []string{"k#0", "k#1", "k#2", "k#3", "k#4", "other"}
					if index != nil {
						in.KeyConditionExpression, in.ExpressionAttributeValues = ptr("g = :v"), Item{":v": S("gg")}
						want = want[:5]
					}
					want = slices.Clone(want)
					if !forward {
						slices.Reverse(want)
					}
					var got []Item
					for {
						out, err := f.db.Query(f.req, in)
						f.ok(err)
						got = append(got, out.Items...)
						if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
							break
						}
						is(f, "items on a full page", int32(len(out.Items)), limit)
					}
					is(f, fmt.Sprintf("limit %d forward %t index %v", limit, forward, index != nil), sortKeys(got), strings.Join(want, " "))
				}
			}
		}
	})
}

func TestPagesEndAtOneMegabyte(t *testing.T) {
	run(t, func(f *fixture) {
		for i := range 7 {
			f.put(item("p", fmt.Sprint(i), Item{"d": S(strings.Repeat("x", 300*1024))}))
		}
		in := &dynamodb.QueryInput{TableName: ptr("items"), KeyConditionExpression: ptr("pk = :p"), ExpressionAttributeValues: Item{":p": S("p")}, FilterExpression: ptr("attribute_not_exists(d)")}
		out, err := f.db.Query(f.req, in)
		f.ok(err)
		is(f, "items before the filter", out.ScannedCount, 4)
		is(f, "items after the filter", out.Count, 0)
		f.same(key("p", "3"), out.LastEvaluatedKey)
	})
}

func TestInvalidQueries(t *testing.T) {
	run(t, func(f *fixture) {
		fill(f)
		for name, c := range map[string]struct {
			change func(*dynamodb.QueryInput)
			want   string
		}{
			"no condition":        {func(in *dynamodb.QueryInput) { in.KeyConditionExpression = nil }, "KeyConditionExpression parameter must be specified"},
			"key in the filter":   {func(in *dynamodb.QueryInput) { in.FilterExpression = ptr("contains(sk, :p)") }, "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
			"unused value":        {func(in *dynamodb.QueryInput) { in.ExpressionAttributeValues[":q"] = S("q") }, "unused in expressions: keys: {:q}"},
			"missing index":       {func(in *dynamodb.QueryInput) { in.IndexName = ptr("by-x") }, "The table does not have the specified index: by-x"},
			"key of the table":    {func(in *dynamodb.QueryInput) { in.IndexName = ptr("by-g") }, "Query condition missed key schema element: g"},
			"consistent on index": {func(in *dynamodb.QueryInput) { in.IndexName, in.ConsistentRead = ptr("by-g"), ptr(true) }, "Consistent reads are not supported on global secondary indexes"},
			"limit 0":             {func(in *dynamodb.QueryInput) { in.Limit = ptr(int32(0)) }, "Value '0' at 'limit' failed to satisfy constraint"},
			"start elsewhere":     {func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = key("q", "k#1") }, "The provided starting key is outside query boundaries"},
			"start of half a key": {func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = Item{"pk": S("p")} }, "The provided starting key is invalid"},
			"count and project":   {func(in *dynamodb.QueryInput) { in.Select, in.ProjectionExpression = "COUNT", ptr("n") }, "Cannot specify the ProjectionExpression"},
			"specific nothing":    {func(in *dynamodb.QueryInput) { in.Select = "SPECIFIC_ATTRIBUTES" }, "Must specify the AttributesToGet or ProjectionExpression"},
			"all of an index": {func(in *dynamodb.QueryInput) {
				in.IndexName, in.KeyConditionExpression, in.Select = ptr("by-g"), ptr("g = :p"), "ALL_ATTRIBUTES"
			}, "because its projection type is not ALL"},
			"hidden from index": {func(in *dynamodb.QueryInput) {
				in.IndexName, in.KeyConditionExpression, in.ProjectionExpression = ptr("by-g"), ptr("g = :p"), ptr("secret")
			}, "does not project [secret]"},
			"legacy": {func(in *dynamodb.QueryInput) { in.KeyConditions = map[string]types.Condition{} }, "KeyConditions"},
		} {
			in := &dynamodb.QueryInput{TableName: ptr("items"), KeyConditionExpression: ptr("pk = :p"), ExpressionAttributeValues: Item{":p": S("p")}}
			c.change(in)
			_, err := f.db.Query(f.req, in)
			if err == nil {
				f.Fatalf("%s is accepted", name)
			}
			f.fails(err, "ValidationException", c.want)
		}
	})
}

func TestScans(t *testing.T) {
	run(t, func(f *fixture) {
		const items = 60
		for i := range items {
			f.put(item(fmt.Sprintf("p%d", i), "s", Item{"n": N(i)}))
		}
		for _, total := range []int32{1, 2, 7} {
			seen := map[string]bool{}
			for segment := range total {
				in := &dynamodb.ScanInput{TableName: ptr("items"), Limit: ptr(int32(4)), Segment: &segment, TotalSegments: &total}
				for {
					out, err := f.db.Scan(f.req, in)
					f.ok(err)
					for _, it := range out.Items {
						pk := it["pk"].(*types.AttributeValueMemberS).Value
						is(f, "seen before: "+pk, seen[pk], false)
						seen[pk] = true
					}
					if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
						break
					}
				}
			}
			is(f, fmt.Sprintf("items of %d segments", total), len(seen), items)
		}
		out, err := f.db.Scan(f.req, &dynamodb.ScanInput{TableName: ptr("items"), FilterExpression: ptr("n < :n AND begins_with(pk, :p)"), ExpressionAttributeValues: Item{":n": N(10), ":p": S("p")}, Select: "COUNT"})
		f.ok(err)
		is(f, "filtered", out.Count, 10)
		is(f, "scanned", out.ScannedCount, items)
		out, err = f.db.Scan(f.req, &dynamodb.ScanInput{TableName: ptr("items"), IndexName: ptr("by-g")})
		f.ok(err)
		is(f, "items of an index whose key no item has", out.Count, 0)

		for text, in := range map[string]*dynamodb.ScanInput{
			"TotalSegments parameter is required": {Segment: ptr(int32(0))},
			"Segment parameter is required":       {TotalSegments: ptr(int32(1))},
			"Segment: 2 is not less than":         {Segment: ptr(int32(2)), TotalSegments: ptr(int32(2))},
			"ExpressionAttributeNames can only":   {ExpressionAttributeNames: map[string]string{"#a": "a"}},
		} {
			in.TableName = ptr("items")
			_, err := f.db.Scan(f.req, in)
			f.fails(err, "ValidationException", text)
		}
	})
}

func TestAnIndexFollowsItsItems(t *testing.T) {
	run(t, func(f *fixture) {
		find := func(g string) string {
			out, err := f.db.Query(f.req, &dynamodb.QueryInput{TableName: ptr("items"), IndexName: ptr("by-g"), KeyConditionExpression: ptr("g = :g"), ExpressionAttributeValues: Item{":g": S(g)}})
			f.ok(err)
			return sortKeys(out.Items)
		}
		f.put(item("p", "s", Item{"g": S("a")}), item("q", "s", Item{"g": S("a")}))
		is(f, "a", find("a"), "s s") // same index key, different items
		f.put(item("p", "s", Item{"g": S("b")}))
		is(f, "a", find("a"), "s")
		is(f, "b", find("b"), "s")
		_, err := f.db.UpdateItem(f.req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key("p", "s"), UpdateExpression: ptr("REMOVE g")})
		f.ok(err)
		is(f, "b", find("b"), "")
		_, err = f.db.DeleteItem(f.req, &dynamodb.DeleteItemInput{TableName: ptr("items"), Key: key("q", "s")})
		f.ok(err)
		is(f, "a", find("a"), "")
	})
}

func TestNumericSortKeysSortAsNumbers(t *testing.T) {
	run(t, func(f *fixture) {
		f.create(&dynamodb.CreateTableInput{TableName: ptr("numbers"), BillingMode: "PAY_PER_REQUEST",
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: ptr("pk"), AttributeType: "S"}, {AttributeName: ptr("sk"), AttributeType: "N"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: ptr("pk"), KeyType: "HASH"}, {AttributeName: ptr("sk"), KeyType: "RANGE"}}})
		for _, n := range []string{"10", "9", "-1", "-10", "0", "0.5", "1e2"} {
			_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("numbers"), Item: Item{"pk": S("p"), "sk": N(n)}})
			f.ok(err)
		}
		out, err := f.db.Query(f.req, &dynamodb.QueryInput{TableName: ptr("numbers"), KeyConditionExpression: ptr("pk = :p AND sk > :low"), ExpressionAttributeValues: Item{":p": S("p"), ":low": N("-5")}})
		f.ok(err)
		var got []string
		for _, it := range out.Items {
			got = append(got, it["sk"].(*types.AttributeValueMemberN).Value)
		}
		f.same([]string{"-1", "0", "0.5", "9", "10", "100"}, got)
		again, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("numbers"), Key: Item{"pk": S("p"), "sk": N("100.0")}})
		f.ok(err)
		is(f, "found under another spelling", value.Equal(again.Item["sk"], N("100")), true)
	})
}
