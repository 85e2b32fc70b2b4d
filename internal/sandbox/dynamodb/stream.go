package dynamodb

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// streamLife is how long a record can be read.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html#Streams.DataRetention
const streamLife = 24 * time.Hour

// stream holds the changes of a replica while its table has streams enabled.
// It has one shard.
type stream struct {
	label   string
	created time.Time
	view    types.StreamViewType
	trimmed int // records that are no longer there
	records []streamtypes.Record
	closed  bool
}

// openStream starts a stream; its label tells it from earlier ones.
func (r *replica) openStream(now time.Time) {
	r.streams = append(r.streams, &stream{label: now.UTC().Format("2006-01-02T15:04:05.000"), created: now, view: r.table.stream.StreamViewType})
}

func (r *replica) latestStream() *stream {
	if len(r.streams) == 0 {
		return nil
	}
	return r.streams[len(r.streams)-1]
}

func (r *replica) streamARN(s *stream) string { return r.arn() + "/stream/" + s.label }

// record appends a change. A write that changes nothing leaves no record.
func (s *stream) record(c change, region, id string, now time.Time) {
	event := streamtypes.OperationTypeModify
	switch {
	case c.old != nil && c.new != nil && value.EqualItems(c.old, c.new), c.old == nil && c.new == nil:
		return
	case c.old == nil:
		event = streamtypes.OperationTypeInsert
	case c.new == nil:
		event = streamtypes.OperationTypeRemove
	}
	data := &streamtypes.StreamRecord{Keys: streamItem(c.key), StreamViewType: streamtypes.StreamViewType(s.view)}
	size := value.Size(c.key)
	if s.view == types.StreamViewTypeOldImage || s.view == types.StreamViewTypeNewAndOldImages {
		data.OldImage = streamItem(c.old)
		size += value.Size(c.old)
	}
	if s.view == types.StreamViewTypeNewImage || s.view == types.StreamViewTypeNewAndOldImages {
		data.NewImage = streamItem(c.new)
		size += value.Size(c.new)
	}
	second := now.Truncate(time.Second)
	bytes, sequence := int64(size), sequenceNumber(s.next())
	data.ApproximateCreationDateTime, data.SizeBytes, data.SequenceNumber = &second, &bytes, &sequence
	source, version := "aws:dynamodb", "1.1"
	s.records = append(s.records, streamtypes.Record{AwsRegion: &region, Dynamodb: data, EventID: &id, EventName: event, EventSource: &source, EventVersion: &version})
}

// next is the number of the record to come.
func (s *stream) next() int { return s.trimmed + len(s.records) }

// trim drops the records that have become too old.
func (s *stream) trim(now time.Time) {
	n := 0
	for n < len(s.records) && now.Sub(*s.records[n].Dynamodb.ApproximateCreationDateTime) > streamLife {
		n++
	}
	s.records = s.records[n:]
	s.trimmed += n
}

// firstSequence makes sequence numbers as long as AWS's shortest.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_SequenceNumberRange.html
const firstSequence = "1%020d"

func sequenceNumber(n int) string { return fmt.Sprintf(firstSequence, n) }

func sequenceIndex(s string) (n int, ok bool) {
	_, err := fmt.Sscanf(s, firstSequence, &n)
	return n, err == nil && sequenceNumber(n) == s
}

// streamItem turns an item into the types of the streams API; nil stays nil.
func streamItem(item value.Item) map[string]streamtypes.AttributeValue {
	if item == nil {
		return nil
	}
	out := make(map[string]streamtypes.AttributeValue, len(item))
	for k, v := range item {
		out[k] = streamValue(v)
	}
	return out
}

func streamValue(v types.AttributeValue) streamtypes.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &streamtypes.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &streamtypes.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &streamtypes.AttributeValueMemberB{Value: v.Value}
	case *types.AttributeValueMemberBOOL:
		return &streamtypes.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberSS:
		return &streamtypes.AttributeValueMemberSS{Value: v.Value}
	case *types.AttributeValueMemberNS:
		return &streamtypes.AttributeValueMemberNS{Value: v.Value}
	case *types.AttributeValueMemberBS:
		return &streamtypes.AttributeValueMemberBS{Value: v.Value}
	case *types.AttributeValueMemberM:
		return &streamtypes.AttributeValueMemberM{Value: streamItem(v.Value)}
	case *types.AttributeValueMemberL:
		list := make([]streamtypes.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			list[i] = streamValue(e)
		}
		return &streamtypes.AttributeValueMemberL{Value: list}
	}
	return &streamtypes.AttributeValueMemberNULL{Value: true}
}
