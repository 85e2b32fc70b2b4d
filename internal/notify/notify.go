// Package notify tells people what the control plane does, by SNS topics.
package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Publisher is what it needs of SNS.
type Publisher interface {
	Publish(ctx context.Context, in *sns.PublishInput, opts ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// Topics implements control.Notifier.
type Topics struct {
	API  Publisher
	ARNs []string // of topics, in any Region
}

// Notify publishes an entry of a group's history on every topic, whatever the
// others answer, and whether they do: all are asked at once, so that a topic in
// a Region that hangs uses up no other's time. Publishing may happen twice.
func (t Topics) Notify(ctx context.Context, group string, e failover.Entry) error {
	failed := make([]error, len(t.ARNs))
	var all sync.WaitGroup
	for i, topic := range t.ARNs {
		all.Go(func() {
			if _, err := t.API.Publish(ctx, message(topic, group, e), inRegion(topic)); err != nil {
				failed[i] = fmt.Errorf("publishing on %s: %w", topic, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// inRegion asks a topic where it is.
func inRegion(topic string) func(*sns.Options) {
	return func(o *sns.Options) {
		if a, err := arn.Parse(topic); err == nil && a.Region != "" {
			o.Region = a.Region
		}
	}
}

// message is for a mail, a pager or a chat. Its attributes are for the filters of
// subscriptions: https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html
func message(topic, group string, e failover.Entry) *sns.PublishInput {
	in := &sns.PublishInput{
		TopicArn: &topic, Subject: aws.String(subject(group, e)), Message: aws.String(text(group, e)),
		MessageAttributes: map[string]types.MessageAttributeValue{},
	}
	for name, value := range map[string]string{"group": group, "event": e.Event, "outcome": e.Outcome} {
		if value != "" {
			in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
		}
	}
	return in
}

// maxSubject is the longest subject, which is of printable ASCII:
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
const maxSubject = 99

// subject is what a pager shows: the group, what became of it, and as much as
// there is room for of why.
func subject(group string, e failover.Entry) string {
	s := fmt.Sprintf("hadr %s: %s", group, e.Headline())
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), maxSubject)]
}

// text says what happened, why, and what to do now.
func text(group string, e failover.Entry) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name+":", value)
		}
	}
	fmt.Fprintf(&b, "%s of group %s\n\n", e.Headline(), group)
	line("why", e.Reason)
	line("next", e.Next)
	for _, ev := range e.Evidence {
		line("evidence", fmt.Sprintf("%s: %s (%s)", ev.Signal, ev.Detail, ev.Source))
	}
	line("set off by", e.Actor)
	if e.From != "" && e.To != "" {
		line("nodes", fmt.Sprintf("from %s to %s", e.From, e.To))
	}
	line("step", string(e.Step))
	line("operation", e.OperationID)
	line("epoch", fmt.Sprint(e.Epoch))
	line("at", e.At.UTC().Format("2006-01-02 15:04:05Z"))
	line("all of it", "hadr history "+group)
	return b.String()
}
