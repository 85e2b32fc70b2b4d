package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestATableIsCreatedUsedAndDeleted(t *testing.T) {
	run(t, func(f *fixture) {
		in := tableInput("life")
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: ptr(true), StreamViewType: "NEW_AND_OLD_IMAGES"}
		out, err := f.db.CreateTable(f.req, in)
		f.ok(err)
		is(f, "status", out.TableDescription.TableStatus, "CREATING")
		put := func() error {
			_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("life"), Item: key("a", "b")})
			return err
		}
		f.fails(put(), "ResourceNotFoundException", "Requested resource not found")
		_, err = f.db.DeleteTable(f.req, &dynamodb.DeleteTableInput{TableName: ptr("life")})
		f.fails(err, "ResourceInUseException", "Table is being created: life")

		time.Sleep(createTime)
		d := f.describe("life")
		is(f, "status", d.TableStatus, "ACTIVE")
		is(f, "index status", d.GlobalSecondaryIndexes[0].IndexStatus, "ACTIVE")
		is(f, "ARN", text(d.TableArn), "arn:aws:dynamodb:us-east-1:123456789012:table/life")
		is(f, "stream", strings.HasPrefix(text(d.LatestStreamArn), text(d.TableArn)+"/stream/"), true)
		is(f, "billing", d.BillingModeSummary.BillingMode, "PAY_PER_REQUEST")
		is(f, "TableId", len(text(d.TableId)), 36)
		f.ok(put())
		is(f, "items", *f.describe("life").ItemCount, 1)

		deleted, err := f.db.DeleteTable(f.req, &dynamodb.DeleteTableInput{TableName: d.TableArn})
		f.ok(err)
		is(f, "status", deleted.TableDescription.TableStatus, "DELETING")
		f.fails(put(), "ResourceNotFoundException", "Requested resource not found")
		_, err = f.db.CreateTable(f.req, in)
		f.fails(err, "ResourceInUseException", "Table already exists: life")
		time.Sleep(deleteTime)
		_, err = f.db.DescribeTable(f.req, &dynamodb.DescribeTableInput{TableName: ptr("life")})
		f.fails(err, "ResourceNotFoundException", "Requested resource not found: Table: life not found")
		f.create(in)
		if again := f.describe("life"); *again.ItemCount != 0 || text(again.TableId) == text(d.TableId) {
			f.Fatal("the new table is the old one")
		}
	})
}

func TestTablesAreSeparatePerRegionAndAccount(t *testing.T) {
	run(t, func(f *fixture) {
		for _, req := range []*wire.Request{request("eu-west-1", world.DefaultAccount), request("us-east-1", "210987654321")} {
			_, err := f.db.DescribeTable(req, &dynamodb.DescribeTableInput{TableName: ptr("items")})
			f.fails(err, "ResourceNotFoundException", "items")
			list, err := f.db.ListTables(req, &dynamodb.ListTablesInput{})
			f.ok(err)
			is(f, "number of tables", len(list.TableNames), 0)
		}
	})
}

func TestInvalidTables(t *testing.T) {
	define := func(names ...string) []types.AttributeDefinition {
		var d []types.AttributeDefinition
		for _, n := range names {
			d = append(d, types.AttributeDefinition{AttributeName: &n, AttributeType: "S"})
		}
		return d
	}
	for name, c := range map[string]struct {
		change func(*dynamodb.CreateTableInput)
		want   string
	}{
		"short name":       {func(in *dynamodb.CreateTableInput) { in.TableName = ptr("t1") }, "TableName must be at least 3 characters long and at most 255 characters long"},
		"bad name":         {func(in *dynamodb.CreateTableInput) { in.TableName = ptr("t/1") }, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
		"no name":          {func(in *dynamodb.CreateTableInput) { in.TableName = nil }, "TableName"},
		"no key":           {func(in *dynamodb.CreateTableInput) { in.KeySchema = nil }, "key schema"},
		"sort key first":   {func(in *dynamodb.CreateTableInput) { in.KeySchema[0].KeyType = "RANGE" }, "The first KeySchemaElement is not a HASH key type"},
		"two hash keys":    {func(in *dynamodb.CreateTableInput) { in.KeySchema[1].KeyType = "HASH" }, "The second KeySchemaElement is not a RANGE key type"},
		"same key twice":   {func(in *dynamodb.CreateTableInput) { in.KeySchema[1].AttributeName = ptr("pk") }, "have the same name"},
		"undefined key":    {func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions = define("pk", "sk") }, "Some index key attributes are not defined in AttributeDefinitions"},
		"unused attribute": {func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions = define("pk", "sk", "g", "x") }, "Some AttributeDefinitions are not used"},
		"attribute twice":  {func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions = define("pk", "pk") }, "Duplicate AttributeName"},
		"type of a set":    {func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "SS" }, "Member must satisfy enum value set: [B, N, S]"},
		"throughput on demand": {func(in *dynamodb.CreateTableInput) {
			in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: ptr(int64(1)), WriteCapacityUnits: ptr(int64(1))}
		}, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		"no throughput":    {func(in *dynamodb.CreateTableInput) { in.BillingMode = "" }, "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"},
		"short index name": {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].IndexName = ptr("g") }, "IndexName must be at least 3"},
		"index twice": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, in.GlobalSecondaryIndexes[0])
		}, "Duplicate index name: by-g"},
		"no projection":       {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].Projection = nil }, "Unknown ProjectionType: null"},
		"projection too much": {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].Projection.ProjectionType = "ALL" }, "ProjectionType is ALL, but NonKeyAttributes is specified"},
		"stream of nothing": {func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification = &types.StreamSpecification{StreamEnabled: ptr(true)}
		}, "StreamViewType"},
		"local index":  {func(in *dynamodb.CreateTableInput) { in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{} }, "LocalSecondaryIndexes"},
		"reserved tag": {func(in *dynamodb.CreateTableInput) { in.Tags = []types.Tag{{Key: ptr("aws:x"), Value: ptr("")}} }, "aws:"},
		"tag twice": {func(in *dynamodb.CreateTableInput) {
			in.Tags = []types.Tag{{Key: ptr("x"), Value: ptr("")}, {Key: ptr("x"), Value: ptr("")}}
		}, "Duplicate tag key"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(f *fixture) {
				in := tableInput("invalid")
				c.change(in)
				_, err := f.db.CreateTable(f.req, in)
				f.fails(err, "ValidationException", c.want)
			})
		})
	}
}

