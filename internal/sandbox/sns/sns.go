// Package sns is the sandbox's Simple Notification Service: topics that
// deliver to SQS queues and Lambda functions.
//
// https://docs.aws.amazon.com/sns/latest/api/welcome.html
package sns

import (
	"sync"

	api "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Queues are the queues that topics deliver to; SQS implements it.
type Queues interface {
	// Deliver puts a message of the sandbox itself into a queue.
	Deliver(arn string, body []byte) error
	// Send puts a message into a queue for a service principal acting for
	// sourceARN, if the queue's policy allows it.
	Send(arn string, body []byte, principal, sourceARN string) error
}

// SNS holds the topics of all accounts and Regions. It implements
// world.Messages for topics and, through its queues, for queues.
type SNS struct {
	w      *world.World
	queues Queues

	mu     sync.Mutex
	topics map[string]*topic // by ARN
}

var _ world.Messages = (*SNS)(nil)

// New returns an SNS without topics that delivers to queues.
func New(w *world.World, queues Queues) *SNS {
	return &SNS{w: w, queues: queues, topics: map[string]*topic{}}
}

// Service returns the SNS API.
func (s *SNS) Service() *wire.Service {
	v := &wire.Service{
		Name: "sns", Version: "2010-03-31", Namespace: "http://sns.amazonaws.com/doc/2010-03-31/",
		Default: wire.Query, Schema: schemas.AmazonSimpleNotificationService, Types: api.TypeRegistry,
	}
	wire.Handle(v, "CreateTopic", nil, nil, s.createTopic)
	wire.Handle(v, "DeleteTopic", nil, nil, s.deleteTopic)
	wire.Handle(v, "ListTopics", nil, nil, s.listTopics)
	wire.Handle(v, "GetTopicAttributes", nil, nil, s.getTopicAttributes)
	wire.Handle(v, "SetTopicAttributes", nil, nil, s.setTopicAttributes)
	wire.Handle(v, "TagResource", nil, nil, s.tagResource)
	wire.Handle(v, "UntagResource", nil, nil, s.untagResource)
	wire.Handle(v, "ListTagsForResource", nil, nil, s.listTagsForResource)
	wire.Handle(v, "Subscribe", nil, nil, s.subscribe)
	wire.Handle(v, "Unsubscribe", nil, nil, s.unsubscribe)
	wire.Handle(v, "ListSubscriptions", nil, nil, s.listSubscriptions)
	wire.Handle(v, "ListSubscriptionsByTopic", nil, nil, s.listSubscriptionsByTopic)
	wire.Handle(v, "GetSubscriptionAttributes", nil, nil, s.getSubscriptionAttributes)
	wire.Handle(v, "SetSubscriptionAttributes", nil, nil, s.setSubscriptionAttributes)
	wire.Handle(v, "Publish", nil, nil, s.publish)
	wire.Handle(v, "PublishBatch", nil, nil, s.publishBatch)
	return v
}

// Policy returns the policy of a topic, "" for none.
func (s *SNS) Policy(arn string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[arn]; t != nil {
		return t.attributes["Policy"]
	}
	return ""
}

func notFound(format string, args ...any) *wire.Error {
	return wire.Errorf("NotFound", format, args...).WithStatus(404)
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameter", "Invalid parameter: "+format, args...)
}
