package alarm

import (
	"fmt"
	"time"
)

// Identity names an alarm.
type Identity struct {
	Name    string
	ARN     string
	Account string
	Region  string
}

// ARN returns the ARN of an alarm of the commercial partition.
func ARN(region, account, name string) string {
	return fmt.Sprintf("arn:aws:cloudwatch:%s:%s:alarm:%s", region, account, name)
}

// Query is one metric or expression of an alarm, as events show it.
type Query struct {
	ID         string     `json:"id"`
	Expression string     `json:"expression,omitempty"`
	Label      string     `json:"label,omitempty"`
	Stat       *QueryStat `json:"metricStat,omitempty"`
	Period     int        `json:"period,omitempty"` // seconds, of expressions
	ReturnData bool       `json:"returnData"`
}

// QueryStat is a statistic of a metric.
type QueryStat struct {
	Metric QueryMetric `json:"metric"`
	Period int         `json:"period"` // seconds
	Stat   string      `json:"stat"`
	Unit   string      `json:"unit,omitempty"`
}

// QueryMetric names a metric.
type QueryMetric struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Dimensions map[string]string `json:"dimensions"`
}

// Condition is the state that an alarm was in or went to.
type Condition struct {
	State            State
	Reason           string
	ReasonData       string // JSON document, "" after SetAlarmState without one
	At               time.Time
	SuppressedBy     SuppressedBy
	SuppressedReason string
}

// Trigger is a child alarm that a composite alarm names as the cause.
type Trigger struct {
	ARN   string
	State State
	At    time.Time
}

// Transition is a change of state with everything that events about it say.
type Transition struct {
	Alarm       Identity
	Description string
	New, Old    Condition

	Metrics []Query // of a metric alarm

	Rule       string // of a composite alarm
	Suppressor string // ARN or name, "" if there is none
	Wait       time.Duration
	Extension  time.Duration
}

type conditionJSON struct {
	Value            State        `json:"value"`
	Reason           string       `json:"reason"`
	ReasonData       string       `json:"reasonData,omitempty"`
	Timestamp        string       `json:"timestamp"`
	SuppressedBy     SuppressedBy `json:"actionsSuppressedBy,omitempty"`
	SuppressedReason string       `json:"actionsSuppressedReason,omitempty"`
}

func (c Condition) json() *conditionJSON {
	return &conditionJSON{c.State, c.Reason, c.ReasonData, c.At.UTC().Format(TimeFormat), c.SuppressedBy, c.SuppressedReason}
}

type configurationJSON struct {
	Description string  `json:"description,omitempty"`
	Metrics     []Query `json:"metrics,omitempty"`
	Rule        string  `json:"alarmRule,omitempty"`
	Suppressor  string  `json:"actionsSuppressor,omitempty"`
	Wait        *int    `json:"actionsSuppressorWaitPeriod,omitempty"`
	Extension   *int    `json:"actionsSuppressorExtensionPeriod,omitempty"`
}

// detailJSON is alarmData of a Lambda event and detail of an EventBridge event.
type detailJSON struct {
	Name          string            `json:"alarmName"`
	State         *conditionJSON    `json:"state"`
	Previous      *conditionJSON    `json:"previousState,omitempty"`
	Configuration configurationJSON `json:"configuration"`
}

func (t *Transition) detail() detailJSON {
	d := detailJSON{
		Name: t.Alarm.Name, State: t.New.json(), Previous: t.Old.json(),
		Configuration: configurationJSON{Description: t.Description, Metrics: t.Metrics, Rule: t.Rule, Suppressor: t.Suppressor},
	}
	if t.Suppressor != "" {
		d.Configuration.Wait = new(int(t.Wait / time.Second))
		d.Configuration.Extension = new(int(t.Extension / time.Second))
	}
	return d
}

type lambdaJSON struct {
	Source  string      `json:"source"`
	ARN     string      `json:"alarmArn"`
	Account string      `json:"accountId"`
	Time    string      `json:"time"`
	Region  string      `json:"region"`
	Data    *detailJSON `json:"alarmData"`
}

// LambdaEvent returns what CloudWatch sends to a Lambda function.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
func (t *Transition) LambdaEvent() []byte {
	d := t.detail()
	return marshal(lambdaJSON{eventSource, t.Alarm.ARN, t.Alarm.Account, d.State.Timestamp, t.Alarm.Region, &d})
}

type eventBridgeJSON struct {
	Version    string      `json:"version"`
	ID         string      `json:"id"`
	DetailType string      `json:"detail-type"`
	Source     string      `json:"source"`
	Account    string      `json:"account"`
	Time       string      `json:"time"`
	Region     string      `json:"region"`
	Resources  []string    `json:"resources"`
	Detail     *detailJSON `json:"detail"`
}

// EventBridgeEvent returns what CloudWatch sends to EventBridge under the id.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html
func (t *Transition) EventBridgeEvent(id string) []byte {
	d := t.detail()
	return marshal(eventBridgeJSON{
		Version: "0", ID: id, DetailType: eventDetailType, Source: eventSource, Account: t.Alarm.Account,
		Time: t.New.At.UTC().Format(time.RFC3339), Region: t.Alarm.Region, Resources: []string{t.Alarm.ARN}, Detail: &d,
	})
}

type triggersJSON struct {
	Alarms []triggerJSON `json:"triggeringAlarms"`
}

type triggerJSON struct {
	ARN   string `json:"arn"`
	State struct {
		Value     State  `json:"value"`
		Timestamp string `json:"timestamp"`
	} `json:"state"`
}

// CompositeReasonData returns StateReasonData of a composite alarm.
func CompositeReasonData(triggers ...Trigger) string {
	d := triggersJSON{Alarms: []triggerJSON{}}
	for _, t := range triggers {
		x := triggerJSON{ARN: t.ARN}
		x.State.Value, x.State.Timestamp = t.State, t.At.UTC().Format(TimeFormat)
		d.Alarms = append(d.Alarms, x)
	}
	return string(marshal(d))
}

// CompositeReason returns StateReason of a composite alarm whose child changed.
func CompositeReason(t Trigger) string {
	return fmt.Sprintf("%s transitioned to %s at %s", t.ARN, t.State, t.At.UTC().Format("Monday 02 January, 2006 15:04:05 MST"))
}

// CompositeSetupReason returns StateReason of a composite alarm that was "created"
// or "updated" and evaluated to state.
func CompositeSetupReason(arn, what string, state State) string {
	return fmt.Sprintf("%s was %s and its alarm rule evaluates to %s", arn, what, state)
}
