package cloudwatch

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// bus reads the events that CloudWatch emits.
type bus struct {
	t    *testing.T
	seen []string // alarm: old -> new
}

func (b *bus) Emit(r, owner string, event []byte) {
	e, err := alarm.ParseEvent(event)
	if err != nil || r != region || owner != account || e.Delivery != alarm.ByEventBridge {
		b.t.Errorf("event %s in %s of %s: %v", event, r, owner, err)
	}
	b.seen = append(b.seen, e.Alarm.Name+": "+string(e.Old.State)+" -> "+string(e.New.State))
}

var _ world.Events = (*bus)(nil)

// TestTransitionsAreEvents: EventBridge learns of every change of state, also
// of alarms whose actions are disabled.
func TestTransitionsAreEvents(t *testing.T) {
	f := start(t)
	b := &bus{t: t}
	f.w.Events = b
	f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) { in.ActionsEnabled = aws.Bool(false) }))
	f.compose("c", `ALARM("a")`)
	f.set("a", "ALARM")
	f.set("a", "ALARM") // no change
	f.set("a", "OK")
	want := []string{"c: INSUFFICIENT_DATA -> OK", "a: INSUFFICIENT_DATA -> ALARM", "c: OK -> ALARM", "a: ALARM -> OK", "c: ALARM -> OK"}
	if diff := cmp.Diff(want, b.seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
