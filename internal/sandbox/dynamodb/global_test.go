package dynamodb

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// in returns the fixture as seen from another Region.
func (f *fixture) in(region string) *fixture {
	return &fixture{T: f.T, db: f.db, req: request(region, world.DefaultAccount)}
}

// regroup creates or, with a minus sign, deletes replicas and a witness, which
// is marked by a question mark.
func (f *fixture) regroup(consistency types.MultiRegionConsistency, regions ...string) error {
	in := &dynamodb.UpdateTableInput{TableName: ptr("items"), MultiRegionConsistency: consistency}
	for _, r := range regions {
		switch name := ptr(r[1:]); r[0] {
		case '+':
			in.ReplicaUpdates = append(in.ReplicaUpdates, types.ReplicationGroupUpdate{Create: &types.CreateReplicationGroupMemberAction{RegionName: name}})
		case '-':
			in.ReplicaUpdates = append(in.ReplicaUpdates, types.ReplicationGroupUpdate{Delete: &types.DeleteReplicationGroupMemberAction{RegionName: name}})
		case '?':
			in.GlobalTableWitnessUpdates = append(in.GlobalTableWitnessUpdates, types.GlobalTableWitnessGroupUpdate{Create: &types.CreateGlobalTableWitnessGroupMemberAction{RegionName: name}})
		case '!':
			in.GlobalTableWitnessUpdates = append(in.GlobalTableWitnessUpdates, types.GlobalTableWitnessGroupUpdate{Delete: &types.DeleteGlobalTableWitnessGroupMemberAction{RegionName: name}})
		}
	}
	_, err := f.db.UpdateTable(f.req, in)
	return err
}

func (f *fixture) read(pk string, consistent bool) (Item, error) {
	out, err := f.db.GetItem(f.req, &dynamodb.GetItemInput{TableName: ptr("items"), Key: key(pk, "1"), ConsistentRead: aws.Bool(consistent)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// claim writes an item if there is none.
func (f *fixture) claim(pk, who string) error {
	_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("items"), Item: item(pk, "1", Item{"who": S(who)}), ConditionExpression: ptr("attribute_not_exists(pk)")})
	return err
}

const (
	eventual = types.MultiRegionConsistencyEventual
	strong   = types.MultiRegionConsistencyStrong
)

func TestEventualReplicaLags(t *testing.T) {
	run(t, func(f *fixture) {
		f.put(item("old", "1", nil))
		f.ok(f.regroup("", "+eu-west-1"))
		is(f, "status", f.describe("items").Replicas[0].ReplicaStatus, types.ReplicaStatusCreating)
		time.Sleep(createTime)
		d := f.describe("items")
		is(f, "version", text(d.GlobalTableVersion), "2019.11.21")
		is(f, "consistency", d.MultiRegionConsistency, eventual)
		is(f, "replicas", len(d.Replicas), 1)
		is(f, "replica", text(d.Replicas[0].RegionName), "eu-west-1")
		is(f, "status", d.Replicas[0].ReplicaStatus, types.ReplicaStatusActive)

		eu := f.in("eu-west-1")
		is(f, "other side", text(eu.describe("items").Replicas[0].RegionName), "us-east-1")
		f.same(item("old", "1", nil), eu.get("old", "1"))

		f.put(item("new", "1", nil))
		f.same(Item(nil), eu.get("new", "1"))
		time.Sleep(DefaultReplicationLag)
		f.same(item("new", "1", nil), eu.get("new", "1"))
		_, err := eu.db.DeleteItem(eu.req, &dynamodb.DeleteItemInput{TableName: ptr("items"), Key: key("new", "1")})
		f.ok(err)
		time.Sleep(DefaultReplicationLag)
		f.same(Item(nil), f.get("new", "1"))
	})
}

// Each Region decides by its own copy, so that two can own one lock; the last
// writer wins later.
func TestEventualConditionsAreLocal(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup("", "+eu-west-1"))
		time.Sleep(createTime)
		eu := f.in("eu-west-1")
		f.ok(f.claim("lock", "us"))
		time.Sleep(DefaultReplicationLag / 2)
		f.ok(eu.claim("lock", "eu"))
		time.Sleep(DefaultReplicationLag)
		f.same(item("lock", "1", Item{"who": S("eu")}), f.get("lock", "1"))
		f.same(item("lock", "1", Item{"who": S("eu")}), eu.get("lock", "1"))
	})
}

func TestIsolationHoldsReplicationBack(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup("", "+eu-west-1"))
		time.Sleep(createTime)
		eu := f.in("eu-west-1")
		f.db.Isolate("eu-west-1", true)
		f.ok(f.claim("x", "us"))
		time.Sleep(time.Hour)
		f.same(Item(nil), eu.get("x", "1"))
		f.ok(eu.claim("x", "eu"))
		f.db.Isolate("eu-west-1", false)
		time.Sleep(DefaultReplicationLag)
		f.same(item("x", "1", Item{"who": S("eu")}), f.get("x", "1"))
		f.same(item("x", "1", Item{"who": S("eu")}), eu.get("x", "1"))
	})
}

