package dynamodb

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamed makes the table "streamed" and returns the ARN of its stream.
func (f *fixture) streamed(view types.StreamViewType) *string {
	in := tableInput("streamed")
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: ptr(true), StreamViewType: view}
	return f.create(in).LatestStreamArn
}

func (f *fixture) iterator(stream *string, kind streamtypes.ShardIteratorType, sequence *string) *string {
	f.Helper()
	out, err := f.db.GetShardIterator(f.req, &dynamodbstreams.GetShardIteratorInput{StreamArn: stream, ShardId: ptr(onlyShard), ShardIteratorType: kind, SequenceNumber: sequence})
	f.ok(err)
	return out.ShardIterator
}

func (f *fixture) records(iterator *string) *dynamodbstreams.GetRecordsOutput {
	f.Helper()
	out, err := f.db.GetRecords(f.req, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	f.ok(err)
	return out
}

// putStreamed writes the item p/s with a value.
func (f *fixture) putStreamed(v int) {
	f.Helper()
	_, err := f.db.PutItem(f.req, &dynamodb.PutItemInput{TableName: ptr("streamed"), Item: item("p", "s", Item{"v": N(v)})})
	f.ok(err)
}

func TestAStreamTellsEveryChange(t *testing.T) {
	for view, want := range map[types.StreamViewType]string{
		"NEW_AND_OLD_IMAGES": "[INSERT old=- new=1 MODIFY old=1 new=2 REMOVE old=2 new=-]",
		"NEW_IMAGE":          "[INSERT old=- new=1 MODIFY old=- new=2 REMOVE old=- new=-]",
		"OLD_IMAGE":          "[INSERT old=- new=- MODIFY old=1 new=- REMOVE old=2 new=-]",
		"KEYS_ONLY":          "[INSERT old=- new=- MODIFY old=- new=- REMOVE old=- new=-]",
	} {
		t.Run(string(view), func(t *testing.T) {
			run(t, func(f *fixture) {
				arn := f.streamed(view)
				f.putStreamed(1)
				f.putStreamed(1) // changes nothing
				f.putStreamed(2)
				remove := types.TransactWriteItem{Delete: &types.Delete{TableName: ptr("streamed"), Key: key("p", "s")}}
				f.ok(f.transact("", remove))
				f.ok(f.transact("", remove)) // nothing left
				version := func(image map[string]streamtypes.AttributeValue) string {
					if image == nil {
						return "-"
					}
					return image["v"].(*streamtypes.AttributeValueMemberN).Value
				}
				var got []string
				for _, r := range f.records(f.iterator(arn, "TRIM_HORIZON", nil)).Records {
					is(f, "key", r.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value, "p")
					got = append(got, fmt.Sprintf("%s old=%s new=%s", r.EventName, version(r.Dynamodb.OldImage), version(r.Dynamodb.NewImage)))
				}
				is(f, "records", fmt.Sprint(got), want)
			})
		})
	}
}

func TestIteratorsStandWhereTheyAreAskedTo(t *testing.T) {
	run(t, func(f *fixture) {
		arn := f.streamed("KEYS_ONLY")
		for v := range 3 {
			f.putStreamed(v)
		}
		latest := f.iterator(arn, "LATEST", nil)
		all := f.records(f.iterator(arn, "TRIM_HORIZON", nil)).Records
		second := all[1].Dynamodb.SequenceNumber
		f.putStreamed(3)
		for kind, want := range map[streamtypes.ShardIteratorType]int{"TRIM_HORIZON": 4, "AT_SEQUENCE_NUMBER": 3, "AFTER_SEQUENCE_NUMBER": 2} {
			is(f, "records "+string(kind), len(f.records(f.iterator(arn, kind, second)).Records), want)
		}
		out := f.records(latest)
		is(f, "records since LATEST", len(out.Records), 1)
		is(f, "records after the last", len(f.records(out.NextShardIterator).Records), 0)
		f.putStreamed(4)
		is(f, "records after a new one", len(f.records(out.NextShardIterator).Records), 1)

		time.Sleep(iteratorLife + time.Second)
		_, err := f.db.GetRecords(f.req, &dynamodbstreams.GetRecordsInput{ShardIterator: latest})
		f.fails(err, "ExpiredIteratorException", "Iterator expired")
		time.Sleep(streamLife)
		is(f, "records after a day", len(f.records(f.iterator(arn, "TRIM_HORIZON", nil)).Records), 0)
		_, err = f.db.GetShardIterator(f.req, &dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: ptr(onlyShard), ShardIteratorType: "AT_SEQUENCE_NUMBER", SequenceNumber: second})
		f.fails(err, "TrimmedDataAccessException", "older than 24 hours")
	})
}

