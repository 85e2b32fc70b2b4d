package ssm

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxContent is the largest document.
// https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm
const maxContent = 64 << 10

// content is a parsed Command document of schema 2.2.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-schemas-features.html
type content struct {
	SchemaVersion string                    `json:"schemaVersion"`
	Description   string                    `json:"description"`
	Parameters    map[string]*parameterSpec `json:"parameters"`
	MainSteps     []step                    `json:"mainSteps"`
}

// parameterSpec declares one parameter.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html
type parameterSpec struct {
	Type              string `json:"type"`
	Description       string `json:"description"`
	Default           any    `json:"default"`
	AllowedValues     []any  `json:"allowedValues"`
	AllowedPattern    string `json:"allowedPattern"`
	MinChars          *int   `json:"minChars"`
	MaxChars          *int   `json:"maxChars"`
	MinItems          *int   `json:"minItems"`
	MaxItems          *int   `json:"maxItems"`
	InterpolationType string `json:"interpolationType"`

	pattern *regexp.Regexp
}

// interpolationEnv gives a parameter to the script as an environment variable,
// SSM_<name>, instead of pasting it into its text.
const interpolationEnv = "ENV_VAR"

type step struct {
	Action       string         `json:"action"`
	Name         string         `json:"name"`
	Precondition map[string]any `json:"precondition"`
	Inputs       map[string]any `json:"inputs"`
	OnFailure    string         `json:"onFailure"`
}

const actionShell = "aws:runShellScript"

// actions are what a document may hold. Steps for Windows are skipped.
var actions = []string{actionShell, "aws:runPowerShellScript"}

func badContent(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidDocumentContent", format, args...)
}

// parse reads and checks a document.
func parse(text string) (*content, error) {
	if len(text) > maxContent {
		return nil, wire.Errorf("MaxDocumentSizeExceeded", "The document has %d bytes, the maximum is %d", len(text), maxContent)
	}
	var c content
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, badContent("JSON not well-formed: %v", err)
	}
	if c.SchemaVersion != "2.2" {
		return nil, badContent("schemaVersion %q is not supported by the sandbox: use 2.2", c.SchemaVersion)
	}
	for name, p := range c.Parameters {
		if p == nil {
			return nil, badContent("parameter %q has no declaration", name)
		}
		if err := p.check(name); err != nil {
			return nil, err
		}
	}
	if len(c.MainSteps) == 0 {
		return nil, badContent("the document has no mainSteps")
	}
	names := map[string]bool{}
	for _, s := range c.MainSteps {
		if err := c.checkStep(s); err != nil {
			return nil, err
		}
		if names[s.Name] {
			return nil, badContent("the step name %q is used twice", s.Name)
		}
		names[s.Name] = true
	}
	return &c, nil
}

var (
	parameterName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	stepName      = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

func (p *parameterSpec) check(name string) error {
	if !parameterName.MatchString(name) {
		return badContent("parameter name %q is not valid", name)
	}
	switch p.Type {
	case typeString, typeStringList, typeInteger, typeBoolean:
	default:
		return badContent("parameter %q: type %q is not supported by the sandbox", name, p.Type)
	}
	if p.InterpolationType != "" && (p.InterpolationType != interpolationEnv || p.Type != typeString) {
		return badContent("parameter %q: interpolationType %q is not valid for type %s", name, p.InterpolationType, p.Type)
	}
	if p.AllowedPattern == "" {
		return nil
	}
	var err error
	if p.pattern, err = regexp.Compile(p.AllowedPattern); err != nil {
		return badContent("parameter %q: the sandbox cannot read allowedPattern: %v", name, err)
	}
	return nil
}

func (c *content) checkStep(s step) error {
	if !stepName.MatchString(s.Name) {
		return badContent("step name %q is not valid", s.Name)
	}
	if !slices.Contains(actions, s.Action) {
		return badContent("step %q: the sandbox does not run action %q", s.Name, s.Action)
	}
	if _, ok := s.Inputs["runCommand"]; !ok {
		return badContent("step %q has no input runCommand", s.Name)
	}
	switch s.OnFailure {
	case "", "exit", "successAndExit":
	default:
		return badContent("step %q: onFailure %q is not valid", s.Name, s.OnFailure)
	}
	for condition := range s.Precondition {
		if condition != "StringEquals" {
			return badContent("step %q: precondition %q is not supported", s.Name, condition)
		}
	}
	for name := range references(map[string]any{"inputs": s.Inputs, "precondition": s.Precondition}) {
		if c.Parameters[name] == nil {
			return badContent("step %q uses the parameter %q, which is not declared", s.Name, name)
		}
	}
	return nil
}
