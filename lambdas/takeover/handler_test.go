package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const alarmARN = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a"

// record is a Store of one group whose standby alarm is bound to node b.
type record struct {
	control.Store // nothing else is called

	bindErr error
	seen    map[string]string
	unknown []failover.Entry
	history []failover.Entry
}

func (r *record) Binding(_ context.Context, arn string) (string, string, error) {
	if r.bindErr != nil {
		return "", "", r.bindErr
	}
	if arn != alarmARN {
		return "", "", fmt.Errorf("%s: %w", arn, control.ErrNotFound)
	}
	return "orders", "b", nil
}

func (r *record) See(_ context.Context, arn string, changed time.Time, id string, _ time.Time) (string, error) {
	k := arn + changed.String()
	if first, ok := r.seen[k]; ok {
		return first, nil
	}
	r.seen[k] = id
	return id, nil
}

func (r *record) Unknown(_ context.Context, e failover.Entry, _ []byte) error {
	r.unknown = append(r.unknown, e)
	return nil
}

func (r *record) Load(context.Context, string) (failover.State, error) {
	return failover.State{Group: "orders", Primary: "a", Epoch: 7, Phase: failover.Steady, Config: failover.Config{
		Nodes: []failover.NodeConfig{{ID: "a"}, {ID: "b"}},
	}}, nil
}

func (r *record) Append(_ context.Context, _ string, e failover.Entry) error {
	r.history = append(r.history, e)
	return nil
}

// engine is never asked for anything but its words.
type engine struct{ control.Engine }

func (engine) Manual() failover.Manual { return failover.Manual{} }

func newHandler(r *record) *Handler {
	ids := 0
	log := slog.New(slog.DiscardHandler)
	return &Handler{
		Store: r, Clock: clock.System(), Log: log,
		NewID: func(time.Time) string { ids++; return fmt.Sprintf("op%d", ids) },
		Runner: func(_ context.Context, group string) (*control.Runner, error) {
			if group != "orders" {
				return nil, control.ErrNotFound
			}
			return &control.Runner{Store: r, Engine: engine{}, Clock: clock.System(), Log: log}, nil
		},
	}
}

func alarmEvent(state string) string {
	return fmt.Sprintf(`{"source":"aws.cloudwatch","alarmArn":%q,"accountId":"123456789012","time":"2026-11-29T03:00:00.000+0000","region":"eu-central-1",
"alarmData":{"alarmName":"orders-a","state":{"value":%q,"reason":"r","timestamp":"2026-11-29T03:00:00.000+0000"},
"previousState":{"value":"OK","reason":"r","timestamp":"2026-11-29T02:00:00.000+0000"},"configuration":{"alarmRule":"ALARM(x)"}}}`, alarmARN, state)
}

func reportOf(group, node string, version int) string {
	return fmt.Sprintf(`{"source":"hadr.agent","version":%d,"group":%q,"node":%q,"evidence":[{"source":"agent b","node":%q,"kind":"lease_expired","value":"x","observed_at":"2026-11-29T03:00:00Z"}]}`,
		version, group, node, node)
}

// R2: the same sighting has the same operation, however often it is told.
func TestReportsOfOneSighting(t *testing.T) {
	r := &record{seen: map[string]string{}}
	h := newHandler(r)
	for range 3 {
		if a, err := h.Handle(t.Context(), json.RawMessage(reportOf("orders", "b", 1))); err != nil || a.Operation != "op1" {
			t.Errorf("operation %q, %v", a.Operation, err)
		}
	}
}

func TestHandle(t *testing.T) {
	tests := []struct {
		name    string
		event   string
		result  string
		says    string
		unknown int
	}{
		{"the standby's alarm", alarmEvent("ALARM"), "ignored", "standby unhealthy", 0},
		{"back to OK", alarmEvent("OK"), "ignored", "not to ALARM", 0},
		{"an alarm of nobody", strings.ReplaceAll(alarmEvent("ALARM"), "orders-a", "other"), "ignored", "no group has the alarm", 1},
		{"ARN and account contradict each other", strings.Replace(alarmEvent("ALARM"), `"accountId":"123456789012"`, `"accountId":"999999999999"`, 1), "ignored", "contradicts", 1},
		{"another source", `{"source":"aws.s3"}`, "ignored", "aws.s3", 1},
		{"not JSON", `alarm!`, "ignored", "no JSON", 1},
		{"empty", ``, "ignored", "no JSON", 1},
		{"null", `null`, "ignored", "source", 1},
		{"an agent's report about a node that is not the primary", reportOf("orders", "b", 1), "nothing_to_do", "", 0},
		{"a report about a group that is not on the record (R1)", reportOf("payroll", "a", 1), "ignored", "no group payroll", 1},
		{"a report of a version to come", reportOf("orders", "a", 2), "ignored", "has version 2", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &record{seen: map[string]string{}}
			a, err := newHandler(r).Handle(t.Context(), json.RawMessage(tt.event))
			if err != nil {
				t.Fatal(err)
			}
			if a.Result != tt.result || !strings.Contains(a.Reason, tt.says) {
				t.Errorf("answer %+v, want %s that says %q", a, tt.result, tt.says)
			}
			if len(r.unknown) != tt.unknown {
				t.Errorf("%d unknown events recorded, want %d", len(r.unknown), tt.unknown)
			}
		})
	}
}

// TestRedelivery: a second delivery of the same change of state carries the
// first one's operation (R2).
func TestRedelivery(t *testing.T) {
	r := &record{seen: map[string]string{}}
	h := newHandler(r)
	for range 3 {
		a, err := h.Handle(t.Context(), json.RawMessage(alarmEvent("ALARM")))
		if err != nil {
			t.Fatal(err)
		}
		if a.Operation != "op1" {
			t.Errorf("operation %s, want op1", a.Operation)
		}
	}
}

// TestDeliverAgain: what could not be looked up must come again, and is not
// taken for an event of nobody.
func TestDeliverAgain(t *testing.T) {
	r := &record{seen: map[string]string{}, bindErr: errors.New("no route to host")}
	if _, err := newHandler(r).Handle(t.Context(), json.RawMessage(alarmEvent("ALARM"))); err == nil {
		t.Error("no error, so Lambda would not deliver it again")
	}
	if len(r.unknown) > 0 {
		t.Error("recorded as an event of nobody")
	}
}

func TestBoundedBeforeTheFunctionEnds(t *testing.T) {
	h := newHandler(&record{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end, _ := ctx.Deadline()
	bounded, stop := h.bounded(ctx)
	defer stop()
	if got, _ := bounded.Deadline(); !got.Equal(end.Add(-reserve)) {
		t.Errorf("ends at %s, want %s", got, end.Add(-reserve))
	}
}
