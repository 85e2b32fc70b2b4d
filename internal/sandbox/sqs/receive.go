package sqs

import (
	"crypto/md5" //nolint:gosec // the checksum that the protocol prescribes
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

const handlePrefix = "AQEB"

// receiveMessage waits for messages up to the wait time of request or queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
func (s *SQS) receiveMessage(r *wire.Request, in *api.ReceiveMessageInput) (*api.ReceiveMessageOutput, error) {
	if in.MaxNumberOfMessages < 0 || in.MaxNumberOfMessages > 10 {
		return nil, wire.Errorf("InvalidParameterValue", "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", in.MaxNumberOfMessages)
	}
	var until time.Time
	for {
		var got []types.Message
		var changed chan struct{}
		var next time.Time
		err := s.change(r, in.QueueUrl, func(q *queue) error {
			now := s.w.Clock.Now()
			if until.IsZero() {
				until = now.Add(max(time.Duration(in.WaitTimeSeconds)*time.Second, 0))
				if in.WaitTimeSeconds == 0 {
					until = now.Add(q.seconds("ReceiveMessageWaitTimeSeconds"))
				}
			}
			got, next = s.take(q, in, now)
			if next.IsZero() || next.After(until) {
				next = until
			}
			changed = s.changed
			if !next.After(now) {
				changed = nil
			}
			return nil
		})
		if err != nil || len(got) > 0 || changed == nil {
			return &api.ReceiveMessageOutput{Messages: got}, err
		}
		if err := s.waitUntil(r, next, changed); err != nil {
			return nil, err
		}
	}
}

// waitUntil blocks until a message may be there: changed, or the moment next.
func (s *SQS) waitUntil(r *wire.Request, next time.Time, changed <-chan struct{}) error {
	moment := make(chan struct{})
	timer := s.w.Clock.AfterFunc(next.Sub(s.w.Clock.Now()), func() { close(moment) })
	defer timer.Stop()
	return s.waitChange(r.Context, changed, moment)
}

// take hands out visible messages. Without one it returns the moment at which
// the next becomes visible, zero if there is none. The caller holds mu.
func (s *SQS) take(q *queue, in *api.ReceiveMessageInput, now time.Time) (got []types.Message, next time.Time) {
	s.expire(q)
	limit := max(int(in.MaxNumberOfMessages), 1)
	busy := map[string]bool{} // FIFO groups with a message in flight
	for _, m := range q.messages {
		if q.fifo() && m.received > 0 && now.Before(m.visible) {
			busy[m.group] = true
		}
	}
	for _, m := range slices.Clone(q.messages) {
		if len(got) == limit {
			break
		}
		if q.fifo() && busy[m.group] {
			continue
		}
		if !m.ready(now) {
			at := m.visible
			if m.delay.After(at) {
				at = m.delay
			}
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		if s.buried(q, m) {
			continue
		}
		got = append(got, s.hand(q, m, in, now))
	}
	return got, next
}

// buried moves a message that was received too often to the dead-letter queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
func (s *SQS) buried(q *queue, m *message) bool {
	target, max := q.redrive()
	dead := s.queues[target]
	if dead == nil || max < 1 || m.received < max {
		return false
	}
	q.messages = slices.DeleteFunc(q.messages, func(o *message) bool { return o == m })
	m.received, m.handle, m.first, m.visible = 0, "", time.Time{}, time.Time{} // it keeps its identity and the time of sending
	dead.messages = append(dead.messages, m)
	s.wake()
	return true
}

// hand marks a message as received and shows it.
func (s *SQS) hand(q *queue, m *message, in *api.ReceiveMessageInput, now time.Time) types.Message {
	timeout := q.seconds("VisibilityTimeout")
	if in.VisibilityTimeout != 0 {
		timeout = time.Duration(in.VisibilityTimeout) * time.Second
	}
	m.received++
	if m.received == 1 {
		m.first = now
	}
	m.visible, m.handle = now.Add(timeout), handlePrefix+s.w.Hex(48)
	system := map[string]string{
		"SentTimestamp":                    strconv.FormatInt(m.sent.UnixMilli(), 10),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.first.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.received),
		"SenderId":                         q.account,
	}
	if q.fifo() {
		system["MessageGroupId"], system["MessageDeduplicationId"] = m.group, m.dedup
	}
	out := types.Message{
		MessageId: aws.String(m.id), ReceiptHandle: aws.String(m.handle), Body: aws.String(m.body), MD5OfBody: checksum(m.body),
		Attributes: map[string]string{},
	}
	for k, v := range system {
		if asked(in, k) {
			out.Attributes[k] = v
		}
	}
	for k, v := range m.attributes {
		if slices.Contains(in.MessageAttributeNames, "All") || slices.Contains(in.MessageAttributeNames, ".*") || slices.Contains(in.MessageAttributeNames, k) {
			if out.MessageAttributes == nil {
				out.MessageAttributes = map[string]types.MessageAttributeValue{}
			}
			out.MessageAttributes[k] = v
		}
	}
	out.MD5OfMessageAttributes = attributesChecksum(out.MessageAttributes)
	return out
}

// asked reports whether the caller wants a system attribute; the older of the
// two lists is still what many clients fill.
func asked(in *api.ReceiveMessageInput, name string) bool {
	return slices.ContainsFunc(in.MessageSystemAttributeNames, func(n types.MessageSystemAttributeName) bool {
		return n == types.MessageSystemAttributeNameAll || string(n) == name
	}) || slices.ContainsFunc(in.AttributeNames, func(n types.QueueAttributeName) bool {
		return n == types.QueueAttributeNameAll || string(n) == name
	})
}

// attributesChecksum is the MD5 over names, types and values in order.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html#sqs-attributes-md5-message-digest-calculation
func attributesChecksum(attributes map[string]types.MessageAttributeValue) *string {
	if len(attributes) == 0 {
		return nil
	}
	var buf []byte
	add := func(b []byte) { buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(b))), b...) }
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		add([]byte(name))
		add([]byte(aws.ToString(a.DataType)))
		if a.BinaryValue != nil {
			buf = append(buf, 2)
			add(a.BinaryValue)
		} else {
			buf = append(buf, 1)
			add([]byte(aws.ToString(a.StringValue)))
		}
	}
	sum := md5.Sum(buf) //nolint:gosec // see above
	return aws.String(hex.EncodeToString(sum[:]))
}
