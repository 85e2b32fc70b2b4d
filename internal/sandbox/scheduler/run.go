package scheduler

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/schedule"
)

// arrange plans the first occurrence after a moment. A rate counts from its
// start or, without one, from the time at which it was set. The caller holds
// mu.
//
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#rate-based
func (s *Scheduler) arrange(e *entry, after time.Time) {
	e.occurrence = time.Time{}
	if e.settings.State != types.ScheduleStateEnabled {
		return
	}
	anchor, once := e.modified, e.plan.expression.Kind == schedule.At
	if start := e.settings.StartDate; start != nil && !once {
		anchor = *start
		if start.After(after) {
			after = start.Add(-1)
		}
	}
	if once {
		after = time.Time{} // AWS does not tell what it does with the past; here it is due now
	}
	next, ok := e.plan.expression.Next(anchor, after, e.plan.zone)
	if end := e.settings.EndDate; !ok || end != nil && !once && !next.Before(*end) {
		return
	}
	e.occurrence, e.due = next, next
	if e.plan.window > 0 {
		e.due = next.Add(s.within(e.plan.window))
	}
}

// within returns a random time within a window.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-flexible-time-windows.html
func (s *Scheduler) within(window time.Duration) time.Duration {
	const digits = 6
	n, err := strconv.ParseUint(s.w.Hex(digits), 16, 32)
	if err != nil { // hexadecimal digits always parse
		return 0
	}
	return time.Duration(float64(window) * float64(n) / float64(1<<(4*digits)))
}

// work starts all invocations that are due and returns the time of the next.
func (s *Scheduler) work(now time.Time) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, groups := range s.groups {
		for _, g := range groups {
			for _, e := range g.schedules {
				if !e.occurrence.IsZero() && !e.due.After(now) {
					s.invoke(e, now)
				}
				if !e.occurrence.IsZero() && (next.IsZero() || e.due.Before(next)) {
					next = e.due
				}
			}
		}
	}
	return next
}

// invoke begins one invocation and plans the one after it. Occurrences that
// were missed altogether are left out. The caller holds mu.
func (s *Scheduler) invoke(e *entry, now time.Time) {
	if s.ctx.Err() != nil {
		return // closed
	}
	p := s.parcel(e)
	if e.plan.expression.Kind == schedule.At {
		e.occurrence = time.Time{}
	} else {
		s.arrange(e, now)
	}
	completed := e.occurrence.IsZero()
	way := world.Event{Service: "scheduler", Region: e.group.region, Account: p.Account, Source: e.arn(), Target: p.Target}
	s.running.Go(func() {
		s.w.Faults.Carry(way, func() {
			if err := s.courier.Deliver(s.ctx, p); err != nil {
				s.log.Warn("a schedule did not reach its target", "schedule", e.arn(), "error", err)
			}
			if completed {
				s.complete(e)
			}
		})
	})
}

// complete does what is to be done after the last invocation.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-delete.html
func (s *Scheduler) complete(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := e.group.schedules[e.name()] == e // neither updated nor deleted meanwhile
	if current && s.ctx.Err() == nil && e.settings.ActionAfterCompletion == types.ActionAfterCompletionDelete {
		delete(e.group.schedules, e.name())
	}
}

// parcel is the present occurrence of e on its way.
func (s *Scheduler) parcel(e *entry) delivery.Parcel {
	t := e.settings.Target
	p := delivery.Parcel{Target: *t.Arn, Role: *t.RoleArn, Source: e.group.groupARN(), Account: e.group.account, Retry: e.plan.retry}
	if t.DeadLetterConfig != nil {
		p.DeadLetter = aws.ToString(t.DeadLetterConfig.Arn)
	}
	id, at := s.w.UUID(), e.occurrence.UTC().Format(time.RFC3339)
	if t.Input == nil {
		body := e.notification(id, at)
		p.Body = func(int) []byte { return body }
		return p
	}
	input, arn := *t.Input, e.arn()
	p.Body = func(attempt int) []byte {
		// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
		return []byte(strings.NewReplacer(
			"<aws.scheduler.schedule-arn>", arn, "<aws.scheduler.scheduled-time>", at,
			"<aws.scheduler.execution-id>", id, "<aws.scheduler.attempt-number>", strconv.Itoa(attempt),
		).Replace(input))
	}
	return p
}

// notification is what a target without Input receives.
func (e *entry) notification(id, at string) []byte {
	b, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     string   `json:"detail"`
	}{"0", id, "Scheduled Event", "aws.scheduler", e.group.account, at, e.group.region, []string{e.arn()}, "{}"})
	if err != nil { // texts always marshal
		return []byte("{}")
	}
	return b
}
