package cloudwatch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Lambda is called on behalf of this principal.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
const lambdaPrincipal = "lambda.alarms.cloudwatch.amazonaws.com"

// Waiting times between attempts to reach an action's target. AWS does not
// document its own.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// act runs the actions of an alarm's present state, each on its own. The caller
// holds mu.
func (c *CloudWatch) act(r *record, old alarm.Condition) {
	if !r.settings.enabled || c.ctx.Err() != nil {
		return
	}
	t := r.transition(old)
	for _, target := range r.settings.actions(r.state.State) {
		n := c.notification(r, t, target)
		e := world.Event{Service: "monitoring", Region: r.Region, Account: r.Account, Source: r.ARN, Target: target}
		c.running.Go(func() { c.w.Faults.Carry(e, func() { c.execute(r, n) }) })
	}
}

// emit tells EventBridge about a change of state, whether the alarm's actions
// are enabled or not. The caller holds mu.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html
func (c *CloudWatch) emit(r *record, old alarm.Condition) {
	if c.w.Events != nil {
		c.w.Events.Emit(r.Region, r.Account, r.transition(old).EventBridgeEvent(c.w.UUID()))
	}
}

// notification is an action on its way to its target.
type notification struct {
	target  string
	changed time.Time
	subject string
	body    []byte
}

func (c *CloudWatch) notification(r *record, t *alarm.Transition, target string) notification {
	n := notification{target: target, changed: t.New.At}
	if service(target) == "sns" {
		n.subject, n.body = subject(t), message(r, t)
	} else {
		n.body = t.LambdaEvent()
	}
	return n
}

func service(arn string) string {
	f := strings.SplitN(arn, ":", 4)
	if len(f) < 4 {
		return ""
	}
	return f[2]
}

// execute tries until the target accepts. A target that does not exist or does
// not allow the call is not tried again.
func (c *CloudWatch) execute(r *record, n notification) {
	err := c.deliver(r, n)
	for wait := firstRetry; err != nil && transient(err); wait = min(2*wait, lastRetry) {
		c.log.Warn("alarm action not accepted, trying again", "alarm", r.ARN, "action", n.target, "error", err)
		if c.w.Clock.Sleep(c.ctx, wait) != nil {
			return // closed
		}
		err = c.deliver(r, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.tenant.note(r, executed(n, err, c.w.Clock.Now()))
	if err != nil {
		c.log.Warn("alarm action failed", "alarm", r.ARN, "action", n.target, "error", err)
	}
}

func (c *CloudWatch) deliver(r *record, n notification) error {
	switch s := service(n.target); {
	case s == "lambda" && c.w.Functions != nil:
		return c.w.Functions.InvokeAsync(n.target, n.body, lambdaPrincipal, r.ARN, r.Account)
	case s == "sns" && c.w.Messages != nil:
		return c.w.Messages.Deliver(n.target, n.subject, n.body)
	default:
		return fmt.Errorf("the sandbox does not run actions of %s", s)
	}
}

// transient reports whether a target may accept the same call later.
func transient(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests)
}

type actionHistory struct {
	State     string `json:"actionState"`
	Changed   int64  `json:"stateUpdateTimestamp"` // milliseconds
	Target    string `json:"notificationResource"`
	Published string `json:"publishedMessage,omitempty"`
	Error     string `json:"error,omitempty"`
}

func executed(n notification, err error, now time.Time) event {
	d := actionHistory{State: "Succeeded", Changed: n.changed.UnixMilli(), Target: n.target, Published: string(n.body)}
	summary := "Successfully executed action " + n.target
	if err != nil {
		d.State, d.Error = "Failed", err.Error()
		summary = "Failed to execute action " + n.target
	}
	return event{at: now, item: types.HistoryItemTypeAction, summary: summary, data: toJSON(d)}
}
