package events_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

func TestRulesAndTargetsAreReturnedAsTheyAre(t *testing.T) {
	run(t, func(l *landscape) {
		ctx, name := l.t.Context(), aws.String("r1")
		must(l.PutRule(ctx, &api.PutRuleInput{Name: name, Description: aws.String("d"), EventPattern: aws.String(`{"source":["app"]}`), State: types.RuleStateDisabled, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}}))
		d := must(l.DescribeRule(ctx, &api.DescribeRuleInput{Name: name}))
		if *d.Arn != base+"rule/r1" || *d.Description != "d" || *d.EventPattern != `{"source":["app"]}` || d.State != "DISABLED" || *d.EventBusName != "default" || d.ScheduleExpression != nil {
			t.Errorf("rule is %+v", d)
		}
		must(l.PutRule(ctx, &api.PutRuleInput{Name: name, ScheduleExpression: aws.String("rate(1 hour)"), Tags: []types.Tag{{Key: aws.String("ignored"), Value: aws.String("v")}}}))
		d = must(l.DescribeRule(ctx, &api.DescribeRuleInput{Name: name}))
		if d.Description != nil || d.EventPattern != nil || d.State != "ENABLED" || *d.ScheduleExpression != "rate(1 hour)" {
			t.Errorf("the replaced rule is %+v", d)
		}
		l.rule("r2", `{"source":["app"]}`, to(queue), to(function, func(x *types.Target) { x.InputPath = aws.String("$.detail") }))
		l.rule("s", `{"source":["app"]}`, to(function))
		targets := must(l.ListTargetsByRule(ctx, &api.ListTargetsByRuleInput{Rule: aws.String("r2")})).Targets
		if len(targets) != 2 || *targets[0].Arn != function || *targets[0].InputPath != "$.detail" || *targets[1].Arn != queue {
			t.Errorf("targets are %+v", targets)
		}
		names := func(in api.ListRulesInput) (all []string) {
			for {
				o := must(l.ListRules(ctx, &in))
				for _, r := range o.Rules {
					all = append(all, *r.Name)
				}
				if in.NextToken = o.NextToken; in.NextToken == nil {
					return all
				}
			}
		}
		if got := fmt.Sprint(names(api.ListRulesInput{Limit: aws.Int32(1)}), names(api.ListRulesInput{NamePrefix: aws.String("r")})); got != "[r1 r2 s] [r1 r2]" {
			t.Errorf("rules are %s", got)
		}
		if got := must(l.ListRuleNamesByTarget(ctx, &api.ListRuleNamesByTargetInput{TargetArn: aws.String(function)})).RuleNames; fmt.Sprint(got) != "[r2 s]" {
			t.Errorf("rules of the function are %v", got)
		}
		must(l.TagResource(ctx, &api.TagResourceInput{ResourceARN: d.Arn, Tags: []types.Tag{{Key: aws.String("k2"), Value: aws.String("v2")}}}))
		must(l.UntagResource(ctx, &api.UntagResourceInput{ResourceARN: d.Arn, TagKeys: []string{"k"}}))
		if tags := must(l.ListTagsForResource(ctx, &api.ListTagsForResourceInput{ResourceARN: d.Arn})).Tags; len(tags) != 1 || *tags[0].Key != "k2" {
			t.Errorf("tags are %+v", tags)
		}
		removed := must(l.RemoveTargets(ctx, &api.RemoveTargetsInput{Rule: aws.String("s"), Ids: []string{"f", "x"}}))
		if removed.FailedEntryCount != 1 || *removed.FailedEntries[0].TargetId != "x" {
			t.Errorf("failed entries are %+v", removed.FailedEntries)
		}
	})
}