func TestDeletionProtection(t *testing.T) {
	run(t, func(f *fixture) {
		in := tableInput("protected")
		in.DeletionProtectionEnabled = ptr(true)
		f.create(in)
		remove := func() error {
			_, err := f.db.DeleteTable(f.req, &dynamodb.DeleteTableInput{TableName: ptr("protected")})
			return err
		}
		f.fails(remove(), "ValidationException", "Resource cannot be deleted as it is currently protected against deletion")
		out, err := f.db.UpdateTable(f.req, &dynamodb.UpdateTableInput{TableName: ptr("protected"), DeletionProtectionEnabled: ptr(false)})
		f.ok(err)
		is(f, "status", out.TableDescription.TableStatus, "UPDATING")
		f.fails(remove(), "ResourceInUseException", "Table is being updated: protected")
		time.Sleep(updateTime)
		f.ok(remove())
	})
}

func TestUpdateTable(t *testing.T) {
	run(t, func(f *fixture) {
		change := func(in *dynamodb.UpdateTableInput) *types.TableDescription {
			f.Helper()
			in.TableName = ptr("items")
			_, err := f.db.UpdateTable(f.req, in)
			f.ok(err)
			time.Sleep(createTime)
			return f.describe("items")
		}
		d := change(&dynamodb.UpdateTableInput{SSESpecification: &types.SSESpecification{Enabled: ptr(true), KMSMasterKeyId: ptr("1234")}})
		is(f, "key", text(d.SSEDescription.KMSMasterKeyArn), "arn:aws:kms:us-east-1:123456789012:key/1234")
		d = change(&dynamodb.UpdateTableInput{SSESpecification: &types.SSESpecification{Enabled: ptr(false)}})
		is(f, "SSE off", d.SSEDescription, nil)

		d = change(&dynamodb.UpdateTableInput{BillingMode: "PROVISIONED", ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: ptr(int64(5)), WriteCapacityUnits: ptr(int64(6))}})
		is(f, "capacity", *d.ProvisionedThroughput.WriteCapacityUnits, 6)
		is(f, "billing", d.BillingModeSummary.BillingMode, "PROVISIONED")
		change(&dynamodb.UpdateTableInput{BillingMode: "PAY_PER_REQUEST"})

		f.put(item("p", "s", Item{"owner": S("o")}))
		d = change(&dynamodb.UpdateTableInput{
			AttributeDefinitions: append(f.describe("items").AttributeDefinitions, types.AttributeDefinition{AttributeName: ptr("owner"), AttributeType: "S"}),
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: ptr("by-owner"), KeySchema: []types.KeySchemaElement{{AttributeName: ptr("owner"), KeyType: "HASH"}}, Projection: &types.Projection{ProjectionType: "ALL"}}}}})
		is(f, "backfilled items", *d.GlobalSecondaryIndexes[1].ItemCount, 1)
		d = change(&dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: ptr("by-owner")}}}})
		is(f, "indexes", len(d.GlobalSecondaryIndexes), 1)
		is(f, "definitions", len(d.AttributeDefinitions), 3)

		d = change(&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: ptr(true), StreamViewType: "KEYS_ONLY"}})
		is(f, "stream", d.StreamSpecification.StreamViewType, "KEYS_ONLY")
		d = change(&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: ptr(false)}})
		is(f, "stream off", d.StreamSpecification, nil)

		for text, in := range map[string]*dynamodb.UpdateTableInput{
			"At least one of":    {},
			"ReplicaUpdates":     {ReplicaUpdates: []types.ReplicationGroupUpdate{}},
			"no stream":          {StreamSpecification: &types.StreamSpecification{StreamEnabled: ptr(false)}},
			"must both be":       {BillingMode: "PROVISIONED"},
			"Unknown Projection": {GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{IndexName: ptr("x-y"), KeySchema: d.KeySchema}}}},
		} {
			in.TableName = ptr("items")
			_, err := f.db.UpdateTable(f.req, in)
			f.fails(err, "ValidationException", text)
		}
		is(f, "status after refused updates", f.describe("items").TableStatus, "ACTIVE")
	})
}