func TestReplicaLeaves(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup("", "+eu-west-1"))
		time.Sleep(createTime)
		f.ok(f.regroup("", "-eu-west-1"))
		time.Sleep(deleteTime)
		d := f.describe("items")
		is(f, "replicas", len(d.Replicas), 0)
		is(f, "version", text(d.GlobalTableVersion), "")
		_, err := f.db.DescribeTable(f.in("eu-west-1").req, &dynamodb.DescribeTableInput{TableName: ptr("items")})
		f.fails(err, "ResourceNotFoundException", "items")
	})
}

func TestStrongTable(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup(strong, "+us-east-2", "?us-west-2"))
		time.Sleep(createTime)
		d := f.describe("items")
		is(f, "consistency", d.MultiRegionConsistency, strong)
		is(f, "replicas", len(d.Replicas), 1)
		is(f, "witness", text(d.GlobalTableWitnesses[0].RegionName), "us-west-2")
		is(f, "witness status", d.GlobalTableWitnesses[0].WitnessStatus, types.WitnessStatusActive)

		ohio := f.in("us-east-2")
		f.ok(f.claim("lock", "us"))
		f.fails(ohio.claim("lock", "ohio"), "ConditionalCheckFailedException", "")
		got, err := ohio.read("lock", true)
		f.ok(err)
		f.same(item("lock", "1", Item{"who": S("us")}), got)

		_, err = f.db.TransactWriteItems(f.req, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: ptr("items"), Item: key("a", "b")}}}})
		f.fails(err, "ValidationException", "Transactions are not supported")
		_, err = f.db.TransactGetItems(f.req, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: ptr("items"), Key: key("a", "b")}}}})
		f.fails(err, "ValidationException", "Transactions are not supported")
		_, err = f.db.UpdateTimeToLive(f.req, &dynamodb.UpdateTimeToLiveInput{TableName: ptr("items"), TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: ptr(true), AttributeName: ptr("ttl")}})
		f.fails(err, "ValidationException", "Time to Live")
		_, err = f.db.DeleteTable(f.req, &dynamodb.DeleteTableInput{TableName: ptr("items")})
		f.fails(err, "ValidationException", "cannot be deleted")

		f.fails(f.regroup("", "+us-west-1"), "ValidationException", "no replica can be added")
		f.fails(f.regroup("", "-us-east-2"), "ValidationException", "witness")
		f.ok(f.regroup("", "-us-east-2", "!us-west-2"))
		time.Sleep(deleteTime)
		is(f, "consistency", f.describe("items").MultiRegionConsistency, "")
		f.same(item("lock", "1", Item{"who": S("us")}), f.get("lock", "1"))
	})
}

// A Region that reaches no second one serves stale reads only; the others go
// on.
func TestStrongTableInIsolation(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup(strong, "+us-east-2", "?us-west-2"))
		time.Sleep(createTime)
		ohio := f.in("us-east-2")
		f.ok(f.claim("x", "before"))
		f.db.Isolate("us-east-2", true)
		f.ok(f.claim("y", "during"))
		f.fails(ohio.claim("z", "ohio"), "InternalServerError", "reaches no other Region")
		_, err := ohio.db.BatchWriteItem(ohio.req, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"items": {{PutRequest: &types.PutRequest{Item: key("z", "1")}}}}})
		f.fails(err, "InternalServerError", "")
		_, err = ohio.read("x", true)
		f.fails(err, "InternalServerError", "Strongly consistent reads")
		seen, err := ohio.read("x", false)
		f.ok(err)
		f.same(item("x", "1", Item{"who": S("before")}), seen)
		seen, err = ohio.read("y", false)
		f.ok(err)
		f.same(Item(nil), seen)
		page, err := ohio.db.Scan(ohio.req, &dynamodb.ScanInput{TableName: ptr("items")})
		f.ok(err)
		is(f, "scanned", page.Count, 1)

		f.db.Isolate("us-west-2", true) // without the witness, nobody has a second Region
		f.fails(f.claim("z", "us"), "InternalServerError", "")
		f.db.Isolate("us-west-2", false)
		f.db.Isolate("us-east-2", false)
		seen, err = ohio.read("y", true)
		f.ok(err)
		f.same(item("y", "1", Item{"who": S("during")}), seen)
	})
}

