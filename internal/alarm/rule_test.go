package alarm

import (
	"cmp"
	"errors"
	"strings"
	"testing"
)

// faults maps the error kinds of the expected values.
var faults = map[string]RuleFault{
	"at_least_bad_state":              RuleBadState,
	"at_least_bad_threshold":          RuleBadThreshold,
	"at_least_empty_list":             RuleEmptyList,
	"at_least_threshold_out_of_range": RuleThresholdRange,
	"bracket_in_unquoted_name":        RuleBracketInName,
	"comma_in_unquoted_name":          RuleCommaInName,
	"empty":                           RuleEmpty,
	"incomplete":                      RuleIncomplete,
	"other_account":                   RuleOtherAccount,
	"self_reference":                  RuleSelfReference,
	"space_in_unquoted_name":          RuleSpaceInName,
	"too_long":                        RuleTooLong,
	"too_many_children":               RuleTooManyChildren,
	"too_many_elements":               RuleTooManyElements,
	"unbalanced_parenthesis":          RuleUnbalanced,
	"unexpected_token":                RuleUnexpected,
	"unknown_alarm":                   RuleUnknownAlarm,
	"unknown_function":                RuleUnknownFunction,
	"unterminated_quote":              RuleUnterminatedQuote,
	"wrong_region":                    RuleOtherRegion,
}

func TestCompositeRules(t *testing.T) {
	type row struct {
		ID, Expression string
		Valid          *bool
		Children       map[string]State
		Result         bool
		Kind           string   `json:"error_kind"`
		Known          []string `json:"known_alarms"`
		Account        string
		Region         string
		Name           string `json:"composite_name"`
	}
	for _, r := range oracle[row](t, "composite_rules.json") {
		if r.Valid == nil {
			continue // behaviour of the service, tested there
		}
		t.Run(r.ID, func(t *testing.T) {
			rule, err := ParseRule(r.Expression)
			if err == nil && !*r.Valid {
				exists := func(name string) bool {
					if r.Known == nil {
						return true
					}
					for _, k := range r.Known {
						if k == name {
							return true
						}
					}
					return false
				}
				err = rule.Check(cmp.Or(r.Name, "the-composite"), r.Account, r.Region, exists)
			}
			if !*r.Valid {
				var fault *RuleError
				if !errors.As(err, &fault) || fault.Fault != faults[r.Kind] {
					t.Fatalf("error %v, want %s", err, r.Kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rule.Children() {
				if _, ok := r.Children[c.Name]; !ok {
					t.Errorf("child %q, want one of %v", c.Name, r.Children)
				}
			}
			if len(rule.Children()) != len(r.Children) {
				t.Errorf("%d children, want %d", len(rule.Children()), len(r.Children))
			}
			if got := rule.Eval(func(name string) State { return r.Children[name] }); got != r.Result {
				t.Errorf("%s is %t, want %t", r.Expression, got, r.Result)
			}
		})
	}
}

func TestRuleSyntax(t *testing.T) {
	for _, c := range []struct {
		rule  string
		want  bool
		fault RuleFault
	}{
		{rule: "NOT TRUE OR TRUE", want: true},
		{rule: "NOT (TRUE OR TRUE)", want: false},
		{rule: "TRUE OR TRUE AND FALSE", want: true},
		{rule: "NOT NOT ALARM(a)", want: true},
		{rule: `ALARM("a\"b")`, want: true},
		{rule: `ALARM("a\\b")`, want: true},
		{rule: "\n ALARM(a)\tAND\r\nTRUE ", want: true},
		{rule: "AT_LEAST(34%, ALARM, (a, o1, o2))", want: false},
		{rule: `AT_LEAST( 1 , NOT  OK , ( "a" , o1 ) )`, want: true},
		{rule: "ALARM(a", fault: RuleUnbalanced},
		{rule: "ALARM", fault: RuleUnbalanced},
		{rule: "ALARM()", fault: RuleUnexpected},
		{rule: `ALARM("a`, fault: RuleUnterminatedQuote},
		{rule: `ALARM("a" "b")`, fault: RuleUnexpected},
		{rule: "()", fault: RuleUnexpected},
		{rule: "NOT", fault: RuleIncomplete},
		{rule: "TRUE, FALSE", fault: RuleUnexpected},
		{rule: "AT_LEAST(-1, ALARM, (a))", fault: RuleBadThreshold},
		{rule: "AT_LEAST(101%, ALARM, (a))", fault: RuleThresholdRange},
		{rule: "AT_LEAST(99999999999999999999, ALARM, (a))", fault: RuleThresholdRange},
		{rule: "AT_LEAST(1, ALARM, (a,))", fault: RuleUnexpected},
		{rule: "AT_LEAST(1, ALARM, (a)", fault: RuleUnbalanced},
		{rule: strings.Repeat("(", 3000) + "TRUE", fault: RuleTooManyElements},
	} {
		rule, err := ParseRule(c.rule)
		var fault *RuleError
		switch {
		case c.fault != "":
			if !errors.As(err, &fault) || fault.Fault != c.fault {
				t.Errorf("%q: error %v, want %s", c.rule, err, c.fault)
			}
		case err != nil:
			t.Errorf("%q: %v", c.rule, err)
		default:
			got := rule.Eval(func(name string) State {
				if strings.HasPrefix(name, "a") {
					return Alarm
				}
				return OK
			})
			if got != c.want {
				t.Errorf("%q is %t, want %t", c.rule, got, c.want)
			}
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{`ALARM("a") AND NOT (OK(b) OR TRUE)`, "AT_LEAST(50%, NOT OK, (a, b))", `ALARM("\"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rule, err := ParseRule(s)
		if (rule == nil) == (err == nil) {
			t.Fatalf("rule %v and error %v", rule, err)
		}
		if err != nil {
			_ = err.Error()
			return
		}
		rule.Eval(func(string) State { return OK })
		if n := len(rule.Children()); n > MaxRuleChildren {
			t.Fatalf("%d children", n)
		}
	})
}
