package events

import (
	"encoding/json"
	"time"
)

// appoint plans the next time of a rule after a moment. A rate begins one
// period after the rule was put or enabled; cron expressions are in UTC. The
// caller holds mu.
//
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html
func (e *Events) appoint(r *rule, after time.Time) {
	r.due = time.Time{}
	if r.set.schedule != nil && r.set.enabled {
		if next, ok := r.set.expression.Next(r.set.since, after, time.UTC); ok {
			r.due = next
		}
	}
}

// work runs all scheduled rules that are due and returns the next time. Times
// that were missed altogether are left out.
func (e *Events) work(now time.Time) (next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, buses := range e.buses {
		for _, r := range buses[defaultBus].rules { // no other bus has schedules
			if !r.due.IsZero() && !r.due.After(now) {
				e.send(r, r.tick(e.w.UUID()), now)
				e.appoint(r, now)
			}
			if !r.due.IsZero() && (next.IsZero() || r.due.Before(next)) {
				next = r.due
			}
		}
	}
	return next
}

// tick is the event of a scheduled rule.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html
func (r *rule) tick(id string) []byte {
	b, err := toJSON(envelope{
		Version: "0", ID: id, DetailType: "Scheduled Event", Source: "aws.events", Account: r.bus.account, Time: r.due.UTC().Format(time.RFC3339),
		Region: r.bus.region, Resources: []string{r.arn()}, Detail: json.RawMessage("{}"),
	})
	if err != nil { // texts always marshal
		return []byte("{}")
	}
	return b
}