func TestRefusedRules(t *testing.T) {
	pattern := aws.String(`{"source":["app"]}`)
	for name, tc := range map[string]struct {
		in   api.PutRuleInput
		want string
	}{
		"neither pattern nor schedule": {api.PutRuleInput{Name: aws.String("r")}, "ValidationException"},
		"a pattern that is no JSON":    {api.PutRuleInput{Name: aws.String("r"), EventPattern: aws.String(`{"source":`)}, "InvalidEventPatternException"},
		"a pattern of nothing":         {api.PutRuleInput{Name: aws.String("r"), EventPattern: aws.String(`{}`)}, "InvalidEventPatternException"},
		"a long pattern":               {api.PutRuleInput{Name: aws.String("r"), EventPattern: aws.String(`{"source":["` + strings.Repeat("x", 4096) + `"]}`)}, "ValidationException"},
		"a schedule of one time":       {api.PutRuleInput{Name: aws.String("r"), ScheduleExpression: aws.String("at(2026-11-29T03:00:00)")}, "ValidationException"},
		"bad grammar":                  {api.PutRuleInput{Name: aws.String("r"), ScheduleExpression: aws.String("rate(1 minutes)")}, "ValidationException"},
		"no schedule at all":           {api.PutRuleInput{Name: aws.String("r"), ScheduleExpression: aws.String("rate(often)")}, "ValidationException"},
		"a name with a blank":          {api.PutRuleInput{Name: aws.String("a b"), EventPattern: pattern}, "ValidationException"},
		"an unknown state":             {api.PutRuleInput{Name: aws.String("r"), EventPattern: pattern, State: "PAUSED"}, "ValidationException"},
		"a long description":           {api.PutRuleInput{Name: aws.String("r"), EventPattern: pattern, Description: aws.String(strings.Repeat("x", 513))}, "ValidationException"},
		"a bus that does not exist":    {api.PutRuleInput{Name: aws.String("r"), EventPattern: pattern, EventBusName: aws.String("x")}, "ResourceNotFoundException"},
	} {
		run(t, func(l *landscape) {
			if _, err := l.PutRule(l.t.Context(), &tc.in); code(err) != tc.want {
				t.Errorf("%s: %v, want %s", name, err, tc.want)
			}
		})
	}
}

func TestRefusedTargets(t *testing.T) {
	transform := func(template string, paths map[string]string) *types.InputTransformer {
		return &types.InputTransformer{InputTemplate: &template, InputPathsMap: paths}
	}
	for name, change := range map[string]func(*types.Target){
		"another service":                func(x *types.Target) { x.Arn = aws.String("arn:aws:states:eu-west-1:123456789012:stateMachine:x") },
		"a FIFO queue":                   func(x *types.Target) { x.Arn = aws.String(queue + ".fifo") },
		"an ID with a blank":             func(x *types.Target) { x.Id = aws.String("a b") },
		"a role that is none":            func(x *types.Target) { x.RoleArn = aws.String("run") },
		"a dead-letter queue that is no": func(x *types.Target) { x.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String(topic)} },
		"too many retries":               func(x *types.Target) { x.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(186)} },
		"parameters of another":          func(x *types.Target) { x.SqsParameters = &types.SqsParameters{MessageGroupId: aws.String("g")} },
		"two inputs":                     func(x *types.Target) { x.Input, x.InputPath = aws.String("{}"), aws.String("$") },
		"an input that is no JSON":       func(x *types.Target) { x.Input = aws.String("hello") },
		"a path from nowhere":            func(x *types.Target) { x.InputPath = aws.String("detail") },
		"a path with a filter":           func(x *types.Target) { x.InputPath = aws.String("$.detail[?(@.x)]") },
		"a template without end":         func(x *types.Target) { x.InputTransformer = transform(`"x`, nil) },
		"a variable of nowhere":          func(x *types.Target) { x.InputTransformer = transform(`<x>`, nil) },
		"a variable of AWS":              func(x *types.Target) { x.InputTransformer = transform(`1`, map[string]string{"aws.x": "$.detail"}) },
		"a variable with a bad path":     func(x *types.Target) { x.InputTransformer = transform(`<x>`, map[string]string{"x": "detail"}) },
	} {
		run(t, func(l *landscape) {
			ctx := l.t.Context()
			l.rule("r", `{"source":["app"]}`)
			if _, err := l.PutTargets(ctx, &api.PutTargetsInput{Rule: aws.String("r"), Targets: []types.Target{to(queue, change)}}); code(err) != "ValidationException" {
				t.Errorf("%s: %v, want ValidationException", name, err)
			}
			if got := must(l.ListTargetsByRule(ctx, &api.ListTargetsByRuleInput{Rule: aws.String("r")})); len(got.Targets) != 0 {
				t.Errorf("%s: the target is there", name)
			}
		})
	}
}

