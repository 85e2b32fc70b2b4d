package alarm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type eventRow struct {
	ID, File, Kind string
	Expect         struct {
		Name         string        `json:"alarm_name"`
		ARN          string        `json:"alarm_arn"`
		Account      string        `json:"account"`
		Region       string        `json:"region"`
		State        State         `json:"state"`
		Previous     State         `json:"previous_state"`
		Millis       int64         `json:"state_time_epoch_ms"`
		Data         bool          `json:"reason_data_present"`
		PreviousData bool          `json:"previous_reason_data_present"`
		By           *SuppressedBy `json:"suppressed_by"`
		PreviousBy   *SuppressedBy `json:"previous_suppressed_by"`
		Query        int64         `json:"query_date_epoch_ms"`
		Missing      int           `json:"evaluated_missing"`
		Real         int           `json:"evaluated_real"`
		Triggers     []string      `json:"triggering_alarms"`
		ToAlarm      bool          `json:"to_alarm"`
		First        bool          `json:"first_evaluation"`
		Key          string        `json:"dedupe_key"`
	}
}

func eventFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "alarm_events", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseEvent(t *testing.T) {
	for _, r := range oracle[eventRow](t, "alarm_events/index.json") {
		t.Run(r.ID, func(t *testing.T) {
			e, err := ParseEvent(eventFile(t, r.File))
			if r.Kind == "eventbridge-other" || r.Kind == "ec2-state" {
				if err == nil {
					t.Fatalf("a %s event was accepted", r.Kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			x := r.Expect
			if diff := cmp.Diff(Identity{x.Name, x.ARN, x.Account, x.Region}, e.Alarm); diff != "" {
				t.Errorf("alarm (-want +got):\n%s", diff)
			}
			if e.New.State != x.State || e.Old.State != x.Previous {
				t.Errorf("%s -> %s, want %s -> %s", e.Old.State, e.New.State, x.Previous, x.State)
			}
			if got := e.New.At.UnixMilli(); got != x.Millis {
				t.Errorf("changed at %d, want %d", got, x.Millis)
			}
			if (e.New.ReasonData != "") != x.Data || (e.Old.ReasonData != "") != x.PreviousData {
				t.Errorf("reason data %q, before %q", e.New.ReasonData, e.Old.ReasonData)
			}
			if e.New.SuppressedBy != value(x.By) || e.Old.SuppressedBy != value(x.PreviousBy) {
				t.Errorf("suppressed by %q, before %q", e.New.SuppressedBy, e.Old.SuppressedBy)
			}
			if e.ToAlarm() != x.ToAlarm || e.First() != x.First || e.Key() != x.Key {
				t.Errorf("to ALARM %t, first %t, key %s; want %t, %t, %s", e.ToAlarm(), e.First(), e.Key(), x.ToAlarm, x.First, x.Key)
			}
			if e.Composite != (r.Kind == "lambda-composite") {
				t.Errorf("composite: %t", e.Composite)
			}
			var triggers []string
			for _, c := range e.Triggers {
				triggers = append(triggers, ParseReference(c.ARN).Name)
			}
			if !slices.Equal(triggers, x.Triggers) {
				t.Errorf("triggers %v, want %v", triggers, x.Triggers)
			}
			if x.Query != 0 {
				checkReasonData(t, r, e.New.ReasonData)
			}
			if !e.Composite && e.Dimensions()["Node"] != "db-a" {
				t.Errorf("dimensions %v, want Node db-a", e.Dimensions())
			}
		})
	}
}

func checkReasonData(t *testing.T, r eventRow, data string) {
	t.Helper()
	var d reasonDataRead
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	query, err := parseTime(d.Query)
	if err != nil || query.UnixMilli() != r.Expect.Query {
		t.Errorf("queryDate %s, want %d", d.Query, r.Expect.Query)
	}
	missing := 0
	for _, p := range d.Evaluated {
		if p.Value == nil {
			missing++
		}
	}
	if missing != r.Expect.Missing || len(d.Evaluated)-missing != r.Expect.Real {
		t.Errorf("%d missing of %d datapoints, want %d and %d real", missing, len(d.Evaluated), r.Expect.Missing, r.Expect.Real)
	}
}

type reasonDataRead struct {
	Query     string `json:"queryDate"`
	Recent    []*float64
	Evaluated []struct {
		Timestamp string
		Value     *float64
	} `json:"evaluatedDatapoints"`
}

func value(p *SuppressedBy) SuppressedBy {
	if p == nil {
		return NotSuppressed
	}
	return *p
}

// TestPayloadsAreAsDocumented builds every sample event again from what was read
// out of it, and compares the bytes' meaning.
func TestPayloadsAreAsDocumented(t *testing.T) {
	for _, r := range oracle[eventRow](t, "alarm_events/index.json") {
		e, err := ParseEvent(eventFile(t, r.File))
		if err != nil || r.ID == "B4" { // B4 has muteDetail, of mute rules
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			var want map[string]any
			if err := json.Unmarshal(eventFile(t, r.File), &want); err != nil {
				t.Fatal(err)
			}
			tr := Transition{Alarm: e.Alarm, New: e.New, Old: e.Old, Metrics: e.Metrics, Rule: e.Rule}
			detail, _ := want["alarmData"].(map[string]any)
			if e.Delivery == ByEventBridge {
				detail = want["detail"].(map[string]any)
			}
			c := detail["configuration"].(map[string]any)
			tr.Description, _ = c["description"].(string)
			if s, ok := c["actionsSuppressor"].(string); ok {
				tr.Suppressor, tr.Wait, tr.Extension = s, 60e9, 120e9
			}
			payload := tr.LambdaEvent()
			if e.Delivery == ByEventBridge {
				payload = tr.EventBridgeEvent(want["id"].(string))
			}
			var got map[string]any
			if err := json.Unmarshal(payload, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, err := ParseEvent(payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, again); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseEventRefuses(t *testing.T) {
	valid := string(eventFile(t, "m1-lambda-metric.json"))
	bridge := string(eventFile(t, "b1-eventbridge-alarm.json"))
	for _, c := range []struct{ name, event, want string }{
		{"no JSON", "ALARM", "no JSON"},
		{"JSON of another kind", `[1]`, "no JSON object"},
		{"an empty object", `{}`, "source"},
		{"another source", strings.Replace(valid, `"aws.cloudwatch"`, `"aws.ec2"`, 1), "source"},
		{"no alarmData", `{"source":"aws.cloudwatch"}`, "alarmData"},
		{"both shapes", `{"source":"aws.cloudwatch","alarmData":{},"detail":{}}`, "either"},
		{"an ARN of something else", strings.Replace(valid, ":alarm:orders-a-beat", ":dashboard:x", 1), "no ARN"},
		{"another account", strings.Replace(valid, `"accountId": "111122223333"`, `"accountId": "999999999999"`, 1), "contradicts"},
		{"another name", strings.Replace(valid, `"alarmName": "orders-a-beat"`, `"alarmName": "orders-b-beat"`, 1), "contradicts"},
		{"an unknown state", strings.Replace(valid, `"value": "ALARM"`, `"value": "RED"`, 1), `"RED"`},
		{"a bad time", strings.ReplaceAll(valid, "2026-03-10T08:17:42.616+0000", "yesterday"), "timestamp"},
		{"no previous state", strings.Replace(valid, `"previousState"`, `"x"`, 1), "previousState"},
		{"two resources", strings.Replace(bridge, `"resources": [`, `"resources": ["x",`, 1), "resources"},
		{"too large", strings.Repeat(" ", maxEvent) + valid, "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseEvent([]byte(c.event)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, r := range []string{"m1-lambda-metric.json", "c1-lambda-composite.json", "b1-eventbridge-alarm.json", "i1-ec2-state.json"} {
		f.Add(eventFile(f, r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEvent(b)
		if err != nil {
			return
		}
		if e.Alarm.ARN == "" || !e.New.State.Valid() || !e.Old.State.Valid() {
			t.Fatalf("accepted %+v", e)
		}
		e.Key()
		e.Dimensions()
	})
}
