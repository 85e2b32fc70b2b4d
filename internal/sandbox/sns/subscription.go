package sns

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// subscription is one endpoint of a topic.
type subscription struct {
	arn, protocol, endpoint string
	confirmed               bool // false until somebody answers a mail or a web hook
	attributes              map[string]string
}

func (sub *subscription) raw() bool { return sub.attributes["RawMessageDelivery"] == "true" }

const pending = "PendingConfirmation"

// checkSubscriptionAttribute refuses what the sandbox would not honour.
// https://docs.aws.amazon.com/sns/latest/api/API_SetSubscriptionAttributes.html
func checkSubscriptionAttribute(protocol, name, value string) error {
	switch name {
	case "RawMessageDelivery":
		if protocol != "sqs" && value == "true" {
			return invalid("Attributes Reason: RawMessageDelivery: Not supported for protocol type %s", protocol)
		}
	case "RedrivePolicy", "DeliveryPolicy":
		if value != "" && !json.Valid([]byte(value)) {
			return invalid("%s: no valid JSON", name)
		}
	default:
		return invalid("AttributeName: %s is not served by the sandbox", name)
	}
	return nil
}

// subscribe confirms endpoints in AWS at once; mail and web endpoints stay
// pending, because nobody is there to confirm them.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func (s *SNS) subscribe(_ *wire.Request, in *api.SubscribeInput) (*api.SubscribeOutput, error) {
	protocol, endpoint := aws.ToString(in.Protocol), aws.ToString(in.Endpoint)
	inAWS := map[string]string{"sqs": "arn:aws:sqs:", "lambda": "arn:aws:lambda:"}
	switch prefix := inAWS[protocol]; {
	case prefix == "" && !slices.Contains([]string{"email", "email-json", "http", "https", "sms"}, protocol):
		return nil, invalid("Does not support this protocol: %s", protocol)
	case endpoint == "" || !strings.HasPrefix(endpoint, prefix):
		return nil, invalid("%s endpoint ARN", strings.ToUpper(protocol))
	}
	for name, value := range in.Attributes {
		if err := checkSubscriptionAttribute(protocol, name, value); err != nil {
			return nil, err
		}
	}
	out := &api.SubscribeOutput{}
	return out, s.change(in.TopicArn, func(t *topic) error {
		for _, sub := range t.subscriptions { // the same again is the same subscription
			if sub.protocol == protocol && sub.endpoint == endpoint {
				out.SubscriptionArn = sub.shown(in.ReturnSubscriptionArn)
				return nil
			}
		}
		sub := &subscription{arn: t.arn + ":" + s.w.UUID(), protocol: protocol, endpoint: endpoint, confirmed: inAWS[protocol] != "", attributes: map[string]string{}}
		maps.Copy(sub.attributes, in.Attributes)
		t.subscriptions = append(t.subscriptions, sub)
		out.SubscriptionArn = sub.shown(in.ReturnSubscriptionArn)
		return nil
	})
}

func (sub *subscription) shown(always bool) *string {
	if !sub.confirmed && !always {
		return aws.String("pending confirmation")
	}
	return aws.String(sub.arn)
}

func (sub *subscription) view(t *topic) types.Subscription {
	arn := sub.arn
	if !sub.confirmed {
		arn = pending
	}
	return types.Subscription{SubscriptionArn: &arn, TopicArn: &t.arn, Owner: &t.account, Protocol: &sub.protocol, Endpoint: &sub.endpoint}
}

func (s *SNS) unsubscribe(_ *wire.Request, in *api.UnsubscribeInput) (*api.UnsubscribeOutput, error) {
	err := s.changeSubscription(in.SubscriptionArn, func(t *topic, sub *subscription) error {
		t.subscriptions = slices.DeleteFunc(slices.Clone(t.subscriptions), func(o *subscription) bool { return o == sub })
		return nil
	})
	return &api.UnsubscribeOutput{}, err
}

func (s *SNS) listSubscriptions(r *wire.Request, _ *api.ListSubscriptionsInput) (*api.ListSubscriptionsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &api.ListSubscriptionsOutput{}
	for _, arn := range slices.Sorted(maps.Keys(s.topics)) {
		t := s.topics[arn]
		for _, sub := range t.subscriptions {
			if t.region == r.Region && t.account == r.Account {
				out.Subscriptions = append(out.Subscriptions, sub.view(t))
			}
		}
	}
	return out, nil
}

func (s *SNS) listSubscriptionsByTopic(_ *wire.Request, in *api.ListSubscriptionsByTopicInput) (*api.ListSubscriptionsByTopicOutput, error) {
	out := &api.ListSubscriptionsByTopicOutput{}
	return out, s.change(in.TopicArn, func(t *topic) error {
		for _, sub := range t.subscriptions {
			out.Subscriptions = append(out.Subscriptions, sub.view(t))
		}
		return nil
	})
}

func (s *SNS) getSubscriptionAttributes(_ *wire.Request, in *api.GetSubscriptionAttributesInput) (*api.GetSubscriptionAttributesOutput, error) {
	out := &api.GetSubscriptionAttributesOutput{}
	return out, s.changeSubscription(in.SubscriptionArn, func(t *topic, sub *subscription) error {
		out.Attributes = maps.Clone(sub.attributes)
		maps.Copy(out.Attributes, map[string]string{
			"SubscriptionArn": sub.arn, "TopicArn": t.arn, "Owner": t.account, "Protocol": sub.protocol, "Endpoint": sub.endpoint,
			"PendingConfirmation": map[bool]string{true: "false", false: "true"}[sub.confirmed], "ConfirmationWasAuthenticated": "true",
		})
		if out.Attributes["RawMessageDelivery"] == "" {
			out.Attributes["RawMessageDelivery"] = "false"
		}
		return nil
	})
}

func (s *SNS) setSubscriptionAttributes(_ *wire.Request, in *api.SetSubscriptionAttributesInput) (*api.SetSubscriptionAttributesOutput, error) {
	return &api.SetSubscriptionAttributesOutput{}, s.changeSubscription(in.SubscriptionArn, func(_ *topic, sub *subscription) error {
		name, value := aws.ToString(in.AttributeName), aws.ToString(in.AttributeValue)
		if err := checkSubscriptionAttribute(sub.protocol, name, value); err != nil {
			return err
		}
		sub.attributes[name] = value
		return nil
	})
}

// changeSubscription calls f with a subscription, whose ARN begins with that
// of its topic.
func (s *SNS) changeSubscription(arn *string, f func(*topic, *subscription) error) error {
	text := aws.ToString(arn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[text[:max(strings.LastIndex(text, ":"), 0)]]; t != nil {
		for _, sub := range t.subscriptions {
			if sub.arn == text {
				return f(t, sub)
			}
		}
	}
	return notFound("Subscription does not exist")
}
