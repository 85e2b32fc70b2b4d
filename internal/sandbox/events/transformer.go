package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// transformer fills variables into a template.
type transformer struct {
	variables map[string]path
	parts     []part
}

// part is a piece of a template: text or a variable.
type part struct {
	text     string
	variable string
	quoted   bool // inside of a JSON string
}

// origin is what the reserved variables tell about an event's way.
type origin struct{ ruleARN, ruleName, ingested string }

// reserved are the variables that every template may use.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html#eb-transform-input-predefined
const (
	ruleARNVariable  = "aws.events.rule-arn"
	ruleNameVariable = "aws.events.rule-name"
	ingestedVariable = "aws.events.event.ingestion-time"
	eventVariable    = "aws.events.event"      // without detail
	jsonVariable     = "aws.events.event.json" // with detail
)

var variable = regexp.MustCompile(`<([A-Za-z0-9_.-]+)>`)

// maxVariables is how many variables a transformer may have.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_InputTransformer.html
const maxVariables = 100

func parseTransformer(t *types.InputTransformer) (*transformer, error) {
	template := aws.ToString(t.InputTemplate)
	switch {
	case template == "" || len(template) > maxTemplate:
		return nil, fmt.Errorf("InputTemplate has between 1 and %d characters", maxTemplate)
	case len(t.InputPathsMap) > maxVariables:
		return nil, fmt.Errorf("InputPathsMap has at most %d entries", maxVariables)
	}
	x := &transformer{variables: map[string]path{}}
	for name, text := range t.InputPathsMap {
		if strings.HasPrefix(strings.ToUpper(name), "AWS") {
			return nil, errors.New("InputPathsMap has a name that begins with AWS")
		}
		p, err := parsePath(text)
		if err != nil {
			return nil, fmt.Errorf("InputPathsMap: %w", err)
		}
		x.variables[name] = p
	}
	return x, x.parse(template)
}

// parse splits a template into text and variables.
func (x *transformer) parse(template string) error {
	inside, escaped := false, false
	text := func(s string) {
		for _, c := range s {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				inside = !inside
			}
		}
		x.parts = append(x.parts, part{text: s})
	}
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(template, -1) {
		name := template[m[2]:m[3]]
		_, own := x.variables[name]
		switch name {
		case ruleARNVariable, ruleNameVariable, ingestedVariable, eventVariable, jsonVariable:
			own = true
		}
		if !own {
			return fmt.Errorf("InputTemplate uses <%s>, which InputPathsMap does not have", name)
		}
		text(template[end:m[0]])
		x.parts = append(x.parts, part{variable: name, quoted: inside})
		end = m[1]
	}
	text(template[end:])
	if inside {
		return errors.New("InputTemplate has a string without an end")
	}
	return nil
}

// resolve returns the JSON that a variable stands for. What the event does not
// have is an empty text.
func (x *transformer) resolve(name string, event []byte, r origin) json.RawMessage {
	switch name {
	case ruleARNVariable:
		return quote(r.ruleARN)
	case ruleNameVariable:
		return quote(r.ruleName)
	case ingestedVariable:
		return quote(r.ingested)
	case jsonVariable:
		return event
	case eventVariable:
		return withoutDetail(event)
	}
	if v := x.variables[name].find(event); v != nil {
		return v
	}
	return quote("")
}

func quote(s string) json.RawMessage {
	b, err := toJSON(s)
	if err != nil { // texts always marshal
		return json.RawMessage(`""`)
	}
	return b
}

func withoutDetail(event []byte) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(event, &members) != nil {
		return event
	}
	delete(members, "detail")
	b, err := toJSON(members)
	if err != nil { // it was JSON before
		return event
	}
	return b
}

// apply fills in the variables: as JSON where the template has a value, and
// within a string as the text itself.
func (x *transformer) apply(event []byte, r origin) []byte {
	var out []byte
	for _, p := range x.parts {
		if p.variable == "" {
			out = append(out, p.text...)
			continue
		}
		v := x.resolve(p.variable, event, r)
		if p.quoted {
			v = inString(v)
		}
		out = append(out, v...)
	}
	return out
}

// inString returns a value as it stands inside of a JSON string.
func inString(v json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(v, &text) == nil {
		q := quote(text)
		return q[1 : len(q)-1]
	}
	q := quote(string(v))
	return q[1 : len(q)-1]
}
