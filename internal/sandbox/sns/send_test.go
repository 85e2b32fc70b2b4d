package sns_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sns"
)

// TestSendAsksThePolicy: a service may publish if the topic's policy lets it.
func TestSendAsksThePolicy(t *testing.T) {
	const rule = "arn:aws:events:eu-west-1:" + account + ":rule/r"
	f := newFixture(t)
	f.subscribe(t, "sqs", queue, map[string]string{"RawMessageDelivery": "true"})
	if err := f.sns.Send(*f.topic, []byte("x"), "events.amazonaws.com", rule); err == nil {
		t.Error("the default policy lets EventBridge publish")
	}
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Action":"sns:Publish","Resource":"` + *f.topic + `","Condition":{"ArnEquals":{"aws:SourceArn":"` + rule + `"},"StringEquals":{"aws:SourceAccount":"` + account + `"}}}]}`
	if _, err := f.SetTopicAttributes(t.Context(), &api.SetTopicAttributesInput{TopicArn: f.topic, AttributeName: aws.String("Policy"), AttributeValue: &policy}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		principal, source string
		ok                bool
	}{
		{"events.amazonaws.com", rule, true},
		{"events.amazonaws.com", rule + "2", false},
		{"scheduler.amazonaws.com", rule, false},
	} {
		if err := f.sns.Send(*f.topic, []byte("x"), tc.principal, tc.source); (err == nil) != tc.ok {
			t.Errorf("%s for %s: %v", tc.principal, tc.source, err)
		}
	}
	if len(f.queues.sent) != 1 || f.queues.sent[0] != "x" {
		t.Errorf("sent %q, want one message", f.queues.sent)
	}
	if err := f.sns.Send(queue, []byte("y"), "events.amazonaws.com", rule); err == nil {
		t.Error("a queue's policy is not asked")
	}
	if err := f.sns.Send(*f.topic+"2", []byte("y"), "events.amazonaws.com", rule); err == nil {
		t.Error("a missing topic takes messages")
	}
}
