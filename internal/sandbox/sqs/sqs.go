// Package sqs is the sandbox's Simple Queue Service: standard and FIFO queues
// with visibility timeouts, delays, long polling and dead-letter queues.
//
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/Welcome.html
package sqs

import (
	"context"
	"fmt"
	"strings"
	"sync"

	api "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// SQS holds the queues of all accounts and Regions.
type SQS struct {
	w *world.World

	mu      sync.Mutex
	queues  map[string]*queue // by ARN
	changed chan struct{}     // closed and replaced when a message may have become visible
}

// New returns an SQS without queues.
func New(w *world.World) *SQS {
	return &SQS{w: w, queues: map[string]*queue{}, changed: make(chan struct{})}
}

// Service returns the SQS API.
func (s *SQS) Service() *wire.Service {
	v := &wire.Service{
		Name: "sqs", Target: "AmazonSQS", Version: "2012-11-05", Namespace: "http://queue.amazonaws.com/doc/2012-11-05/",
		Default: wire.JSON10, Schema: schemas.AmazonSQS, Types: api.TypeRegistry,
	}
	wire.Handle(v, "CreateQueue", nil, nil, s.createQueue)
	wire.Handle(v, "GetQueueUrl", nil, nil, s.getQueueURL)
	wire.Handle(v, "ListQueues", nil, nil, s.listQueues)
	wire.Handle(v, "DeleteQueue", nil, nil, s.deleteQueue)
	wire.Handle(v, "PurgeQueue", nil, nil, s.purgeQueue)
	wire.Handle(v, "GetQueueAttributes", nil, nil, s.getQueueAttributes)
	wire.Handle(v, "SetQueueAttributes", nil, nil, s.setQueueAttributes)
	wire.Handle(v, "TagQueue", nil, nil, s.tagQueue)
	wire.Handle(v, "UntagQueue", nil, nil, s.untagQueue)
	wire.Handle(v, "ListQueueTags", nil, nil, s.listQueueTags)
	wire.Handle(v, "SendMessage", nil, nil, s.sendMessage)
	wire.Handle(v, "SendMessageBatch", nil, nil, s.sendMessageBatch)
	wire.Handle(v, "ReceiveMessage", nil, nil, s.receiveMessage)
	wire.Handle(v, "DeleteMessage", nil, nil, s.deleteMessage)
	wire.Handle(v, "DeleteMessageBatch", nil, nil, s.deleteMessageBatch)
	wire.Handle(v, "ChangeMessageVisibility", nil, nil, s.changeMessageVisibility)
	return v
}

// Deliver puts a message of an AWS service into a queue.
func (s *SQS) Deliver(arn string, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[arn]
	if q == nil {
		return missing(arn)
	}
	s.put(q, message{body: string(body), group: "default", dedup: s.w.UUID()})
	return nil
}

// Send is Deliver for a service principal acting for sourceARN: the queue's
// policy must allow it.
// https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html
func (s *SQS) Send(arn string, body []byte, principal, sourceARN string) error {
	doc, err := policy.Parse(policy.Resource, s.Policy(arn))
	if err != nil {
		return wire.Errorf("AccessDenied", "The queue %s has no policy that allows %s to send to it.", arn, principal).WithStatus(403)
	}
	ctx := policy.Context{}
	ctx.Set("aws:SourceArn", sourceARN)
	if parts := strings.SplitN(sourceARN, ":", 6); len(parts) == 6 {
		ctx.Set("aws:SourceAccount", parts[4])
	}
	q := policy.Request{Action: "sqs:SendMessage", Resource: arn, Principal: policy.Principal{Service: principal}, Context: ctx}
	if policy.Evaluate(q, doc) != policy.Allowed {
		return wire.Errorf("AccessDenied", "The policy of queue %s does not allow %s to send for %s.", arn, principal, sourceARN).WithStatus(403)
	}
	return s.Deliver(arn, body)
}

// Policy returns the policy of a queue, "" for none.
func (s *SQS) Policy(arn string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[arn]; q != nil {
		return q.attributes["Policy"]
	}
	return ""
}

// Depth returns how many messages a queue holds, visible or not, -1 without
// such a queue.
func (s *SQS) Depth(arn string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[arn]; q != nil {
		return len(q.messages)
	}
	return -1
}

// url is what clients know a queue by. Its host is the sandbox's own.
func (s *SQS) url(q *queue) string {
	endpoint := s.w.Endpoint
	if endpoint == "" {
		endpoint = "https://sqs." + q.region + ".amazonaws.com"
	}
	return fmt.Sprintf("%s/%s/%s", strings.TrimSuffix(endpoint, "/"), q.account, q.name)
}

// byURL finds the queue that a URL ending in ACCOUNT/NAME means.
func (s *SQS) byURL(r *wire.Request, url *string) (*queue, error) {
	if url == nil {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter QueueUrl.")
	}
	parts := strings.Split(*url, "/")
	name, account := parts[len(parts)-1], r.Account
	if len(parts) > 1 && parts[len(parts)-2] != "" {
		account = parts[len(parts)-2]
	}
	if q := s.queues[arnOf(r.Region, account, name)]; q != nil {
		return q, nil
	}
	return nil, missing(name)
}

func arnOf(region, account, name string) string {
	return "arn:aws:sqs:" + region + ":" + account + ":" + name
}

func missing(name string) *wire.Error {
	return wire.Errorf("QueueDoesNotExist", "The specified queue does not exist: %s", name)
}

// wake lets waiting receivers look again. The caller holds mu.
func (s *SQS) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// waitChange blocks until wake, a moment of the world's clock or ctx's end.
func (s *SQS) waitChange(ctx context.Context, changed <-chan struct{}, moment <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-moment:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