func TestLimitsAndMissingRules(t *testing.T) {
	run(t, func(l *landscape) {
		ctx, none := l.t.Context(), aws.String("none")
		l.rule("r", `{"source":["app"]}`, to(queue))
		var six []types.Target
		for n := range 6 {
			six = append(six, types.Target{Id: aws.String(fmt.Sprint(n)), Arn: aws.String(queue)})
		}
		for what, tc := range map[string]struct {
			err  error
			want string
		}{
			"PutTargets with six":   {second(l.PutTargets(ctx, &api.PutTargetsInput{Rule: aws.String("r"), Targets: six})), "LimitExceededException"},
			"DeleteRule in use":     {second(l.DeleteRule(ctx, &api.DeleteRuleInput{Name: aws.String("r")})), "ValidationException"},
			"DeleteRule":            {second(l.DeleteRule(ctx, &api.DeleteRuleInput{Name: none})), ""},
			"DescribeRule":          {second(l.DescribeRule(ctx, &api.DescribeRuleInput{Name: none})), "ResourceNotFoundException"},
			"EnableRule":            {second(l.EnableRule(ctx, &api.EnableRuleInput{Name: none})), "ResourceNotFoundException"},
			"DisableRule":           {second(l.DisableRule(ctx, &api.DisableRuleInput{Name: none})), "ResourceNotFoundException"},
			"PutTargets":            {second(l.PutTargets(ctx, &api.PutTargetsInput{Rule: none, Targets: six[:1]})), "ResourceNotFoundException"},
			"RemoveTargets":         {second(l.RemoveTargets(ctx, &api.RemoveTargetsInput{Rule: none, Ids: []string{"1"}})), "ResourceNotFoundException"},
			"ListTargetsByRule":     {second(l.ListTargetsByRule(ctx, &api.ListTargetsByRuleInput{Rule: none})), "ResourceNotFoundException"},
			"TagResource":           {second(l.TagResource(ctx, &api.TagResourceInput{ResourceARN: aws.String(base + "rule/none"), Tags: []types.Tag{{Key: none, Value: none}}})), "ResourceNotFoundException"},
			"ListRules of 101":      {second(l.ListRules(ctx, &api.ListRulesInput{Limit: aws.Int32(101)})), "ValidationException"},
			"ListRules by no token": {second(l.ListRules(ctx, &api.ListRulesInput{NextToken: aws.String("x")})), "ValidationException"},
		} {
			if code(tc.err) != tc.want {
				t.Errorf("%s: %v, want %q", what, tc.err, tc.want)
			}
		}
	})
}

func TestTestEventPattern(t *testing.T) {
	const event = `{"id":"1","source":"a","detail-type":"t","account":"111122223333","time":"2026-01-01T00:00:00Z","region":"us-east-1","resources":[],"detail":{}}`
	run(t, func(l *landscape) {
		for _, tc := range []struct {
			pattern, event string
			result         bool
			want           string
		}{
			{`{"source":["a"]}`, event, true, ""},
			{`{"source":["b"]}`, event, false, ""},
			{`{"source":"a"}`, event, false, "InvalidEventPatternException"},
			{`{"source":["a"]}`, `{"source":"a"}`, false, "ValidationException"},
			{`{"source":["a"]}`, `x`, false, "ValidationException"},
		} {
			o, err := l.TestEventPattern(l.t.Context(), &api.TestEventPatternInput{EventPattern: &tc.pattern, Event: &tc.event})
			if code(err) != tc.want || err == nil && o.Result != tc.result {
				t.Errorf("%s: %+v, %v, want %t %s", tc.pattern, o, err, tc.result, tc.want)
			}
		}
	})
}
