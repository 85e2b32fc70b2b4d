package cloudwatch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmHistory.html
const (
	historyPerPage = 100
	historyKept    = 30 * 24 * time.Hour
)

// event is one entry of an alarm's history.
type event struct {
	at      time.Time
	alarm   string
	kind    types.AlarmType
	item    types.HistoryItemType
	summary string
	data    string
}

// note adds to the history of an alarm and forgets what is too old.
func (t *tenant) note(r *record, e event) {
	e.alarm, e.kind = r.Name, r.kind()
	h := append(t.history[r.Name], e)
	old := sort.Search(len(h), func(i int) bool { return !h[i].at.Before(e.at.Add(-historyKept)) })
	t.history[r.Name] = h[old:]
}

type stateHistory struct {
	Version string     `json:"version"`
	Old     stateEntry `json:"oldState"`
	New     stateEntry `json:"newState"`
}

type stateEntry struct {
	Value  alarm.State     `json:"stateValue"`
	Reason string          `json:"stateReason"`
	Data   json.RawMessage `json:"stateReasonData,omitempty"`
}

func entry(c alarm.Condition) stateEntry {
	e := stateEntry{Value: c.State, Reason: c.Reason}
	if json.Valid([]byte(c.ReasonData)) {
		e.Data = json.RawMessage(c.ReasonData)
	}
	return e
}

func stateUpdated(r *record, old alarm.Condition) event {
	return event{
		at: r.state.At, item: types.HistoryItemTypeStateUpdate,
		summary: fmt.Sprintf("Alarm updated from %s to %s", old.State, r.state.State),
		data:    toJSON(stateHistory{"1.0", entry(old), entry(r.state)}),
	}
}

// configured is a ConfigurationUpdate; before is how the alarm was described
// before an update.
func configured(r *record, now time.Time, what string, before any) event {
	d := map[string]any{"version": "1.0"}
	switch what {
	case "created":
		d["type"], d["createdAlarm"] = "Create", members(r.describe())
	case "updated":
		after, original := members(r.describe()), map[string]any{}
		for name, value := range members(before) {
			if !reflect.DeepEqual(value, after[name]) {
				original[name] = value
			}
		}
		d["type"], d["updatedAlarm"], d["originalUpdatedFields"] = "Update", after, original
	default:
		d["type"], d["deletedAlarm"] = "Delete", members(r.describe())
	}
	return event{
		at: now, item: types.HistoryItemTypeConfigurationUpdate,
		summary: fmt.Sprintf("Alarm %q %s", r.Name, what), data: toJSON(d),
	}
}

// members returns the members of a described alarm that have a value, by their
// names in the history: with a small first letter, and okactions.
func members(described any) map[string]any {
	var m map[string]any
	_ = json.Unmarshal([]byte(toJSON(described)), &m) // it was just encoded
	small, _ := smallNames(m).(map[string]any)
	return small
}

func smallNames(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if value == nil || value == "" {
				continue
			}
			if name == "OKActions" {
				name = "okactions"
			}
			out[strings.ToLower(name[:1])+name[1:]] = smallNames(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = smallNames(v[i])
		}
	}
	return v
}

// toJSON encodes values of this package, which can always be encoded.
func toJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func (c *CloudWatch) describeAlarmHistory(r *wire.Request, in *api.DescribeAlarmHistoryInput) (*api.DescribeAlarmHistoryOutput, error) {
	size, err := pageSize(in.MaxRecords, historyPerPage, historyPerPage)
	if err != nil {
		return nil, err
	}
	if in.HistoryItemType != "" && !slices.Contains(in.HistoryItemType.Values(), in.HistoryItemType) {
		return nil, invalid("HistoryItemType %q is invalid.", in.HistoryItemType)
	}
	kinds := in.AlarmTypes
	if len(kinds) == 0 {
		kinds = []types.AlarmType{types.AlarmTypeMetricAlarm}
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	var all []event
	for name, events := range t.history {
		if in.AlarmName != nil && *in.AlarmName != name {
			continue
		}
		for _, e := range events {
			if slices.Contains(kinds, e.kind) &&
				(in.HistoryItemType == "" || in.HistoryItemType == e.item) &&
				(in.StartDate == nil || !e.at.Before(*in.StartDate)) &&
				(in.EndDate == nil || !e.at.After(*in.EndDate)) && !e.at.Before(now.Add(-historyKept)) {
				all = append(all, e)
			}
		}
	}
	// Entries of one alarm at the same time stay in order of occurrence.
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	if in.ScanBy != types.ScanByTimestampAscending {
		slices.Reverse(all)
	}
	part, next, err := page(all, in.NextToken, size)
	if err != nil {
		return nil, err
	}
	out := &api.DescribeAlarmHistoryOutput{NextToken: next, AlarmHistoryItems: []types.AlarmHistoryItem{}}
	for _, e := range part {
		out.AlarmHistoryItems = append(out.AlarmHistoryItems, types.AlarmHistoryItem{
			AlarmName: aws.String(e.alarm), AlarmType: e.kind, HistoryItemType: e.item,
			HistorySummary: aws.String(e.summary), HistoryData: aws.String(e.data), Timestamp: aws.Time(e.at),
		})
	}
	return out, nil
}