func TestListTablesPages(t *testing.T) {
	run(t, func(f *fixture) {
		for i := range 3 {
			f.create(tableInput(fmt.Sprintf("more-%d", i)))
		}
		var names []string
		in := &dynamodb.ListTablesInput{Limit: ptr(int32(3))}
		for {
			out, err := f.db.ListTables(f.req, in)
			f.ok(err)
			names = append(names, out.TableNames...)
			if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
				break
			}
		}
		f.same([]string{"items", "more-0", "more-1", "more-2"}, names)
	})
}

func TestPointInTimeRecovery(t *testing.T) {
	run(t, func(f *fixture) {
		out, err := f.db.DescribeContinuousBackups(f.req, &dynamodb.DescribeContinuousBackupsInput{TableName: ptr("items")})
		f.ok(err)
		is(f, "status", out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, "DISABLED")
		on := time.Now()
		_, err = f.db.UpdateContinuousBackups(f.req, &dynamodb.UpdateContinuousBackupsInput{TableName: ptr("items"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: ptr(true)}})
		f.ok(err)
		time.Sleep(time.Hour)
		out, err = f.db.DescribeContinuousBackups(f.req, &dynamodb.DescribeContinuousBackupsInput{TableName: ptr("items")})
		f.ok(err)
		d := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
		is(f, "status", d.PointInTimeRecoveryStatus, "ENABLED")
		is(f, "days", *d.RecoveryPeriodInDays, 35)
		is(f, "earliest", d.EarliestRestorableDateTime.Equal(on), true)
		is(f, "latest", time.Since(*d.LatestRestorableDateTime), 5*time.Minute)
		_, err = f.db.DescribeContinuousBackups(f.req, &dynamodb.DescribeContinuousBackupsInput{TableName: ptr("missing")})
		f.fails(err, "TableNotFoundException", "missing")
	})
}

func TestTimeToLive(t *testing.T) {
	run(t, func(f *fixture) {
		set := func(on bool, attribute string) error {
			_, err := f.db.UpdateTimeToLive(f.req, &dynamodb.UpdateTimeToLiveInput{TableName: ptr("items"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &on}})
			return err
		}
		f.fails(set(false, "expires"), "ValidationException", "TimeToLive is already disabled")
		f.ok(set(true, "expires"))
		out, err := f.db.DescribeTimeToLive(f.req, &dynamodb.DescribeTimeToLiveInput{TableName: ptr("items")})
		f.ok(err)
		is(f, "attribute", text(out.TimeToLiveDescription.AttributeName), "expires")
		is(f, "status", out.TimeToLiveDescription.TimeToLiveStatus, "ENABLED")
		f.fails(set(true, "expires"), "ValidationException", "TimeToLive is already enabled")
		f.fails(set(false, "other"), "ValidationException", "different AttributeName")
		f.ok(set(false, "expires"))
	})
}

func TestTags(t *testing.T) {
	run(t, func(f *fixture) {
		arn := f.describe("items").TableArn
		_, err := f.db.TagResource(f.req, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: ptr("a"), Value: ptr("1")}, {Key: ptr("b"), Value: ptr("2")}}})
		f.ok(err)
		_, err = f.db.TagResource(f.req, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: ptr("a"), Value: ptr("3")}}})
		f.ok(err)
		_, err = f.db.UntagResource(f.req, &dynamodb.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"b", "none"}})
		f.ok(err)
		out, err := f.db.ListTagsOfResource(f.req, &dynamodb.ListTagsOfResourceInput{ResourceArn: arn})
		f.ok(err)
		is(f, "number of tags", len(out.Tags), 1)
		is(f, "tag", text(out.Tags[0].Value), "3")
		_, err = f.db.ListTagsOfResource(f.req, &dynamodb.ListTagsOfResourceInput{ResourceArn: ptr(text(arn) + "x")})
		f.fails(err, "ResourceNotFoundException", "itemsx")
		_, err = f.db.ListTagsOfResource(f.req, &dynamodb.ListTagsOfResourceInput{ResourceArn: ptr("items")})
		f.fails(err, "ValidationException", "Invalid TableArn")
	})
}
