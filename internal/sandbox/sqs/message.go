package sqs

import (
	"crypto/md5" //nolint:gosec // the checksum that the protocol prescribes
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// dedupInterval is how long a FIFO queue remembers a deduplication ID.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
const dedupInterval = 5 * time.Minute

type message struct {
	id, body     string
	attributes   map[string]types.MessageAttributeValue
	group, dedup string // FIFO
	sent         time.Time
	first        time.Time // first receive
	delay        time.Time // not before
	visible      time.Time // not before, after a receive
	received     int
	handle       string // of the last receive
}

func (m *message) ready(now time.Time) bool { return !now.Before(m.delay) && !now.Before(m.visible) }

func (q *queue) count(now time.Time) (visible, hidden, delayed int) {
	for _, m := range q.messages {
		switch {
		case now.Before(m.delay):
			delayed++
		case now.Before(m.visible):
			hidden++
		default:
			visible++
		}
	}
	return visible, hidden, delayed
}

// put adds a message, unless a FIFO queue has just had it, and returns its ID.
// The caller holds mu.
func (s *SQS) put(q *queue, m message) string {
	now := s.w.Clock.Now()
	m.id, m.sent = s.w.UUID(), now
	if m.delay.IsZero() {
		m.delay = now.Add(q.seconds("DelaySeconds"))
	}
	if q.fifo() {
		if last, ok := q.dedup[m.dedup]; ok && now.Sub(last) < dedupInterval {
			return m.id
		}
		q.dedup[m.dedup] = now
	}
	q.messages = append(q.messages, &m)
	s.wake()
	return m.id
}

// expire drops messages that are older than the retention period.
func (s *SQS) expire(q *queue) {
	oldest := s.w.Clock.Now().Add(-q.seconds("MessageRetentionPeriod"))
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.sent.Before(oldest) })
}

func checksum(body string) *string {
	sum := md5.Sum([]byte(body)) //nolint:gosec // see above
	return aws.String(hex.EncodeToString(sum[:]))
}

// build checks a message to be sent to q.
func (q *queue) build(now time.Time, body *string, delay int32, group, dedup *string, attributes map[string]types.MessageAttributeValue) (message, error) {
	m := message{body: aws.ToString(body), group: aws.ToString(group), dedup: aws.ToString(dedup), attributes: attributes}
	limit, _ := strconv.Atoi(q.attributes["MaximumMessageSize"]) // checked when it was set
	switch {
	case m.body == "":
		return m, wire.Errorf("MissingParameter", "The request must contain the parameter MessageBody.")
	case len(m.body) > limit:
		return m, wire.Errorf("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", limit)
	case delay < 0 || delay > 900:
		return m, wire.Errorf("InvalidParameterValue", "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", delay)
	case q.fifo() && m.group == "":
		return m, wire.Errorf("MissingParameter", "The request must contain the parameter MessageGroupId.")
	}
	if delay > 0 && !q.fifo() {
		m.delay = now.Add(time.Duration(delay) * time.Second)
	}
	if q.fifo() && m.dedup == "" {
		if q.attributes["ContentBasedDeduplication"] != "true" {
			return m, wire.Errorf("InvalidParameterValue", "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
		}
		sum := sha256.Sum256([]byte(m.body))
		m.dedup = hex.EncodeToString(sum[:])
	}
	return m, nil
}

func (s *SQS) sendMessage(r *wire.Request, in *api.SendMessageInput) (*api.SendMessageOutput, error) {
	out := &api.SendMessageOutput{}
	return out, s.change(r, in.QueueUrl, func(q *queue) error {
		m, err := q.build(s.w.Clock.Now(), in.MessageBody, in.DelaySeconds, in.MessageGroupId, in.MessageDeduplicationId, in.MessageAttributes)
		if err != nil {
			return err
		}
		out.MessageId, out.MD5OfMessageBody = aws.String(s.put(q, m)), checksum(m.body)
		out.MD5OfMessageAttributes = attributesChecksum(m.attributes)
		return nil
	})
}

func (s *SQS) sendMessageBatch(r *wire.Request, in *api.SendMessageBatchInput) (*api.SendMessageBatchOutput, error) {
	out := &api.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{}, Failed: []types.BatchResultErrorEntry{}}
	if err := checkBatch(len(in.Entries)); err != nil {
		return nil, err
	}
	return out, s.change(r, in.QueueUrl, func(q *queue) error {
		for _, e := range in.Entries {
			m, err := q.build(s.w.Clock.Now(), e.MessageBody, e.DelaySeconds, e.MessageGroupId, e.MessageDeduplicationId, e.MessageAttributes)
			if err != nil {
				out.Failed = append(out.Failed, failed(e.Id, err))
				continue
			}
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{
				Id: e.Id, MessageId: aws.String(s.put(q, m)), MD5OfMessageBody: checksum(m.body), MD5OfMessageAttributes: attributesChecksum(m.attributes),
			})
		}
		return nil
	})
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
func checkBatch(n int) error {
	switch {
	case n == 0:
		return wire.Errorf("EmptyBatchRequest", "There should be at least one entry in the request.")
	case n > 10:
		return wire.Errorf("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent %d.", n)
	}
	return nil
}

