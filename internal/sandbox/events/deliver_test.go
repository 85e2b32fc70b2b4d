package events_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func TestEventsReachTheTargetsOfMatchingRules(t *testing.T) {
	run(t, func(l *landscape) {
		l.rule("r", `{"source":["app"],"detail":{"n":[{"numeric":[">",1]}]}}`, to(function), to(queue), to(topic), to(dead, func(x *types.Target) { x.RoleArn = aws.String(role) }))
		l.rule("other", `{"source":["other"]}`, to(queue))
		id := l.put("app", `{"n":2,"text":"<b>&"}`)
		l.put("app", `{"n":1}`)
		seen := map[string]string{}
		for _, a := range l.arrivals() {
			if seen[a.target] != "" {
				t.Errorf("%s received two events", a.target)
			}
			seen[a.target] = a.how
			want := `{"version":"0","id":"` + id + `","detail-type":"test","source":"app","account":"123456789012","time":"2000-01-01T00:00:00Z","region":"eu-west-1","resources":["r1"],"detail":{"n":2,"text":"<b>&"}}`
			if a.body != want {
				t.Errorf("event is\n%s, want\n%s", a.body, want)
			}
		}
		by := "events.amazonaws.com for " + base + "rule/r"
		if want := map[string]string{function: by + " of 123456789012", queue: by, topic: by, dead: "by role"}; fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("targets are %v, want %v", seen, want)
		}
	})
}

func TestDisabledRulesAndRemovedTargetsReceiveNothing(t *testing.T) {
	run(t, func(l *landscape) {
		ctx, name := l.t.Context(), aws.String("r")
		l.rule("r", `{"source":["app"]}`, to(queue))
		for _, step := range []struct {
			change func()
			want   int
		}{
			{func() {}, 1},
			{func() { must(l.DisableRule(ctx, &api.DisableRuleInput{Name: name})) }, 0},
			{func() { must(l.EnableRule(ctx, &api.EnableRuleInput{Name: name})) }, 1},
			{func() { l.rule("r", `{"source":["web"]}`) }, 0}, // its targets stay
			{func() { l.rule("r", `{"source":["app"]}`) }, 1},
			{func() {
				must(l.RemoveTargets(ctx, &api.RemoveTargetsInput{Rule: name, Ids: []string{*to(queue).Id}}))
			}, 0},
		} {
			step.change()
			l.put("app", `{}`)
			if got := len(l.arrivals()); got != step.want {
				t.Errorf("%d arrivals, want %d", got, step.want)
			}
		}
	})
}

// TestServicesEmit: events of AWS services come on the default bus of their
// account, which nobody else can do in their name.
func TestServicesEmit(t *testing.T) {
	run(t, func(l *landscape) {
		l.rule("r", `{"source":["aws.cloudwatch"]}`, to(queue))
		event := `{"source":"aws.cloudwatch","detail":{"alarmName":"a"}}`
		l.service.Emit("eu-west-1", "123456789012", []byte(event))
		l.service.Emit("us-east-1", "123456789012", []byte(event))
		l.service.Emit("eu-west-1", "999999999999", []byte(event))
		if got := l.arrivals(); len(got) != 1 || got[0].body != event {
			t.Errorf("arrivals are %v", got)
		}
		for _, tc := range []struct {
			entry types.PutEventsRequestEntry
			want  string
		}{
			{types.PutEventsRequestEntry{Source: aws.String("aws.cloudwatch"), DetailType: aws.String("t"), Detail: aws.String("{}")}, "NotAuthorizedForSourceException"},
			{types.PutEventsRequestEntry{Source: aws.String("app"), DetailType: aws.String("t"), Detail: aws.String("[]")}, "MalformedDetail"},
			{types.PutEventsRequestEntry{Source: aws.String("app"), DetailType: aws.String("t"), Detail: aws.String("null")}, "MalformedDetail"},
			{types.PutEventsRequestEntry{Source: aws.String("app"), DetailType: aws.String("t")}, "InvalidArgument"},
			{types.PutEventsRequestEntry{Source: aws.String("app"), Detail: aws.String("{}")}, "InvalidArgument"},
			{types.PutEventsRequestEntry{DetailType: aws.String("t"), Detail: aws.String("{}")}, "InvalidArgument"},
		} {
			good := types.PutEventsRequestEntry{Source: aws.String("app"), DetailType: aws.String("t"), Detail: aws.String("{}")}
			o := must(l.PutEvents(l.t.Context(), &api.PutEventsInput{Entries: []types.PutEventsRequestEntry{tc.entry, good}}))
			if o.FailedEntryCount != 1 || aws.ToString(o.Entries[0].ErrorCode) != tc.want || o.Entries[1].EventId == nil {
				t.Errorf("entries are %+v, want %s and an ID", o.Entries, tc.want)
			}
		}
		if _, err := l.PutEvents(l.t.Context(), &api.PutEventsInput{Entries: make([]types.PutEventsRequestEntry, 11)}); code(err) != "ValidationException" {
			t.Errorf("11 entries: %v", err)
		}
	})
}

