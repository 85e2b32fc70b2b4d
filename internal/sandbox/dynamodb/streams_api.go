package dynamodb

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/schemas"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

const (
	iteratorLife = 15 * time.Minute // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
	maxRecords   = 1000             // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
	maxRecordSet = 1 << 20          // bytes
	onlyShard    = "shardId-00000000000000000001-00000001"
)

// Streams returns the operations of DynamoDB Streams on the same tables.
func (d *DynamoDB) Streams() *wire.Service {
	s := &wire.Service{
		Name:    "dynamodb",
		Target:  "DynamoDBStreams_20120810",
		Version: "2012-08-10",
		Default: wire.JSON10,
		Schema:  schemas.DynamoDBStreams_20120810,
		Types:   dynamodbstreams.TypeRegistry,
	}
	wire.Handle(s, "ListStreams", schemas.ListStreams, schemas.ListStreamsOutput, d.ListStreams)
	wire.Handle(s, "DescribeStream", schemas.DescribeStream, schemas.DescribeStreamOutput, d.DescribeStream)
	wire.Handle(s, "GetShardIterator", schemas.GetShardIterator, schemas.GetShardIteratorOutput, d.GetShardIterator)
	wire.Handle(s, "GetRecords", schemas.GetRecords, schemas.GetRecordsOutput, d.GetRecords)
	return s
}

// ListStreams returns all streams of the Region, or of one table, on one page.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_ListStreams.html
func (d *DynamoDB) ListStreams(req *wire.Request, in *dynamodbstreams.ListStreamsInput) (*dynamodbstreams.ListStreamsOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := place{req.Account, req.Region}
	out := &dynamodbstreams.ListStreamsOutput{Streams: []streamtypes.Stream{}}
	for _, name := range slices.Sorted(maps.Keys(d.replicas[at])) {
		r := d.lookup(at, name)
		if r == nil || in.TableName != nil && *in.TableName != name {
			continue
		}
		for _, s := range r.streams {
			out.Streams = append(out.Streams, streamtypes.Stream{StreamArn: aws.String(r.streamARN(s)), StreamLabel: &s.label, TableName: &r.table.name})
		}
	}
	return out, nil
}

// DescribeStream reports a stream and its shard.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_DescribeStream.html
func (d *DynamoDB) DescribeStream(req *wire.Request, in *dynamodbstreams.DescribeStreamInput) (*dynamodbstreams.DescribeStreamOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, s, err := d.stream(req, in.StreamArn)
	if err != nil {
		return nil, err
	}
	desc := &streamtypes.StreamDescription{
		CreationRequestDateTime: &s.created,
		StreamArn:               in.StreamArn,
		StreamLabel:             &s.label,
		StreamStatus:            streamtypes.StreamStatusEnabled,
		StreamViewType:          streamtypes.StreamViewType(s.view),
		TableName:               &r.table.name,
	}
	for _, e := range r.table.keySchema {
		desc.KeySchema = append(desc.KeySchema, streamtypes.KeySchemaElement{AttributeName: e.AttributeName, KeyType: streamtypes.KeyType(e.KeyType)})
	}
	shard := streamtypes.Shard{ShardId: aws.String(onlyShard), SequenceNumberRange: &streamtypes.SequenceNumberRange{StartingSequenceNumber: aws.String(sequenceNumber(0))}}
	if s.closed {
		desc.StreamStatus = streamtypes.StreamStatusDisabled
		shard.SequenceNumberRange.EndingSequenceNumber = aws.String(sequenceNumber(max(0, s.next()-1)))
	}
	if aws.ToString(in.ExclusiveStartShardId) != onlyShard {
		desc.Shards = []streamtypes.Shard{shard}
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: desc}, nil
}

// stream finds a stream by its ARN.
func (d *DynamoDB) stream(req *wire.Request, arn *string) (*replica, *stream, error) {
	tableARN, label, ok := strings.Cut(aws.ToString(arn), "/stream/")
	at, name, err := parseARN(tableARN)
	if err != nil || !ok {
		return nil, nil, invalid("Invalid StreamArn: %s", aws.ToString(arn))
	}
	if r := d.lookup(at, name); r != nil && at.region == req.Region {
		for _, s := range r.streams {
			if s.label == label {
				s.trim(d.now())
				return r, s, nil
			}
		}
	}
	return nil, nil, notFound("Requested resource not found: Stream: %s not found", aws.ToString(arn))
}

