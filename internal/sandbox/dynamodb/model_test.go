package dynamodb

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// model is the table as a map: the version of each item and its index key.
type model map[string]modelItem

type modelItem struct {
	version int
	group   string // "" = none
}

// testClock stands still until a test moves it.
type testClock struct {
	clock.Clock
	now time.Time
}

func (c *testClock) Now() time.Time { return c.now }

// read turns items into a model. The index does not hold the version.
func read(items []Item, versions bool) model {
	out := model{}
	for _, it := range items {
		var m modelItem
		if v, ok := it["v"].(*types.AttributeValueMemberN); ok && versions {
			m.version, _ = strconv.Atoi(v.Value)
		}
		if g, ok := it["g"].(*types.AttributeValueMemberS); ok {
			m.group = g.Value
		}
		out[it["pk"].(*types.AttributeValueMemberS).Value] = m
	}
	return out
}

// TestItemsBehaveLikeAMap compares conditional writes with a naive map.
func TestItemsBehaveLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &testClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		db, req, want := New(world.New(c)), request("us-east-1", world.DefaultAccount), model{}
		if _, err := db.CreateTable(req, tableInput("items")); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(createTime)
		keys := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		groups := rapid.SampledFrom([]string{"", "g", "h"})
		versions := rapid.IntRange(0, 3)
		condition := func(v int) (*string, Item) { return ptr("v = :v"), Item{":v": N(v)} }
		build := func(k string, m modelItem) Item {
			it := item(k, "s", Item{"v": N(m.version)})
			if m.group != "" {
				it["g"] = S(m.group)
			}
			return it
		}
		agree := func(t *rapid.T, err error, applies bool) {
			if applies != (err == nil) {
				t.Fatalf("error is %v, the model applies: %t", err, applies)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				k, m := keys.Draw(t, "key"), modelItem{0, groups.Draw(t, "group")}
				_, exists := want[k]
				_, err := db.PutItem(req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: build(k, m), ConditionExpression: ptr("attribute_not_exists(pk)")})
				agree(t, err, !exists)
				if !exists {
					want[k] = m
				}
			},
			"replace": func(t *rapid.T) {
				k, m := keys.Draw(t, "key"), modelItem{versions.Draw(t, "version"), groups.Draw(t, "group")}
				_, err := db.PutItem(req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: build(k, m)})
				agree(t, err, true)
				want[k] = m
			},
			"advance": func(t *rapid.T) {
				k, v := keys.Draw(t, "key"), versions.Draw(t, "version")
				old, exists := want[k]
				applies := exists && old.version == v
				in := &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key(k, "s"), UpdateExpression: ptr("SET v = v + :one"), ReturnValues: "ALL_NEW"}
				in.ConditionExpression, in.ExpressionAttributeValues = condition(v)
				in.ExpressionAttributeValues[":one"] = N(1)
				_, err := db.UpdateItem(req, in)
				agree(t, err, applies)
				if applies {
					want[k] = modelItem{v + 1, old.group}
				}
			},
			"count": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				out, err := db.UpdateItem(req, &dynamodb.UpdateItemInput{TableName: ptr("items"), Key: key(k, "s"), UpdateExpression: ptr("ADD v :one"), ExpressionAttributeValues: Item{":one": N(1)}, ReturnValues: "UPDATED_NEW"})
				agree(t, err, true)
				want[k] = modelItem{want[k].version + 1, want[k].group}
				if diff := cmp.Diff(Item{"v": N(want[k].version)}, out.Attributes, sameItem); diff != "" {
					t.Fatal(diff)
				}
			},
			"delete": func(t *rapid.T) {
				k, v := keys.Draw(t, "key"), versions.Draw(t, "version")
				old, exists := want[k]
				in := &dynamodb.DeleteItemInput{TableName: ptr("items"), Key: key(k, "s")}
				in.ConditionExpression, in.ExpressionAttributeValues = condition(v)
				_, err := db.DeleteItem(req, in)
				agree(t, err, exists && old.version == v)
				if err == nil {
					delete(want, k)
				}
			},
			"": func(t *rapid.T) {
				for index, query := range map[string]*dynamodb.ScanInput{"": {}, "by-g": {IndexName: ptr("by-g")}} {
					query.TableName = ptr("items")
					out, err := db.Scan(req, query)
					if err != nil {
						t.Fatal(err)
					}
					expected := maps.Clone(want)
					if index != "" {
						maps.DeleteFunc(expected, func(_ string, m modelItem) bool { return m.group == "" })
						for k, m := range expected {
							expected[k] = modelItem{group: m.group}
						}
					}
					if diff := cmp.Diff(expected, read(out.Items, index == ""), cmp.AllowUnexported(modelItem{})); diff != "" {
						t.Fatalf("items of %q differ (-model +table):\n%s", index, diff)
					}
				}
			},
		})
	})
}