// TestInputs: what a target receives of {"a":"x \"y\"","n":7,"list":[1,{"k":true}]}.
func TestInputs(t *testing.T) {
	transform := func(template string, paths map[string]string) func(*types.Target) {
		return func(x *types.Target) {
			x.InputTransformer = &types.InputTransformer{InputTemplate: &template, InputPathsMap: paths}
		}
	}
	for name, tc := range map[string]struct {
		change func(*types.Target)
		want   string
	}{
		"a constant":                 {func(x *types.Target) { x.Input = aws.String(`{"c":1}`) }, `{"c":1}`},
		"a part":                     {func(x *types.Target) { x.InputPath = aws.String("$.detail") }, `{"a":"x \"y\"","n":7,"list":[1,{"k":true}]}`},
		"a part of a part":           {func(x *types.Target) { x.InputPath = aws.String("$.detail.list[1]['k']") }, `true`},
		"nothing":                    {func(x *types.Target) { x.InputPath = aws.String("$.detail.list[7]") }, `null`},
		"values":                     {transform(`{"text":<a>,"n":<n>,"all":<list>}`, map[string]string{"a": "$.detail.a", "n": "$.detail.n", "list": "$.detail.list"}), `{"text":"x \"y\"","n":7,"all":[1,{"k":true}]}`},
		"texts":                      {transform(`"<a> is <n>, <list>"`, map[string]string{"a": "$.detail.a", "n": "$.detail.n", "list": "$.detail.list"}), `"x \"y\" is 7, [1,{\"k\":true}]"`},
		"a quote in a text":          {transform(`{"q":"\"<n>","v":<n>}`, map[string]string{"n": "$.detail.n"}), `{"q":"\"7","v":7}`},
		"what the event has not":     {transform(`{"a":<x>,"b":"[<x>]"}`, map[string]string{"x": "$.detail.missing"}), `{"a":"","b":"[]"}`},
		"a member with a dash":       {transform(`<t>`, map[string]string{"t": "$.detail-type"}), `"test"`},
		"where it comes from":        {transform(`"<aws.events.rule-name> <aws.events.rule-arn> <aws.events.event.ingestion-time>"`, nil), `"r ` + base + `rule/r 2000-01-01T00:00:00.000Z"`},
		"the event without detail":   {transform(`<aws.events.event>`, nil), `{"account":"123456789012","detail-type":"test","id":"ID","region":"eu-west-1","resources":["r1"],"source":"app","time":"2000-01-01T00:00:00Z","version":"0"}`},
		"the event with detail":      {transform(`{"e":<aws.events.event.json>}`, nil), `{"e":{"version":"0","id":"ID","detail-type":"test","source":"app","account":"123456789012","time":"2000-01-01T00:00:00Z","region":"eu-west-1","resources":["r1"],"detail":{"a":"x \"y\"","n":7,"list":[1,{"k":true}]}}}`},
		"no variable, so plain text": {transform(`"1 < 2 > 0 <b"`, nil), `"1 < 2 > 0 <b"`},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(l *landscape) {
				l.rule("r", `{"source":["app"]}`, to(queue, tc.change))
				id := l.put("app", `{"a":"x \"y\"","n":7,"list":[1,{"k":true}]}`)
				got := l.arrivals()
				want := strings.ReplaceAll(tc.want, "ID", id)
				if len(got) != 1 || got[0].body != want {
					t.Errorf("received %v, want %s", got, want)
				}
				if len(got) == 1 && !json.Valid([]byte(got[0].body)) {
					t.Errorf("%s is no JSON", got[0].body)
				}
			})
		})
	}
}

func TestRetriesAndDeadLetters(t *testing.T) {
	run(t, func(l *landscape) {
		l.rule("r", `{"source":["app"]}`, to(queue, func(x *types.Target) {
			x.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(2)}
			x.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(dead)}
		}))
		l.refuse[queue] = wire.Errorf("ServiceUnavailable", "down").WithStatus(503)
		l.put("app", `{}`)
		time.Sleep(time.Minute)
		if got := l.arrivals(); len(got) != 1 || got[0].target != dead || got[0].after != 3*time.Second {
			t.Errorf("arrivals are %v", got)
		}
	})
}

