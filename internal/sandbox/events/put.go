package events

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/events/pattern"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

// maxEntries is how many events one call may put.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
const maxEntries = 10

// envelope is an event as rules and targets see it.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       string          `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

func (e *Events) putEvents(r *wire.Request, in *api.PutEventsInput) (*api.PutEventsOutput, error) {
	if n := len(in.Entries); n == 0 || n > maxEntries {
		return nil, invalid("1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have between 1 and %d elements, not %d", maxEntries, n)
	}
	all, now := e.enter(r)
	defer e.mu.Unlock()
	out := &api.PutEventsOutput{}
	for i := range in.Entries {
		id, failure := e.put(all, owner{r.Region, r.Account}, &in.Entries[i], now)
		if failure != nil {
			out.FailedEntryCount++
			out.Entries = append(out.Entries, types.PutEventsResultEntry{ErrorCode: &failure.Code, ErrorMessage: &failure.Message})
			continue
		}
		out.Entries = append(out.Entries, types.PutEventsResultEntry{EventId: &id})
	}
	return out, nil
}

// put sends one entry to its bus. An event for a bus that does not exist is
// accepted and seen by nobody. The caller holds mu.
func (e *Events) put(all map[string]*bus, o owner, in *types.PutEventsRequestEntry, now time.Time) (string, *wire.Error) {
	for _, p := range []struct {
		name  string
		value *string
	}{{"Source", in.Source}, {"DetailType", in.DetailType}, {"Detail", in.Detail}} {
		if aws.ToString(p.value) == "" {
			return "", wire.Errorf("InvalidArgument", "Parameter %s is not valid. Reason: %s is a required argument.", p.name, p.name)
		}
	}
	var detail map[string]json.RawMessage
	switch {
	case json.Unmarshal([]byte(*in.Detail), &detail) != nil || detail == nil:
		return "", wire.Errorf("MalformedDetail", "Detail is malformed.")
	case strings.HasPrefix(*in.Source, "aws."):
		return "", wire.Errorf("NotAuthorizedForSourceException", "Not authorized for the source.")
	}
	at := now
	if in.Time != nil {
		at = *in.Time
	}
	x := envelope{
		Version: "0", ID: e.w.UUID(), DetailType: *in.DetailType, Source: *in.Source, Account: o.account, Time: at.UTC().Format(time.RFC3339),
		Region: o.region, Resources: append([]string{}, in.Resources...), Detail: json.RawMessage(*in.Detail),
	}
	event, err := toJSON(x)
	if err != nil {
		return "", wire.Errorf("MalformedDetail", "Detail is malformed.")
	}
	if b, err := find(all, in.EventBusName); err == nil {
		e.publish(b, event, now)
	}
	return x.ID, nil
}

// Emit implements world.Events.
func (e *Events) Emit(region, account string, event []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.publish(e.of(owner{region, account})[defaultBus], event, e.w.Clock.Now())
}

// publish sends an event to the targets of all rules of a bus that it matches.
// The caller holds mu.
func (e *Events) publish(b *bus, event []byte, now time.Time) {
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		if r := b.rules[name]; r.set.enabled && r.set.pattern != nil && r.set.matches.Match(event) {
			e.send(r, event, now)
		}
	}
}

// send starts the delivery of an event to the targets of a rule. The caller
// holds mu.
func (e *Events) send(r *rule, event []byte, now time.Time) {
	if e.ctx.Err() != nil {
		return // closed
	}
	from := origin{ruleARN: r.arn(), ruleName: r.name, ingested: now.UTC().Format("2006-01-02T15:04:05.000Z")}
	for _, id := range slices.Sorted(maps.Keys(r.targets)) {
		t := r.targets[id]
		body := t.input.of(event, from)
		p := delivery.Parcel{
			Target: *t.given.Arn, Role: aws.ToString(t.given.RoleArn), Source: r.arn(), Account: r.bus.account, Retry: t.retry,
			Body: func(int) []byte { return body },
		}
		if t.given.DeadLetterConfig != nil {
			p.DeadLetter = aws.ToString(t.given.DeadLetterConfig.Arn)
		}
		e.running.Go(func() {
			e.w.Faults.Carry(world.Event{Service: "events", Region: r.bus.region, Account: p.Account, Source: p.Source, Target: p.Target}, func() {
				if err := e.courier.Deliver(e.ctx, p); err != nil {
					e.log.Warn("an event did not reach its target", "rule", p.Source, "target", p.Target, "error", err)
				}
			})
		})
	}
}

// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_TestEventPattern.html
func (e *Events) testEventPattern(_ *wire.Request, in *api.TestEventPatternInput) (*api.TestEventPatternOutput, error) {
	p, err := pattern.Parse(aws.ToString(in.EventPattern))
	if err != nil {
		return nil, badPattern(err)
	}
	var event map[string]json.RawMessage
	if json.Unmarshal([]byte(aws.ToString(in.Event)), &event) != nil || event == nil {
		return nil, invalid("Parameter Event is not valid.")
	}
	for _, member := range []string{"id", "account", "source", "time", "region", "resources", "detail-type"} {
		if event[member] == nil {
			return nil, invalid("Parameter Event is not valid. Reason: %s is a required argument.", member)
		}
	}
	return &api.TestEventPatternOutput{Result: p.Match([]byte(*in.Event))}, nil
}
