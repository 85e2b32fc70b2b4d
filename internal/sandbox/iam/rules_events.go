package iam

import "strings"

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html
var eventsRules = map[string]rule{
	"PutRule":               by(busRule("events:PutRule")).and(passing("RoleArn", "events.amazonaws.com"), taggingRule),
	"DescribeRule":          by(busRule("events:DescribeRule")),
	"EnableRule":            by(busRule("events:EnableRule")),
	"DisableRule":           by(busRule("events:DisableRule")),
	"DeleteRule":            by(busRule("events:DeleteRule")),
	"ListRules":             on(),
	"PutTargets":            by(busRule("events:PutTargets")).with(key("events:TargetArn", "Targets.Arn")).and(passing("Targets.RoleArn", "events.amazonaws.com")),
	"RemoveTargets":         by(busRule("events:RemoveTargets")),
	"ListTargetsByRule":     by(busRule("events:ListTargetsByRule")),
	"ListRuleNamesByTarget": on(),
	"PutEvents":             by(putEvents).with(key("events:source", "Entries.Source"), key("events:detail-type", "Entries.DetailType")),
	"TestEventPattern":      on(),
	"CreateEventBus":        on("event-bus/{Name}").and(tagging("events:TagResource", "event-bus/{Name}")),
	"DescribeEventBus":      by(describeBus),
	"DeleteEventBus":        on("event-bus/{Name}"),
	"ListEventBuses":        on(),
	"TagResource":           on("{ResourceARN}"),
	"UntagResource":         on("{ResourceARN}"),
	"ListTagsForResource":   on("{ResourceARN}"),
}

// busRule asks for a rule, in whose ARN the default bus has no name.
func busRule(action string) func(*call) []permission {
	return func(c *call) []permission {
		name := field(c.input, "Name")
		if name == "" {
			name = field(c.input, "Rule")
		}
		bus := field(c.input, "EventBusName")
		if bus = bus[strings.LastIndex(bus, "/")+1:]; bus != "" && bus != "default" {
			name = bus + "/" + name
		}
		return want(action, c.base()+"rule/"+name)
	}
}

func taggingRule(c *call) []permission {
	if len(pairs(c.input, "Tags")) == 0 {
		return nil
	}
	return busRule("events:TagResource")(c)
}

// putEvents asks for each bus that an entry names, and for the default one if
// some entries, all of which have a source, name none.
func putEvents(c *call) []permission {
	buses := fields(c.input, "Entries.EventBusName")
	if len(buses) < len(fields(c.input, "Entries.Source")) || len(buses) == 0 {
		buses = append(buses, "default")
	}
	return want("events:PutEvents", c.buses(buses)...)
}

func describeBus(c *call) []permission {
	buses := fields(c.input, "Name")
	if len(buses) == 0 {
		buses = []string{"default"}
	}
	return want("events:DescribeEventBus", c.buses(buses)...)
}

// buses are the ARNs of buses, each given by its name or ARN.
func (c *call) buses(names []string) []string {
	var out []string
	for _, name := range names {
		if !strings.HasPrefix(name, "arn:") {
			name = c.base() + "event-bus/" + name
		}
		out = append(out, name)
	}
	return out
}