func TestScheduledRules(t *testing.T) {
	for _, tc := range []struct{ expression, want string }{
		{"rate(3 minutes)", "[3m0s 6m0s 9m0s]"},
		{"cron(0/4 * * * ? *)", "[4m0s 8m0s]"},
		{"cron(0 0 1 1 ? 1999)", "[]"},
	} {
		run(t, func(l *landscape) {
			l.rule("r", tc.expression, to(queue))
			time.Sleep(10*time.Minute + time.Second)
			if got := l.when(); got != tc.want {
				t.Errorf("%s runs at %s, want %s", tc.expression, got, tc.want)
			}
		})
	}
	run(t, func(l *landscape) {
		ctx, name := l.t.Context(), aws.String("r")
		l.rule("r", "rate(1 hour)", to(queue))
		time.Sleep(time.Hour)
		got := l.arrivals()
		var e map[string]any
		if len(got) != 1 || json.Unmarshal([]byte(got[0].body), &e) != nil {
			t.Fatalf("arrivals are %v", got)
		}
		if e["source"] != "aws.events" || e["detail-type"] != "Scheduled Event" || e["time"] != "2000-01-01T01:00:00Z" || fmt.Sprint(e["resources"], e["detail"]) != "["+base+"rule/r] map[]" {
			t.Errorf("event is %s", got[0].body)
		}
		must(l.DisableRule(ctx, &api.DisableRuleInput{Name: name}))
		time.Sleep(90 * time.Minute)
		must(l.EnableRule(ctx, &api.EnableRuleInput{Name: name}))
		time.Sleep(90 * time.Minute)
		if got := l.when(); got != "[3h30m0s]" {
			t.Errorf("after a pause, runs at %s", got)
		}
		must(l.RemoveTargets(ctx, &api.RemoveTargetsInput{Rule: name, Ids: []string{*to(queue).Id}}))
		must(l.DeleteRule(ctx, &api.DeleteRuleInput{Name: name}))
		time.Sleep(3 * time.Hour)
		if got := l.when(); got != "[]" {
			t.Errorf("a deleted rule runs at %s", got)
		}
	})
}

// TestBuses: rules of a bus see its events alone.
func TestBuses(t *testing.T) {
	run(t, func(l *landscape) {
		ctx, bus, name := l.t.Context(), aws.String("orders"), aws.String("r")
		arn := must(l.CreateEventBus(ctx, &api.CreateEventBusInput{Name: bus, Description: aws.String("d")})).EventBusArn
		if *arn != base+"event-bus/orders" {
			t.Errorf("ARN is %s", *arn)
		}
		if got := *must(l.PutRule(ctx, &api.PutRuleInput{Name: name, EventBusName: bus, EventPattern: aws.String(`{"source":["app"]}`)})).RuleArn; got != base+"rule/orders/r" {
			t.Errorf("ARN of its rule is %s", got)
		}
		must(l.PutTargets(ctx, &api.PutTargetsInput{Rule: name, EventBusName: arn, Targets: []types.Target{to(queue)}}))
		for _, tc := range []struct {
			bus  *string
			want int
		}{{nil, 0}, {bus, 1}, {arn, 1}, {aws.String("default"), 0}, {aws.String("nowhere"), 0}} {
			o := must(l.PutEvents(ctx, &api.PutEventsInput{Entries: []types.PutEventsRequestEntry{{Source: aws.String("app"), DetailType: aws.String("t"), Detail: aws.String("{}"), EventBusName: tc.bus}}}))
			if got := len(l.arrivals()); got != tc.want || o.FailedEntryCount != 0 {
				t.Errorf("bus %q: %d arrivals, want %d", aws.ToString(tc.bus), got, tc.want)
			}
		}
		if d := must(l.DescribeEventBus(ctx, &api.DescribeEventBusInput{})); *d.Name != "default" {
			t.Errorf("without a name, the bus is %s", *d.Name)
		}
		if d := must(l.DescribeEventBus(ctx, &api.DescribeEventBusInput{Name: bus})); *d.Arn != *arn || *d.Description != "d" {
			t.Errorf("bus is %+v", d)
		}
		if all := must(l.ListEventBuses(ctx, &api.ListEventBusesInput{})); len(all.EventBuses) != 2 {
			t.Errorf("%d buses", len(all.EventBuses))
		}
		for what, tc := range map[string]struct {
			err  error
			want string
		}{
			"the same bus again":        {second(l.CreateEventBus(ctx, &api.CreateEventBusInput{Name: bus})), "ResourceAlreadyExistsException"},
			"a name with a slash":       {second(l.CreateEventBus(ctx, &api.CreateEventBusInput{Name: aws.String("a/b")})), "ValidationException"},
			"a bus with rules":          {second(l.DeleteEventBus(ctx, &api.DeleteEventBusInput{Name: bus})), "ValidationException"},
			"the default bus":           {second(l.DeleteEventBus(ctx, &api.DeleteEventBusInput{Name: aws.String("default")})), "ValidationException"},
			"a bus that does not exist": {second(l.DescribeEventBus(ctx, &api.DescribeEventBusInput{Name: aws.String("x")})), "ResourceNotFoundException"},
			"nothing to delete":         {second(l.DeleteEventBus(ctx, &api.DeleteEventBusInput{Name: aws.String("x")})), ""},
			"a schedule of a bus":       {second(l.PutRule(ctx, &api.PutRuleInput{Name: name, EventBusName: bus, ScheduleExpression: aws.String("rate(1 hour)")})), "ValidationException"},
		} {
			if code(tc.err) != tc.want {
				t.Errorf("%s: %v, want %q", what, tc.err, tc.want)
			}
		}
	})
}
