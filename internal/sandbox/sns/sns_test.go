package sns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sns"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const (
	account = world.DefaultAccount
	queue   = "arn:aws:sqs:eu-west-1:" + account + ":q"
	fn      = "arn:aws:lambda:eu-west-1:" + account + ":function:f"
)

// queues remembers what was sent, and for whom.
type queues struct{ sent, delivered []string }

func (q *queues) Deliver(arn string, body []byte) error {
	q.delivered = append(q.delivered, arn+" "+string(body))
	return nil
}

func (q *queues) Send(arn string, body []byte, principal, source string) error {
	if arn != queue || principal != "sns.amazonaws.com" || !strings.HasPrefix(source, "arn:aws:sns:") {
		return fmt.Errorf("%s may not send to %s for %s", principal, arn, source)
	}
	q.sent = append(q.sent, string(body))
	return nil
}

type functions struct{ events [][]byte }

func (f *functions) InvokeAsync(arn string, payload []byte, principal, _, sourceAccount string) error {
	if arn != fn || principal != "sns.amazonaws.com" || sourceAccount != account {
		return fmt.Errorf("%s may not invoke %s", principal, arn)
	}
	f.events = append(f.events, payload)
	return nil
}

type fixture struct {
	*api.Client
	sns       *sns.SNS
	queues    *queues
	functions *functions
	topic     *string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	w := world.New(clock.System())
	f := fixture{queues: &queues{}, functions: &functions{}}
	w.Functions = f.functions
	f.sns = sns.New(w, f.queues)
	server := wire.NewServer(wire.Options{Account: account})
	server.Register(f.sns.Service())
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	f.Client = api.New(api.Options{Region: "eu-west-1", BaseEndpoint: &h.URL, HTTPClient: h.Client(), Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	o, err := f.CreateTopic(t.Context(), &api.CreateTopicInput{Name: aws.String("alarms"), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}})
	if err != nil || *o.TopicArn != "arn:aws:sns:eu-west-1:"+account+":alarms" {
		t.Fatalf("topic is %v, %v", o, err)
	}
	f.topic = o.TopicArn
	return f
}

func (f fixture) subscribe(t *testing.T, protocol, endpoint string, attributes map[string]string) *string {
	t.Helper()
	o, err := f.Subscribe(t.Context(), &api.SubscribeInput{TopicArn: f.topic, Protocol: &protocol, Endpoint: &endpoint, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return o.SubscriptionArn
}

func (f fixture) say(t *testing.T, text string) string {
	t.Helper()
	o, err := f.Publish(t.Context(), &api.PublishInput{TopicArn: f.topic, Message: &text, Subject: aws.String("s")})
	if err != nil {
		t.Fatal(err)
	}
	return *o.MessageId
}

func TestQueueReceivesANotification(t *testing.T) {
	f := newFixture(t)
	f.subscribe(t, "sqs", queue, nil)
	id := f.say(t, "hello")
	if len(f.queues.sent) != 1 {
		t.Fatalf("sent %v", f.queues.sent)
	}
	var n struct{ Type, MessageId, TopicArn, Subject, Message, Timestamp string }
	if err := json.Unmarshal([]byte(f.queues.sent[0]), &n); err != nil {
		t.Fatal(err)
	}
	if n.Type != "Notification" || n.MessageId != id || n.TopicArn != *f.topic || n.Subject != "s" || n.Message != "hello" || !strings.HasSuffix(n.Timestamp, "Z") {
		t.Errorf("notification is %+v", n)
	}
}

func TestRawDelivery(t *testing.T) {
	f := newFixture(t)
	arn := f.subscribe(t, "sqs", queue, map[string]string{"RawMessageDelivery": "true"})
	f.say(t, "raw")
	if _, err := f.SetSubscriptionAttributes(t.Context(), &api.SetSubscriptionAttributesInput{SubscriptionArn: arn, AttributeName: aws.String("RawMessageDelivery"), AttributeValue: aws.String("false")}); err != nil {
		t.Fatal(err)
	}
	f.say(t, "wrapped")
	if len(f.queues.sent) != 2 || f.queues.sent[0] != "raw" || !strings.HasPrefix(f.queues.sent[1], "{") {
		t.Errorf("sent %v", f.queues.sent)
	}
}

func TestFunctionReceivesAnEvent(t *testing.T) {
	f := newFixture(t)
	arn := f.subscribe(t, "lambda", fn, nil)
	f.say(t, "hello")
	if len(f.functions.events) != 1 {
		t.Fatal("not invoked")
	}
	var e events.SNSEvent
	if err := json.Unmarshal(f.functions.events[0], &e); err != nil {
		t.Fatal(err)
	}
	if r := e.Records[0]; r.EventSource != "aws:sns" || r.EventSubscriptionArn != *arn || r.SNS.Message != "hello" || r.SNS.TopicArn != *f.topic {
		t.Errorf("event is %+v", r)
	}
}

func TestUnsubscribeEndsDelivery(t *testing.T) {
	f := newFixture(t)
	arn := f.subscribe(t, "sqs", queue, nil)
	if again := f.subscribe(t, "sqs", queue, nil); *again != *arn {
		t.Errorf("subscribed twice: %s and %s", *arn, *again)
	}
	list, err := f.ListSubscriptionsByTopic(t.Context(), &api.ListSubscriptionsByTopicInput{TopicArn: f.topic})
	if err != nil || len(list.Subscriptions) != 1 || *list.Subscriptions[0].Endpoint != queue {
		t.Fatalf("subscriptions are %+v, %v", list, err)
	}
	if _, err := f.Unsubscribe(t.Context(), &api.UnsubscribeInput{SubscriptionArn: arn}); err != nil {
		t.Fatal(err)
	}
	f.say(t, "x")
	if len(f.queues.sent) != 0 {
		t.Errorf("sent %v", f.queues.sent)
	}
}

func TestMailStaysPending(t *testing.T) {
	f := newFixture(t)
	if arn := f.subscribe(t, "email", "dba@example.com", nil); *arn != "pending confirmation" {
		t.Errorf("subscription is %s", *arn)
	}
	o, err := f.GetTopicAttributes(t.Context(), &api.GetTopicAttributesInput{TopicArn: f.topic})
	if err != nil || o.Attributes["SubscriptionsPending"] != "1" || o.Attributes["SubscriptionsConfirmed"] != "0" {
		t.Errorf("attributes are %v, %v", o, err)
	}
	f.say(t, "x")
}

func TestMessageForEachProtocol(t *testing.T) {
	f := newFixture(t)
	f.subscribe(t, "sqs", queue, map[string]string{"RawMessageDelivery": "true"})
	publish := func(text string) error {
		_, err := f.Publish(t.Context(), &api.PublishInput{TopicArn: f.topic, MessageStructure: aws.String("json"), Message: &text})
		return err
	}
	if err := publish(`{"default":"d","sqs":"q"}`); err != nil {
		t.Fatal(err)
	}
	if err := publish(`{"sqs":"q"}`); err == nil {
		t.Error("published without a default")
	}
	if len(f.queues.sent) != 1 || f.queues.sent[0] != "q" {
		t.Errorf("sent %v", f.queues.sent)
	}
}

func TestServicesDeliver(t *testing.T) {
	f := newFixture(t)
	f.subscribe(t, "sqs", queue, nil)
	if err := f.sns.Deliver(*f.topic, "ALARM", []byte("text")); err != nil || len(f.queues.sent) != 1 {
		t.Errorf("to a topic: %v, %v", err, f.queues.sent)
	}
	if err := f.sns.Deliver(queue, "", []byte("direct")); err != nil || len(f.queues.delivered) != 1 {
		t.Errorf("to a queue: %v", err)
	}
	for _, arn := range []string{*f.topic + "2", "arn:aws:s3:::b"} {
		if err := f.sns.Deliver(arn, "", []byte("x")); err == nil {
			t.Errorf("delivered to %s", arn)
		}
	}
}

func TestTopicAttributesAndErrors(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	if _, err := f.SetTopicAttributes(ctx, &api.SetTopicAttributesInput{TopicArn: f.topic, AttributeName: aws.String("DisplayName"), AttributeValue: aws.String("d")}); err != nil {
		t.Fatal(err)
	}
	o, err := f.GetTopicAttributes(ctx, &api.GetTopicAttributesInput{TopicArn: f.topic})
	if err != nil || o.Attributes["DisplayName"] != "d" || o.Attributes["Owner"] != account || !strings.Contains(o.Attributes["Policy"], "__default_policy_ID") {
		t.Errorf("attributes are %v, %v", o, err)
	}
	tags, err := f.ListTagsForResource(ctx, &api.ListTagsForResourceInput{ResourceArn: f.topic})
	if err != nil || len(tags.Tags) != 1 {
		t.Errorf("tags are %v, %v", tags, err)
	}
	for name, tc := range map[string]struct {
		call func() error
		code string
	}{
		"publishing to nowhere": {func() error {
			_, err := f.Publish(ctx, &api.PublishInput{TopicArn: aws.String(*f.topic + "2"), Message: aws.String("x")})
			return err
		}, "NotFound"},
		"a subject with two lines": {func() error {
			_, err := f.Publish(ctx, &api.PublishInput{TopicArn: f.topic, Message: aws.String("x"), Subject: aws.String("a\nb")})
			return err
		}, "InvalidParameter"},
		"a topic with a blank": {func() error {
			_, err := f.CreateTopic(ctx, &api.CreateTopicInput{Name: aws.String("a b")})
			return err
		}, "InvalidParameter"},
		"a policy that is broken": {func() error {
			_, err := f.SetTopicAttributes(ctx, &api.SetTopicAttributesInput{TopicArn: f.topic, AttributeName: aws.String("Policy"), AttributeValue: aws.String("{}")})
			return err
		}, "InvalidParameter"},
		"an endpoint of another kind": {func() error {
			_, err := f.Subscribe(ctx, &api.SubscribeInput{TopicArn: f.topic, Protocol: aws.String("sqs"), Endpoint: aws.String(fn)})
			return err
		}, "InvalidParameter"},
		"a filter that would not be honoured": {func() error {
			_, err := f.Subscribe(ctx, &api.SubscribeInput{TopicArn: f.topic, Protocol: aws.String("sqs"), Endpoint: aws.String(queue), Attributes: map[string]string{"FilterPolicy": "{}"}})
			return err
		}, "InvalidParameter"},
	} {
		var e smithy.APIError
		if err := tc.call(); !errors.As(err, &e) || e.ErrorCode() != tc.code {
			t.Errorf("%s: %v, want %s", name, err, tc.code)
		}
	}
}
