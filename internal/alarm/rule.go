package alarm

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of a composite alarm's rule.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
const (
	MaxRuleLength   = 10240 // characters
	MaxRuleChildren = 100
	MaxRuleElements = 500 // child alarms, TRUE, FALSE and parentheses
)

// RuleFault classifies what is wrong with a rule.
type RuleFault string

// Faults of rules.
const (
	RuleEmpty             RuleFault = "empty rule"
	RuleTooLong           RuleFault = "rule too long"
	RuleTooManyChildren   RuleFault = "too many child alarms"
	RuleTooManyElements   RuleFault = "too many elements"
	RuleUnbalanced        RuleFault = "unbalanced parenthesis"
	RuleUnexpected        RuleFault = "unexpected text"
	RuleIncomplete        RuleFault = "incomplete expression"
	RuleUnknownFunction   RuleFault = "unknown function"
	RuleSpaceInName       RuleFault = "space in an unquoted alarm name"
	RuleCommaInName       RuleFault = "comma in an unquoted alarm name"
	RuleBracketInName     RuleFault = "parenthesis in an unquoted alarm name"
	RuleUnterminatedQuote RuleFault = "unterminated quote"
	RuleBadThreshold      RuleFault = "AT_LEAST threshold is no whole number or percentage"
	RuleThresholdRange    RuleFault = "AT_LEAST threshold out of range"
	RuleBadState          RuleFault = "AT_LEAST state condition unknown"
	RuleEmptyList         RuleFault = "AT_LEAST without alarms"
	RuleUnknownAlarm      RuleFault = "unknown alarm"
	RuleOtherAccount      RuleFault = "alarm of another account"
	RuleOtherRegion       RuleFault = "alarm of another Region"
	RuleSelfReference     RuleFault = "alarm refers to itself"
)

// RuleError says what is wrong with a rule and where.
type RuleError struct {
	Fault  RuleFault
	Offset int    // byte offset in the rule
	Near   string // the text at fault, or ""
}

func (e *RuleError) Error() string {
	if e.Near == "" {
		return fmt.Sprintf("alarm rule: %s at offset %d", e.Fault, e.Offset)
	}
	return fmt.Sprintf("alarm rule: %s at offset %d: %q", e.Fault, e.Offset, e.Near)
}

// Reference names a child alarm.
type Reference struct {
	Name    string
	Account string // "" if referred to by name only
	Region  string // "" if referred to by name only

	offset int
}

// ParseReference reads an alarm name or alarm ARN.
func ParseReference(s string) Reference {
	f := strings.SplitN(s, ":", 7)
	if len(f) == 7 && f[0] == "arn" && f[2] == "cloudwatch" && f[5] == "alarm" {
		return Reference{Name: f[6], Region: f[3], Account: f[4]}
	}
	return Reference{Name: s}
}

// Rule is a parsed rule of a composite alarm.
type Rule struct {
	root     ruleNode
	children []Reference // distinct, in order of appearance
}

// Children returns the alarms that the rule refers to, each once.
func (r *Rule) Children() []Reference { return slices.Clone(r.children) }

// Eval evaluates the rule over the states of its children.
func (r *Rule) Eval(state func(name string) State) bool { return r.root.eval(state) }

// Refers reports whether name is a child.
func (r *Rule) Refers(name string) bool {
	return slices.ContainsFunc(r.children, func(c Reference) bool { return c.Name == name })
}

// Check verifies the references of the rule of the composite alarm self: same
// account, same Region, not itself, and existing.
func (r *Rule) Check(self, account, region string, exists func(name string) bool) error {
	for _, c := range r.children {
		fault := RuleFault("")
		switch {
		case c.Account != "" && c.Account != account:
			fault = RuleOtherAccount
		case c.Region != "" && c.Region != region:
			fault = RuleOtherRegion
		case c.Name == self:
			fault = RuleSelfReference
		case !exists(c.Name):
			fault = RuleUnknownAlarm
		}
		if fault != "" {
			return &RuleError{Fault: fault, Offset: c.offset, Near: c.Name}
		}
	}
	return nil
}

type ruleNode interface {
	eval(state func(string) State) bool
}

type (
	ruleConstant bool
	ruleNot      struct{ of ruleNode }
	ruleAnd      []ruleNode
	ruleOr       []ruleNode
	ruleState    struct {
		name string
		is   State
		not  bool
	}
	ruleAtLeast struct {
		need int
		of   []ruleState
	}
)

func (c ruleConstant) eval(func(string) State) bool { return bool(c) }
func (n ruleNot) eval(s func(string) State) bool    { return !n.of.eval(s) }

func (n ruleState) eval(s func(string) State) bool { return (s(n.name) == n.is) != n.not }

func (n ruleAnd) eval(s func(string) State) bool {
	for _, x := range n {
		if !x.eval(s) {
			return false
		}
	}
	return true
}

func (n ruleOr) eval(s func(string) State) bool {
	for _, x := range n {
		if x.eval(s) {
			return true
		}
	}
	return false
}

func (n ruleAtLeast) eval(s func(string) State) bool {
	met := 0
	for _, x := range n.of {
		if x.eval(s) {
			met++
		}
	}
	return met >= n.need
}
