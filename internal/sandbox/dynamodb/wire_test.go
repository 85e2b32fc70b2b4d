package dynamodb

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// TestTheSDKIsServed sends what functions cannot show by themselves through
// the wire: unions in both directions and the members of exceptions.
func TestTheSDKIsServed(t *testing.T) {
	c := &testClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w := world.New(c)
	server := wire.NewServer(wire.Options{Account: world.DefaultAccount, RequestID: w.UUID})
	server.Register(New(w).Service())
	web := httptest.NewServer(server)
	defer web.Close()
	client := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &web.URL, Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""), RetryMaxAttempts: 1})
	ctx := t.Context()

	created, err := client.CreateTable(ctx, tableInput("items"))
	if err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(createTime)
	present := item("p", "s", Item{
		"n": N("1.5"), "b": &types.AttributeValueMemberB{Value: []byte{0, 1, 255}}, "t": &types.AttributeValueMemberBOOL{Value: true}, "nil": &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"x"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1"}},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{S("x"), &types.AttributeValueMemberM{Value: Item{"k": N(1)}}}}, "empty": S(""),
	})
	put := &dynamodb.PutItemInput{TableName: aws.String("items"), Item: present, ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"}
	if _, err := client.PutItem(ctx, put); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key("p", "s")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(present, got.Item, sameItem); diff != "" {
		t.Errorf("item differs (-sent +read):\n%s", diff)
	}
	missing, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key("p", "none")})
	if err != nil || missing.Item != nil {
		t.Errorf("missing item is %v, %v", missing, err)
	}

	_, err = client.PutItem(ctx, put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("error is %v", err)
	}
	if diff := cmp.Diff(present, failed.Item, sameItem); diff != "" {
		t.Errorf("item of the exception differs (-sent +read):\n%s", diff)
	}

	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putting(key("q", "s")), checking(key("p", "s"), "attribute_not_exists(pk)", nil)}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 {
		t.Fatalf("error is %v", err)
	}
	if code := aws.ToString(cancelled.CancellationReasons[1].Code); code != "ConditionalCheckFailed" {
		t.Errorf("code is %s", code)
	}
	if diff := cmp.Diff(present, cancelled.CancellationReasons[1].Item, sameItem); diff != "" {
		t.Errorf("item of the reason differs (-sent +read):\n%s", diff)
	}

	if _, err := client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: created.TableDescription.TableArn, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}); err != nil {
		t.Error(err)
	}
	tags, err := client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: created.TableDescription.TableArn})
	if err != nil || len(tags.Tags) != 1 {
		t.Errorf("tags are %v, %v", tags, err)
	}
}
