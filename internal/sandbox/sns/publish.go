package sns

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// maxMessage is the longest message, in bytes.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
const maxMessage = 262144

const principal = "sns.amazonaws.com"

// notification is what a queue receives, and a function inside its event.
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
type notification struct {
	Type              string
	MessageID         string `json:"MessageId"`
	TopicARN          string `json:"TopicArn"`
	Subject           string `json:",omitempty"`
	Message           string
	Timestamp         string
	SignatureVersion  string
	Signature         string
	SigningCertURL    string
	UnsubscribeURL    string
	MessageAttributes map[string]attribute `json:",omitempty"`
}

type attribute struct{ Type, Value string }

// content is a message before it is addressed.
type content struct {
	text, subject string
	byProtocol    map[string]string // of MessageStructure "json"
	attributes    map[string]attribute
}

func (c content) forProtocol(protocol string) string {
	if text, ok := c.byProtocol[protocol]; ok {
		return text
	}
	return c.text
}

// compose checks what a caller wants to publish.
func compose(text, subject, structure *string, attributes map[string]types.MessageAttributeValue) (content, error) {
	c := content{text: aws.ToString(text), subject: aws.ToString(subject), attributes: map[string]attribute{}}
	switch {
	case c.text == "":
		return c, invalid("Empty message")
	case len(c.text) > maxMessage:
		return c, invalid("Message too long")
	case subject != nil && (c.subject == "" || len(c.subject) > 100 || strings.ContainsAny(c.subject, "\r\n")):
		return c, invalid("Subject")
	}
	if aws.ToString(structure) == "json" {
		if err := json.Unmarshal([]byte(c.text), &c.byProtocol); err != nil {
			return c, invalid("Message Structure - JSON message body failed to parse")
		}
		text, ok := c.byProtocol["default"]
		if !ok {
			return c, invalid("Message Structure - No default entry in JSON message body")
		}
		c.text = text
	}
	for name, a := range attributes {
		value := aws.ToString(a.StringValue)
		if a.BinaryValue != nil {
			value = base64.StdEncoding.EncodeToString(a.BinaryValue)
		}
		c.attributes[name] = attribute{Type: aws.ToString(a.DataType), Value: value}
	}
	return c, nil
}

func (s *SNS) publish(_ *wire.Request, in *api.PublishInput) (*api.PublishOutput, error) {
	c, err := compose(in.Message, in.Subject, in.MessageStructure, in.MessageAttributes)
	if err != nil {
		return nil, err
	}
	target := in.TopicArn
	if target == nil {
		target = in.TargetArn
	}
	id, err := s.send(aws.ToString(target), c)
	if err != nil {
		return nil, err
	}
	return &api.PublishOutput{MessageId: &id}, nil
}

// https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html
func (s *SNS) publishBatch(_ *wire.Request, in *api.PublishBatchInput) (*api.PublishBatchOutput, error) {
	if n := len(in.PublishBatchRequestEntries); n == 0 || n > 10 {
		return nil, wire.Errorf("TooManyEntriesInBatchRequest", "A batch has 1 to 10 entries, not %d.", n)
	}
	out := &api.PublishBatchOutput{}
	for _, e := range in.PublishBatchRequestEntries {
		c, err := compose(e.Message, e.Subject, e.MessageStructure, e.MessageAttributes)
		if err != nil {
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InvalidParameter"), Message: aws.String(err.Error()), SenderFault: true})
			continue
		}
		id, err := s.send(aws.ToString(in.TopicArn), c)
		if err != nil {
			return nil, err
		}
		out.Successful = append(out.Successful, types.PublishBatchResultEntry{Id: e.Id, MessageId: &id})
	}
	return out, nil
}

// Deliver implements world.Messages.
func (s *SNS) Deliver(arn, subject string, body []byte) error {
	switch {
	case strings.HasPrefix(arn, "arn:aws:sqs:"):
		return s.queues.Deliver(arn, body)
	case strings.HasPrefix(arn, "arn:aws:sns:"):
		_, err := s.send(arn, content{text: string(body), subject: subject})
		return err
	default:
		return fmt.Errorf("delivering to %s: neither an SNS topic nor an SQS queue", arn)
	}
}

// Send is Deliver for a service principal acting for sourceARN: the policy of
// the topic or queue must allow it.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
func (s *SNS) Send(arn string, body []byte, from, sourceARN string) error {
	if !strings.HasPrefix(arn, "arn:aws:sns:") {
		return s.queues.Send(arn, body, from, sourceARN)
	}
	ctx := policy.Context{}
	ctx.Set("aws:SourceArn", sourceARN)
	if parts := strings.SplitN(sourceARN, ":", 6); len(parts) == 6 {
		ctx.Set("aws:SourceAccount", parts[4])
	}
	doc, err := policy.Parse(policy.Resource, s.Policy(arn))
	q := policy.Request{Action: "sns:Publish", Resource: arn, Principal: policy.Principal{Service: from}, Context: ctx}
	if err != nil || policy.Evaluate(q, doc) != policy.Allowed {
		return wire.Errorf("AuthorizationError", "The policy of topic %s does not allow %s to publish for %s.", arn, from, sourceARN).WithStatus(403)
	}
	return s.Deliver(arn, "", body)
}

// send delivers a message to all confirmed subscriptions. As on AWS, the
// publisher does not hear of a subscriber that cannot be reached.
func (s *SNS) send(arn string, c content) (id string, err error) {
	var subs []subscription
	var account, region string
	if err := s.change(&arn, func(t *topic) error {
		account, region = t.account, t.region
		for _, sub := range t.subscriptions {
			if sub.confirmed {
				subs = append(subs, subscription{arn: sub.arn, protocol: sub.protocol, endpoint: sub.endpoint, attributes: map[string]string{"RawMessageDelivery": sub.attributes["RawMessageDelivery"]}})
			}
		}
		return nil
	}); err != nil {
		return "", err
	}
	id = s.w.UUID()
	for n := range subs {
		sub := &subs[n]
		note := notification{
			Type: "Notification", MessageID: id, TopicARN: arn, Subject: c.subject, Message: c.forProtocol(sub.protocol),
			Timestamp: s.w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"), MessageAttributes: c.attributes,
			SignatureVersion: "1", Signature: "EXAMPLE",
			SigningCertURL: "https://sns." + region + ".amazonaws.com/SimpleNotificationService.pem",
			UnsubscribeURL: "https://sns." + region + ".amazonaws.com/?Action=Unsubscribe&SubscriptionArn=" + sub.arn,
		}
		s.w.Faults.Carry(world.Event{Service: "sns", Region: region, Account: account, Source: arn, Target: sub.endpoint}, func() {
			_ = s.reach(sub, note, account) // see above
		})
	}
	return id, nil
}

func (s *SNS) reach(sub *subscription, note notification, account string) error {
	if sub.protocol == "lambda" {
		event := map[string]any{"Records": []any{map[string]any{
			"EventSource": "aws:sns", "EventVersion": "1.0", "EventSubscriptionArn": sub.arn, "Sns": note,
		}}}
		payload, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if s.w.Functions == nil {
			return fmt.Errorf("no functions to deliver to")
		}
		return s.w.Functions.InvokeAsync(sub.endpoint, payload, principal, note.TopicARN, account)
	}
	if sub.raw() {
		return s.queues.Send(sub.endpoint, []byte(note.Message), principal, note.TopicARN)
	}
	body, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return s.queues.Send(sub.endpoint, body, principal, note.TopicARN)
}