func TestADisabledStreamEnds(t *testing.T) {
	run(t, func(f *fixture) {
		arn := f.streamed("KEYS_ONLY")
		f.putStreamed(1)
		set := func(s types.StreamSpecification) {
			_, err := f.db.UpdateTable(f.req, &dynamodb.UpdateTableInput{TableName: ptr("streamed"), StreamSpecification: &s})
			f.ok(err)
			time.Sleep(updateTime)
		}
		set(types.StreamSpecification{StreamEnabled: ptr(false)})
		f.putStreamed(2)
		out := f.records(f.iterator(arn, "TRIM_HORIZON", nil))
		is(f, "records", len(out.Records), 1)
		is(f, "next iterator", out.NextShardIterator, nil)
		d, err := f.db.DescribeStream(f.req, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
		f.ok(err)
		is(f, "status", d.StreamDescription.StreamStatus, "DISABLED")
		is(f, "last record", text(d.StreamDescription.Shards[0].SequenceNumberRange.EndingSequenceNumber), text(out.Records[0].Dynamodb.SequenceNumber))

		set(types.StreamSpecification{StreamEnabled: ptr(true), StreamViewType: "KEYS_ONLY"})
		f.putStreamed(3)
		latest := f.describe("streamed").LatestStreamArn
		is(f, "another stream", text(latest) != text(arn), true)
		is(f, "its records", len(f.records(f.iterator(latest, "TRIM_HORIZON", nil)).Records), 1)
		list, err := f.db.ListStreams(f.req, &dynamodbstreams.ListStreamsInput{TableName: ptr("streamed")})
		f.ok(err)
		is(f, "streams", len(list.Streams), 2)
	})
}

func TestInvalidStreamRequests(t *testing.T) {
	run(t, func(f *fixture) {
		arn := f.streamed("KEYS_ONLY")
		_, err := f.db.DescribeStream(f.req, &dynamodbstreams.DescribeStreamInput{StreamArn: ptr(text(arn) + "x")})
		f.fails(err, "ResourceNotFoundException", "not found")
		_, err = f.db.DescribeStream(request("eu-west-1", f.req.Account), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
		f.fails(err, "ResourceNotFoundException", "not found")
		_, err = f.db.DescribeStream(f.req, &dynamodbstreams.DescribeStreamInput{StreamArn: ptr("streamed")})
		f.fails(err, "ValidationException", "Invalid StreamArn")
		_, err = f.db.GetRecords(f.req, &dynamodbstreams.GetRecordsInput{ShardIterator: ptr("x")})
		f.fails(err, "ValidationException", "Invalid ShardIterator")
		_, err = f.db.GetRecords(f.req, &dynamodbstreams.GetRecordsInput{ShardIterator: f.iterator(arn, "LATEST", nil), Limit: ptr(int32(0))})
		f.fails(err, "ValidationException", "'limit'")
		_, err = f.db.GetShardIterator(f.req, &dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: ptr("shardId-2"), ShardIteratorType: "LATEST"})
		f.fails(err, "ResourceNotFoundException", "Shard does not exist")
		_, err = f.db.GetShardIterator(f.req, &dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: ptr(onlyShard), ShardIteratorType: "AT_SEQUENCE_NUMBER", SequenceNumber: ptr("7")})
		f.fails(err, "ValidationException", "Invalid SequenceNumber")
	})
}
