package notify

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// topics is SNS.
type topics struct {
	mu        sync.Mutex
	published []*sns.PublishInput
	regions   map[string]string // where each topic was asked
	broken    string            // topic
	silent    string            // topic that gives no answer
}

func (s *topics) Publish(ctx context.Context, in *sns.PublishInput, opts ...func(*sns.Options)) (*sns.PublishOutput, error) {
	o := sns.Options{Region: "eu-central-1"}
	for _, f := range opts {
		f(&o)
	}
	if *in.TopicArn == s.silent {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.regions == nil {
		s.regions = map[string]string{}
	}
	s.published, s.regions[*in.TopicArn] = append(s.published, in), o.Region
	if *in.TopicArn == s.broken {
		return nil, errors.New("AuthorizationError")
	}
	return &sns.PublishOutput{}, nil
}

const (
	here  = "arn:aws:sns:eu-central-1:123456789012:on-call"
	there = "arn:aws:sns:eu-west-1:123456789012:managers"
)

var blocked = failover.Entry{
	At: time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC), Event: "blocked", Outcome: "blocked", Step: failover.StepFence, OperationID: "01J", Epoch: 8, From: "a", To: "b",
	Reason: "two writers are possible: stop the machine i-0a", Next: "hadr resume orders", Actor: "agent b",
	Evidence: []failover.Evidence{{Signal: failover.SignalLease, Detail: "not renewed for 20s", Source: "agent b"}},
}

// TestMessage: a message says what happened, why, and what to do now.
func TestMessage(t *testing.T) {
	s := &topics{}
	if err := (Topics{s, []string{here}}).Notify(t.Context(), "orders", blocked); err != nil {
		t.Fatal(err)
	}
	in := s.published[0]
	if want := "hadr orders: BLOCKED: two writers are possible: stop the machine i-0a"; aws.ToString(in.Subject) != want {
		t.Errorf("subject %q, want %q", aws.ToString(in.Subject), want)
	}
	want := `BLOCKED of group orders

why:        two writers are possible: stop the machine i-0a
next:       hadr resume orders
evidence:   lease_expired: not renewed for 20s (agent b)
set off by: agent b
nodes:      from a to b
step:       fence
operation:  01J
epoch:      8
at:         2026-11-29 03:00:00Z
all of it:  hadr history orders
`
	if got := aws.ToString(in.Message); got != want {
		t.Errorf("message:\n%s\nwant:\n%s", got, want)
	}
	for name, value := range map[string]string{"group": "orders", "event": "blocked", "outcome": "blocked"} {
		if a := in.MessageAttributes[name]; aws.ToString(a.StringValue) != value || aws.ToString(a.DataType) != "String" {
			t.Errorf("attribute %s: %s, want %s", name, aws.ToString(a.StringValue), value)
		}
	}
}

// TestEveryTopic: a topic that fails keeps no other from being told, and is
// named; each is asked where it is.
func TestEveryTopic(t *testing.T) {
	s := &topics{broken: here}
	err := Topics{s, []string{here, there}}.Notify(t.Context(), "orders", blocked)
	if err == nil || !strings.Contains(err.Error(), here) || strings.Contains(err.Error(), there) {
		t.Errorf("error %v", err)
	}
	if want := map[string]string{here: "eu-central-1", there: "eu-west-1"}; !maps.Equal(s.regions, want) {
		t.Errorf("asked in %v, want %v", s.regions, want)
	}
}

// TestTopicWithoutAnAnswer: a topic in a Region that hangs uses up its own time
// alone.
func TestTopicWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
		defer stop()
		s := &topics{silent: here}
		err := Topics{s, []string{here, there}}.Notify(ctx, "orders", blocked)
		if len(s.published) != 1 || *s.published[0].TopicArn != there {
			t.Errorf("published %d messages, want one on %s", len(s.published), there)
		}
		if err == nil || !strings.Contains(err.Error(), here) || strings.Contains(err.Error(), there) {
			t.Errorf("error %v, want one that names %s alone", err, here)
		}
	})
}

// TestEveryEntryCanBePublished: SNS takes the message whatever an entry holds
// (https://docs.aws.amazon.com/sns/latest/api/API_Publish.html).
func TestEveryEntryCanBePublished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := failover.Entry{
			Event: rapid.String().Draw(t, "event"), Outcome: rapid.String().Draw(t, "outcome"),
			Step: failover.StepName(rapid.String().Draw(t, "step")), Reason: rapid.String().Draw(t, "reason"),
		}
		in := message(here, "orders", e)
		if s := *in.Subject; len(s) == 0 || len(s) >= 100 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("subject %q", s)
		}
		if *in.Message == "" {
			t.Fatal("no message")
		}
		for name, a := range in.MessageAttributes {
			if aws.ToString(a.StringValue) == "" {
				t.Fatalf("attribute %s is empty, which SNS refuses", name)
			}
		}
	})
}