func failed(id *string, err error) types.BatchResultErrorEntry {
	code, text, _ := strings.Cut(err.Error(), ": ")
	return types.BatchResultErrorEntry{Id: id, Code: &code, Message: &text, SenderFault: true}
}

func (s *SQS) deleteMessage(r *wire.Request, in *api.DeleteMessageInput) (*api.DeleteMessageOutput, error) {
	return &api.DeleteMessageOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		return s.remove(q, in.ReceiptHandle)
	})
}

func (s *SQS) deleteMessageBatch(r *wire.Request, in *api.DeleteMessageBatchInput) (*api.DeleteMessageBatchOutput, error) {
	out := &api.DeleteMessageBatchOutput{Successful: []types.DeleteMessageBatchResultEntry{}, Failed: []types.BatchResultErrorEntry{}}
	if err := checkBatch(len(in.Entries)); err != nil {
		return nil, err
	}
	return out, s.change(r, in.QueueUrl, func(q *queue) error {
		for _, e := range in.Entries {
			if err := s.remove(q, e.ReceiptHandle); err != nil {
				out.Failed = append(out.Failed, failed(e.Id, err))
				continue
			}
			out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: e.Id})
		}
		return nil
	})
}

// remove deletes the message of a receipt. Deleting twice is no error, and an
// older receipt deletes nothing.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
func (s *SQS) remove(q *queue, handle *string) error {
	if !strings.HasPrefix(aws.ToString(handle), handlePrefix) {
		return wire.Errorf("ReceiptHandleIsInvalid", "The input receipt handle %q is not a valid receipt handle.", aws.ToString(handle))
	}
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.handle == *handle })
	s.wake() // the next message of a FIFO group may go
	return nil
}

func (s *SQS) changeMessageVisibility(r *wire.Request, in *api.ChangeMessageVisibilityInput) (*api.ChangeMessageVisibilityOutput, error) {
	if in.VisibilityTimeout < 0 || in.VisibilityTimeout > 43200 {
		return nil, wire.Errorf("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", in.VisibilityTimeout)
	}
	return &api.ChangeMessageVisibilityOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		now := s.w.Clock.Now()
		for _, m := range q.messages {
			if m.handle == aws.ToString(in.ReceiptHandle) && m.handle != "" {
				if !now.Before(m.visible) {
					return wire.Errorf("MessageNotInflight", "The message is not in flight.")
				}
				m.visible = now.Add(time.Duration(in.VisibilityTimeout) * time.Second)
				s.wake()
				return nil
			}
		}
		return wire.Errorf("ReceiptHandleIsInvalid", "The input receipt handle %q is not a valid receipt handle.", aws.ToString(in.ReceiptHandle))
	})
}