// GetShardIterator returns a place in a shard, valid for 15 minutes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
func (d *DynamoDB) GetShardIterator(req *wire.Request, in *dynamodbstreams.GetShardIteratorInput) (*dynamodbstreams.GetShardIteratorOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, s, err := d.stream(req, in.StreamArn)
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.ShardId) != onlyShard {
		return nil, notFound("Requested resource not found: Shard does not exist")
	}
	at, err := s.position(in.ShardIteratorType, aws.ToString(in.SequenceNumber))
	if err != nil {
		return nil, err
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(iterator{*in.StreamArn, at, d.now().UnixNano()}.String())}, nil
}

func (s *stream) position(kind streamtypes.ShardIteratorType, sequence string) (int, error) {
	switch kind {
	case streamtypes.ShardIteratorTypeTrimHorizon:
		return s.trimmed, nil
	case streamtypes.ShardIteratorTypeLatest:
		return s.next(), nil
	case streamtypes.ShardIteratorTypeAtSequenceNumber, streamtypes.ShardIteratorTypeAfterSequenceNumber:
	default:
		return 0, invalid("1 validation error detected: Value '%s' at 'shardIteratorType' failed to satisfy constraint: Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]", kind)
	}
	n, ok := sequenceIndex(sequence)
	if !ok || n > s.next() {
		return 0, invalid("Invalid SequenceNumber: %s", sequence)
	}
	if n < s.trimmed {
		return 0, wire.Errorf("TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard. The record %s is older than 24 hours", sequence)
	}
	if kind == streamtypes.ShardIteratorTypeAfterSequenceNumber {
		n++
	}
	return n, nil
}

// GetRecords returns the records at an iterator, and the next iterator; none
// at the end of a stream that is closed.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
func (d *DynamoDB) GetRecords(req *wire.Request, in *dynamodbstreams.GetRecordsInput) (*dynamodbstreams.GetRecordsOutput, error) {
	limit := int32(maxRecords)
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxRecords {
		return nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value between 1 and %d", limit, maxRecords)
	}
	it, err := parseIterator(aws.ToString(in.ShardIterator))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, s, err := d.stream(req, &it.stream)
	if err != nil {
		return nil, err
	}
	now := d.now()
	if now.UnixNano()-it.issued > int64(iteratorLife) {
		return nil, wire.Errorf("ExpiredIteratorException", "Iterator expired. The iterator was created more than %s ago", iteratorLife)
	}
	from := max(0, it.at-s.trimmed)
	out := &dynamodbstreams.GetRecordsOutput{Records: []streamtypes.Record{}}
	size := int64(0)
	for _, r := range s.records[min(from, len(s.records)):] {
		if size += *r.Dynamodb.SizeBytes; len(out.Records) == int(limit) || size > maxRecordSet && len(out.Records) > 0 {
			break
		}
		out.Records = append(out.Records, r)
	}
	next := s.trimmed + from + len(out.Records)
	if !s.closed || next < s.next() {
		out.NextShardIterator = aws.String(iterator{it.stream, next, now.UnixNano()}.String())
	}
	return out, nil
}

// iterator is a place in the shard of a stream.
type iterator struct {
	stream string
	at     int
	issued int64 // nanoseconds since the Unix epoch
}

func (i iterator) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", i.at, i.issued, i.stream))
}

func parseIterator(s string) (i iterator, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		_, err = fmt.Sscanf(string(raw), "%d %d %s", &i.at, &i.issued, &i.stream)
	}
	if err != nil || i.at < 0 {
		return i, invalid("Invalid ShardIterator: %q is not one that GetShardIterator returned", s)
	}
	return i, nil
}

// StreamOf returns the ARN of the stream that an iterator leads to, "*" for one
// that GetShardIterator did not return: for authorization.
func StreamOf(iterator string) string {
	i, err := parseIterator(iterator)
	if err != nil {
		return "*"
	}
	return i.stream
}
