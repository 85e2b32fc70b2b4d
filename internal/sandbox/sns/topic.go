package sns

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// topic is one topic with its subscriptions in the order of their creation.
type topic struct {
	arn, name, region, account string
	attributes                 map[string]string
	tags                       map[string]string
	subscriptions              []*subscription
}

var topicName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// settable are the attributes of a standard topic that a caller may set.
// https://docs.aws.amazon.com/sns/latest/api/API_SetTopicAttributes.html
var settable = []string{"DisplayName", "Policy", "DeliveryPolicy", "KmsMasterKeyId", "SignatureVersion", "TracingConfig",
	"SQSSuccessFeedbackRoleArn", "SQSFailureFeedbackRoleArn", "SQSSuccessFeedbackSampleRate",
	"LambdaSuccessFeedbackRoleArn", "LambdaFailureFeedbackRoleArn", "LambdaSuccessFeedbackSampleRate"}

func checkAttribute(name, value string) error {
	if !slices.Contains(settable, name) {
		return invalid("AttributeName: %s is not served by the sandbox", name)
	}
	if name == "Policy" && value != "" {
		if _, err := policy.Parse(policy.Resource, value); err != nil {
			return invalid("Policy Error: %v", err)
		}
	}
	return nil
}

// defaultPolicy is the policy of a new topic.
// https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-use-cases.html
func (t *topic) defaultPolicy() string {
	return fmt.Sprintf(`{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},`+
		`"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],`+
		`"Resource":%q,"Condition":{"StringEquals":{"AWS:SourceOwner":%q}}}]}`, t.arn, t.account)
}

func (s *SNS) createTopic(r *wire.Request, in *api.CreateTopicInput) (*api.CreateTopicOutput, error) {
	name := aws.ToString(in.Name)
	if !topicName.MatchString(name) {
		return nil, invalid("Topic Name")
	}
	for k, v := range in.Attributes {
		if err := checkAttribute(k, v); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := "arn:aws:sns:" + r.Region + ":" + r.Account + ":" + name
	if t := s.topics[arn]; t != nil { // the same again is no error
		for k, v := range in.Attributes {
			if t.attributes[k] != v {
				return nil, invalid("Attributes Reason: Topic already exists with different attributes")
			}
		}
		for _, tag := range in.Tags {
			if t.tags[aws.ToString(tag.Key)] != aws.ToString(tag.Value) {
				return nil, invalid("Tags Reason: Topic already exists with different tags")
			}
		}
		return &api.CreateTopicOutput{TopicArn: &arn}, nil
	}
	t := &topic{arn: arn, name: name, region: r.Region, account: r.Account, tags: map[string]string{}}
	t.attributes = map[string]string{"Policy": t.defaultPolicy(), "DisplayName": ""}
	maps.Copy(t.attributes, in.Attributes)
	for _, tag := range in.Tags {
		t.tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	s.topics[arn] = t
	return &api.CreateTopicOutput{TopicArn: &arn}, nil
}

func (s *SNS) deleteTopic(r *wire.Request, in *api.DeleteTopicInput) (*api.DeleteTopicOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.topics, aws.ToString(in.TopicArn)) // deleting nothing is no error
	return &api.DeleteTopicOutput{}, nil
}

func (s *SNS) listTopics(r *wire.Request, _ *api.ListTopicsInput) (*api.ListTopicsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &api.ListTopicsOutput{}
	for _, arn := range slices.Sorted(maps.Keys(s.topics)) {
		if t := s.topics[arn]; t.region == r.Region && t.account == r.Account {
			out.Topics = append(out.Topics, types.Topic{TopicArn: aws.String(arn)})
		}
	}
	return out, nil
}

func (s *SNS) getTopicAttributes(_ *wire.Request, in *api.GetTopicAttributesInput) (*api.GetTopicAttributesOutput, error) {
	out := &api.GetTopicAttributesOutput{}
	return out, s.change(in.TopicArn, func(t *topic) error {
		out.Attributes = maps.Clone(t.attributes)
		confirmed := 0
		for _, sub := range t.subscriptions {
			if sub.confirmed {
				confirmed++
			}
		}
		out.Attributes["TopicArn"] = t.arn
		out.Attributes["Owner"] = t.account
		out.Attributes["SubscriptionsConfirmed"] = strconv.Itoa(confirmed)
		out.Attributes["SubscriptionsPending"] = strconv.Itoa(len(t.subscriptions) - confirmed)
		out.Attributes["SubscriptionsDeleted"] = "0"
		return nil
	})
}

func (s *SNS) setTopicAttributes(_ *wire.Request, in *api.SetTopicAttributesInput) (*api.SetTopicAttributesOutput, error) {
	name, value := aws.ToString(in.AttributeName), aws.ToString(in.AttributeValue)
	if err := checkAttribute(name, value); err != nil {
		return nil, err
	}
	return &api.SetTopicAttributesOutput{}, s.change(in.TopicArn, func(t *topic) error {
		if name == "Policy" && value == "" {
			value = t.defaultPolicy()
		}
		t.attributes[name] = value
		return nil
	})
}

func (s *SNS) tagResource(_ *wire.Request, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	return &api.TagResourceOutput{}, s.change(in.ResourceArn, func(t *topic) error {
		for _, tag := range in.Tags {
			t.tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		return nil
	})
}

func (s *SNS) untagResource(_ *wire.Request, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	return &api.UntagResourceOutput{}, s.change(in.ResourceArn, func(t *topic) error {
		for _, key := range in.TagKeys {
			delete(t.tags, key)
		}
		return nil
	})
}

func (s *SNS) listTagsForResource(_ *wire.Request, in *api.ListTagsForResourceInput) (*api.ListTagsForResourceOutput, error) {
	out := &api.ListTagsForResourceOutput{}
	return out, s.change(in.ResourceArn, func(t *topic) error {
		for _, key := range slices.Sorted(maps.Keys(t.tags)) {
			out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String(t.tags[key])})
		}
		return nil
	})
}

// change calls f with a topic under the lock.
func (s *SNS) change(arn *string, f func(*topic) error) error {
	if !strings.HasPrefix(aws.ToString(arn), "arn:aws:sns:") {
		return invalid("TopicArn")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[*arn]
	if t == nil {
		return notFound("Topic does not exist")
	}
	return f(t)
}