func TestRefusedMembers(t *testing.T) {
	rows := []struct {
		name        string
		consistency types.MultiRegionConsistency
		regions     []string
		prepare     func(f *fixture)
		want        string
	}{
		{"own Region", "", []string{"+us-east-1"}, nil, "is no other Region"},
		{"a Region twice", "", []string{"+eu-west-1", "+eu-west-1"}, nil, "is no other Region"},
		{"witness of an eventually consistent table", "", []string{"+eu-west-1", "?eu-west-2"}, nil, "only multi-Region strongly consistent tables have a witness"},
		{"two Regions, strong", strong, []string{"+us-east-2"}, nil, "three replicas, or two and a witness"},
		{"four Regions, strong", strong, []string{"+us-east-2", "+us-west-2", "?eu-west-1"}, nil, "three replicas, or two and a witness"},
		{"witness where a replica is", strong, []string{"+us-east-2", "?us-east-2"}, nil, "three replicas, or two and a witness"},
		{"Regions of two sets", strong, []string{"+us-east-2", "?eu-west-1"}, nil, "not of one set"},
		{"items, strong", strong, []string{"+us-east-2", "?us-west-2"}, func(f *fixture) { f.put(key("a", "b")) }, "must be empty"},
		{"Time to Live, strong", strong, []string{"+us-east-2", "?us-west-2"}, func(f *fixture) {
			_, err := f.db.UpdateTimeToLive(f.req, &dynamodb.UpdateTimeToLiveInput{TableName: ptr("items"), TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: ptr(true), AttributeName: ptr("ttl")}})
			f.ok(err)
		}, "Time to Live"},
		{"no replica", strong, nil, nil, "need ReplicaUpdates"},
		{"a table is there", "", []string{"+eu-west-1"}, func(f *fixture) { f.in("eu-west-1").create(tableInput("items")) }, "already existed as tables"},
		{"no global table", "", []string{"-eu-west-1"}, nil, "is no global table"},
		{"replicas of an eventually consistent table made strong", strong, []string{"+us-east-2", "?us-west-2"}, func(f *fixture) {
			f.ok(f.regroup("", "+eu-west-1"))
			time.Sleep(createTime)
		}, "consistency mode"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			run(t, func(f *fixture) {
				if row.prepare != nil {
					row.prepare(f)
				}
				f.fails(f.regroup(row.consistency, row.regions...), "ValidationException", row.want)
			})
		})
	}
}

// Settings of the table reach every replica.
func TestGlobalSettings(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup("", "+eu-west-1"))
		time.Sleep(createTime)
		eu := f.in("eu-west-1")
		is(f, "stream", aws.ToString(eu.describe("items").LatestStreamArn) != "", true)
		_, err := f.db.UpdateTable(f.req, &dynamodb.UpdateTableInput{TableName: ptr("items"), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: ptr("by-g")}}}})
		f.ok(err)
		is(f, "indexes", len(eu.describe("items").GlobalSecondaryIndexes), 0)
		time.Sleep(updateTime)
		_, err = f.db.UpdateTimeToLive(f.req, &dynamodb.UpdateTimeToLiveInput{TableName: ptr("items"), TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: ptr(true), AttributeName: ptr("ttl")}})
		f.ok(err)
		ttl, err := eu.db.DescribeTimeToLive(eu.req, &dynamodb.DescribeTimeToLiveInput{TableName: ptr("items")})
		f.ok(err)
		is(f, "Time to Live", text(ttl.TimeToLiveDescription.AttributeName), "ttl")
		_, err = f.db.UpdateTable(f.req, &dynamodb.UpdateTableInput{TableName: ptr("items"), StreamSpecification: &types.StreamSpecification{StreamEnabled: ptr(false)}})
		f.fails(err, "ValidationException", "stream")
	})
}

// The last writer wins in every Region, in whatever order writes arrive.
func TestLateWriteLoses(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup("", "+eu-west-1", "+ap-southeast-1"))
		time.Sleep(createTime)
		eu, ap := f.in("eu-west-1"), f.in("ap-southeast-1")
		f.db.Isolate("eu-west-1", true)
		f.ok(eu.claim("x", "eu"))
		time.Sleep(time.Minute)
		f.same(Item(nil), ap.get("x", "1"))
		f.ok(f.claim("x", "us"))
		time.Sleep(DefaultReplicationLag)
		f.same(item("x", "1", Item{"who": S("us")}), ap.get("x", "1"))
		f.db.Isolate("eu-west-1", false)
		for _, region := range []*fixture{f, eu, ap} {
			region.same(item("x", "1", Item{"who": S("us")}), region.get("x", "1"))
		}
	})
}

// Streams of a strongly consistent table are set in each Region, and hold the
// writes of all.
func TestStreamsOfAStrongTable(t *testing.T) {
	run(t, func(f *fixture) {
		f.ok(f.regroup(strong, "+us-east-2", "+us-west-2"))
		time.Sleep(createTime)
		ohio := f.in("us-east-2")
		_, err := f.db.UpdateTable(ohio.req, &dynamodb.UpdateTableInput{TableName: ptr("items"), StreamSpecification: &types.StreamSpecification{StreamEnabled: ptr(true), StreamViewType: types.StreamViewTypeKeysOnly}})
		f.ok(err)
		is(f, "stream of another Region", text(f.describe("items").LatestStreamArn), "")
		f.put(item("x", "1", nil))
		is(f, "records", len(ohio.db.replicas[place{world.DefaultAccount, "us-east-2"}]["items"].latestStream().records), 1)
	})
}
