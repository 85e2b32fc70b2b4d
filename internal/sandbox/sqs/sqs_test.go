package sqs

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const account = world.DefaultAccount

// fixture calls the operations directly, in virtual time.
type fixture struct {
	*testing.T
	s *SQS
	r *wire.Request
}

func newFixture(t *testing.T) fixture {
	return fixture{t, New(world.New(clock.System())), &wire.Request{Context: t.Context(), Region: "eu-west-1", Account: account}}
}

func (f fixture) queue(name string, attributes ...string) *string {
	f.Helper()
	in := &api.CreateQueueInput{QueueName: &name, Attributes: map[string]string{}}
	for n := 0; n+1 < len(attributes); n += 2 {
		in.Attributes[attributes[n]] = attributes[n+1]
	}
	o, err := f.s.createQueue(f.r, in)
	if err != nil {
		f.Fatal(err)
	}
	return o.QueueUrl
}

func (f fixture) send(url *string, body string) {
	f.Helper()
	if _, err := f.s.sendMessage(f.r, &api.SendMessageInput{QueueUrl: url, MessageBody: &body, MessageGroupId: aws.String("g"), MessageDeduplicationId: &body}); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) receive(url *string, wait int32) []types.Message {
	f.Helper()
	o, err := f.s.receiveMessage(f.r, &api.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: wait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}})
	if err != nil {
		f.Fatal(err)
	}
	return o.Messages
}

func (f fixture) want(url *string, wait int32, want ...string) []types.Message {
	f.Helper()
	all := f.receive(url, wait)
	var got []string
	for _, m := range all {
		got = append(got, *m.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("received: %s", diff)
	}
	return all
}

func (f fixture) delete(url *string, m types.Message) {
	f.Helper()
	if _, err := f.s.deleteMessage(f.r, &api.DeleteMessageInput{QueueUrl: url, ReceiptHandle: m.ReceiptHandle}); err != nil {
		f.Fatal(err)
	}
}

func TestVisibilityTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		q := f.queue("q", "VisibilityTimeout", "10")
		f.send(q, "m")
		first := f.want(q, 0, "m")[0]
		f.want(q, 0)
		time.Sleep(9 * time.Second)
		f.want(q, 0)
		time.Sleep(time.Second)
		second := f.want(q, 0, "m")[0]
		if n := second.Attributes["ApproximateReceiveCount"]; n != "2" {
			t.Errorf("received %s times", n)
		}
		f.delete(q, first) // the receipt of an earlier receive deletes nothing
		time.Sleep(10 * time.Second)
		third := f.want(q, 0, "m")[0]
		if _, err := f.s.changeMessageVisibility(f.r, &api.ChangeMessageVisibilityInput{QueueUrl: q, ReceiptHandle: third.ReceiptHandle, VisibilityTimeout: 0}); err != nil {
			t.Fatal(err)
		}
		last := f.want(q, 0, "m")[0]
		f.delete(q, last)
		time.Sleep(time.Minute)
		f.want(q, 0)
	})
}

func TestLongPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		q := f.queue("q", "VisibilityTimeout", "5")
		start := time.Now()
		f.want(q, 20)
		if waited := time.Since(start); waited != 20*time.Second {
			t.Errorf("waited %v for nothing, want 20s", waited)
		}
		go func() {
			time.Sleep(3 * time.Second)
			f.send(q, "m")
		}()
		start = time.Now()
		f.want(q, 20, "m")
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("waited %v for a message sent after 3s", waited)
		}
		start = time.Now()
		f.want(q, 20, "m") // visible again
		if waited := time.Since(start); waited != 5*time.Second {
			t.Errorf("waited %v for the visibility timeout of 5s", waited)
		}
	})
}

func TestDelayAndRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		q := f.queue("q", "DelaySeconds", "30", "MessageRetentionPeriod", "60")
		f.send(q, "m")
		f.want(q, 0)
		f.want(q, 20)
		f.want(q, 20, "m")
		f.send(q, "old")
		time.Sleep(61 * time.Second)
		f.want(q, 0)
	})
}

func TestDeadLetterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		dead := f.queue("dead")
		q := f.queue("q", "VisibilityTimeout", "1", "RedrivePolicy", `{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:`+account+`:dead","maxReceiveCount":"2"}`)
		f.send(q, "poison")
		for range 2 {
			f.want(q, 0, "poison")
			time.Sleep(time.Second)
		}
		f.want(dead, 0)
		f.want(q, 0)
		f.want(dead, 0, "poison")
	})
}

func TestFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		q := f.queue("q.fifo", "FifoQueue", "true")
		f.send(q, "a")
		f.send(q, "a") // the same deduplication ID
		f.send(q, "b")
		got := f.receive(q, 0)
		if len(got) != 2 || *got[0].Body != "a" || *got[1].Body != "b" {
			t.Fatalf("received %v", got)
		}
		f.send(q, "c")
		f.want(q, 0) // the group is in flight
		f.delete(q, got[0])
		f.delete(q, got[1])
		f.want(q, 0, "c")
		time.Sleep(dedupInterval)
		f.send(q, "a")
		f.want(q, 0, "c", "a")
	})
}

