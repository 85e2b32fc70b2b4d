package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// pager is what people hear: a topic, and a queue that keeps its messages.
type pager struct {
	topic string // ARN
	queue string // URL
	api   *sqs.Client
}

// newPager makes what somebody who wants to be woken up has: a topic with a
// subscription.
func (s *Stage) newPager(ctx context.Context) (*pager, error) {
	cfg := s.Config(Region)
	topics, p := sns.NewFromConfig(cfg), &pager{api: sqs.NewFromConfig(cfg)}
	topic, err := topics.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("on-call")})
	if err != nil {
		return nil, fmt.Errorf("creating the topic of the people on call: %w", err)
	}
	p.topic = *topic.TopicArn
	queue, err := p.api.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("on-call")})
	if err != nil {
		return nil, fmt.Errorf("creating the queue behind topic %s: %w", p.topic, err)
	}
	p.queue = *queue.QueueUrl
	got, err := p.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &p.queue, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	if err != nil {
		return nil, fmt.Errorf("reading the ARN of queue %s: %w", p.queue, err)
	}
	arn := got.Attributes[string(sqstypes.QueueAttributeNameQueueArn)]
	// https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":%q,"Condition":{"ArnEquals":{"aws:SourceArn":%q}}}]}`, arn, p.topic)
	if _, err := p.api.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &p.queue, Attributes: map[string]string{"Policy": policy}}); err != nil {
		return nil, fmt.Errorf("letting topic %s into queue %s: %w", p.topic, arn, err)
	}
	if _, err := topics.Subscribe(ctx, &sns.SubscribeInput{TopicArn: &p.topic, Protocol: aws.String("sqs"), Endpoint: &arn}); err != nil {
		return nil, fmt.Errorf("subscribing queue %s to topic %s: %w", arn, p.topic, err)
	}
	return p, nil
}

// writeTFVars names the topic where Terraform reads it by itself.
func (p *pager) writeTFVars(path string) error {
	return os.WriteFile(path, fmt.Appendf(nil, "notification_arns = [%q]\n", p.topic), 0o600)
}

// notice is a message as the queue of a subscription gets it:
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
type notice struct {
	Subject   string
	Message   string
	Timestamp time.Time
}

// pages returns what came since the last call.
func (p *pager) pages(ctx context.Context) ([]notice, error) {
	var pages []notice
	for {
		out, err := p.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &p.queue, MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
		if err != nil {
			return nil, fmt.Errorf("reading what people were told: %w", err)
		}
		if len(out.Messages) == 0 {
			return pages, nil
		}
		for _, m := range out.Messages {
			var got notice
			if err := json.Unmarshal([]byte(*m.Body), &got); err != nil {
				return nil, fmt.Errorf("reading what people were told: %w: %s", err, *m.Body)
			}
			pages = append(pages, got)
		}
	}
}

// judgePages shows what people were told, in the words of hadr: that the
// takeover began, and how it ended.
func (r *Result) judgePages(group string, pages []notice) {
	for _, p := range pages {
		if strings.HasPrefix(p.Subject, "hadr "+group+": ") {
			r.Told = append(r.Told, p.Subject)
		}
	}
	for _, word := range []string{"STARTED", "ENDED (ok)"} {
		told := 0
		for _, subject := range r.Told {
			if strings.HasPrefix(subject, "hadr "+group+": "+word) {
				told++
			}
		}
		r.expect(told == 1, "people were told %d times, not once, of %q: %q", told, word, r.Told)
	}
}