func TestAttributesAndErrors(t *testing.T) {
	f := newFixture(t)
	q := f.queue("q", "VisibilityTimeout", "7")
	o, err := f.s.getQueueAttributes(f.r, &api.GetQueueAttributesInput{QueueUrl: q, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil || o.Attributes["VisibilityTimeout"] != "7" || o.Attributes["QueueArn"] != "arn:aws:sqs:eu-west-1:"+account+":q" || o.Attributes["MessageRetentionPeriod"] != "345600" {
		t.Errorf("attributes are %v, %v", o.Attributes, err)
	}
	if again := f.queue("q", "VisibilityTimeout", "7"); *again != *q {
		t.Errorf("created again as %s", *again)
	}
	create := func(name string, attributes map[string]string) error {
		_, err := f.s.createQueue(f.r, &api.CreateQueueInput{QueueName: &name, Attributes: attributes})
		return err
	}
	for name, tc := range map[string]struct {
		err  error
		code string
	}{
		"the same name, another attribute": {create("q", map[string]string{"VisibilityTimeout": "8"}), "QueueNameExists"},
		"a name with a dot":                {create("a.b", nil), "InvalidParameterValue"},
		"FIFO without its suffix":          {create("x", map[string]string{"FifoQueue": "true"}), "InvalidParameterValue"},
		"a timeout of a day":               {create("x", map[string]string{"VisibilityTimeout": "86400"}), "InvalidAttributeValue"},
		"an unknown attribute":             {create("x", map[string]string{"Colour": "red"}), "InvalidAttributeName"},
		"a broken policy":                  {create("x", map[string]string{"Policy": "{}"}), "InvalidAttributeValue"},
		"a redrive without count":          {create("x", map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"a"}`}), "InvalidAttributeValue"},
		"a queue that is missing": {func() error {
			_, err := f.s.sendMessage(f.r, &api.SendMessageInput{QueueUrl: aws.String(*q + "-missing"), MessageBody: aws.String("x")})
			return err
		}(), "QueueDoesNotExist"},
		"an empty message": {func() error {
			_, err := f.s.sendMessage(f.r, &api.SendMessageInput{QueueUrl: q})
			return err
		}(), "MissingParameter"},
		"a receipt of nowhere": {func() error {
			_, err := f.s.deleteMessage(f.r, &api.DeleteMessageInput{QueueUrl: q, ReceiptHandle: aws.String("x")})
			return err
		}(), "ReceiptHandleIsInvalid"},
	} {
		if tc.err == nil || !strings.HasPrefix(tc.err.Error(), tc.code+":") {
			t.Errorf("%s: %v, want %s", name, tc.err, tc.code)
		}
	}
}

func TestServicesNeedTheQueuesPolicy(t *testing.T) {
	f := newFixture(t)
	const arn, topic = "arn:aws:sqs:eu-west-1:" + account + ":q", "arn:aws:sns:eu-west-1:" + account + ":t"
	q := f.queue("q")
	if err := f.s.Send(arn, []byte("x"), "sns.amazonaws.com", topic); err == nil {
		t.Error("sent without a policy")
	}
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":%q,"Condition":{"ArnEquals":{"aws:SourceArn":%q}}}]}`, arn, topic)
	if _, err := f.s.setQueueAttributes(f.r, &api.SetQueueAttributesInput{QueueUrl: q, Attributes: map[string]string{"Policy": policy}}); err != nil {
		t.Fatal(err)
	}
	if err := f.s.Send(arn, []byte("x"), "sns.amazonaws.com", topic); err != nil {
		t.Error(err)
	}
	for _, other := range [][2]string{{"events.amazonaws.com", topic}, {"sns.amazonaws.com", topic + "2"}} {
		if err := f.s.Send(arn, []byte("x"), other[0], other[1]); err == nil {
			t.Errorf("sent for %v", other)
		}
	}
	if n := f.s.Depth(arn); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// The SDK checks the checksums of what it sends and receives.
func TestThroughTheSDK(t *testing.T) {
	w := world.New(clock.System())
	server := wire.NewServer(wire.Options{Account: account})
	server.Register(New(w).Service())
	h := httptest.NewServer(server)
	defer h.Close()
	w.Endpoint = h.URL
	c := api.New(api.Options{Region: "eu-west-1", BaseEndpoint: &h.URL, HTTPClient: h.Client(), Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	q, err := c.CreateQueue(t.Context(), &api.CreateQueueInput{QueueName: aws.String("q"), Tags: map[string]string{"a": "b"}})
	if err != nil || *q.QueueUrl != h.URL+"/"+account+"/q" {
		t.Fatalf("queue is %v, %v", q, err)
	}
	attributes := map[string]types.MessageAttributeValue{
		"n": {DataType: aws.String("Number"), StringValue: aws.String("1")}, "b": {DataType: aws.String("Binary"), BinaryValue: []byte{1, 2}},
	}
	if _, err := c.SendMessage(t.Context(), &api.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("hé"), MessageAttributes: attributes}); err != nil {
		t.Fatal(err)
	}
	batch, err := c.SendMessageBatch(t.Context(), &api.SendMessageBatchInput{QueueUrl: q.QueueUrl, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("1"), MessageBody: aws.String("two")}, {Id: aws.String("2"), MessageBody: aws.String("")}}})
	if err != nil || len(batch.Successful) != 1 || len(batch.Failed) != 1 || *batch.Failed[0].Code != "MissingParameter" {
		t.Fatalf("batch is %+v, %v", batch, err)
	}
	o, err := c.ReceiveMessage(t.Context(), &api.ReceiveMessageInput{QueueUrl: q.QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}})
	if err != nil || len(o.Messages) != 2 || *o.Messages[0].Body != "hé" || *o.Messages[0].MessageAttributes["n"].StringValue != "1" {
		t.Fatalf("received %+v, %v", o, err)
	}
	tags, err := c.ListQueueTags(t.Context(), &api.ListQueueTagsInput{QueueUrl: q.QueueUrl})
	if err != nil || tags.Tags["a"] != "b" {
		t.Errorf("tags are %v, %v", tags, err)
	}
	_, err = c.GetQueueUrl(t.Context(), &api.GetQueueUrlInput{QueueName: aws.String("none")})
	var missing *types.QueueDoesNotExist
	if !errors.As(err, &missing) {
		t.Errorf("error is %v", err)
	}
}
