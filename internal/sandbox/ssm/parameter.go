package ssm

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type parameter struct {
	name, description string
	kind              types.ParameterType
	tier              types.ParameterTier
	pattern           string
	dataType          string
	values            []parameterValue // by version, from 1
}

type parameterValue struct {
	text string
	at   time.Time
	by   string
}

// Limits of parameters: https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm
const (
	maxStandardValue = 4 << 10
	maxAdvancedValue = 8 << 10
	maxName          = 1011
	maxDepth         = 15
)

var parameterPath = regexp.MustCompile(`^[a-zA-Z0-9_.\-/]+$`)

func checkName(name string) error {
	trimmed := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case len(name) > maxName || !parameterPath.MatchString(name):
		return validation("Parameter name %q: only letters, digits and _.-/ are allowed", name)
	case strings.HasPrefix(trimmed, "aws") || strings.HasPrefix(trimmed, "ssm"):
		return validation("Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive): %q", name)
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return validation("Parameter name must be a fully qualified name: %q", name)
	case strings.Count(name, "/") > maxDepth:
		return wire.Errorf("HierarchyLevelLimitExceededException", "A parameter has at most %d levels: %q", maxDepth, name)
	}
	return nil
}

// PutParameter makes a parameter, or a new version of one with Overwrite.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
func (s *SSM) PutParameter(r *wire.Request, in *ssm.PutParameterInput) (*ssm.PutParameterOutput, error) {
	name, value := aws.ToString(in.Name), aws.ToString(in.Value)
	if err := checkName(name); err != nil {
		return nil, err
	}
	if value == "" {
		return nil, validation("Parameter %s needs a value", name)
	}
	if len(in.Tags) > 0 && aws.ToBool(in.Overwrite) {
		return nil, validation("Invalid request: tags and overwrite can't be used together. To add tags to the existing parameter %s, use AddTagsToResource.", name)
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	p, exists := reg.parameters[name]
	switch {
	case exists && !aws.ToBool(in.Overwrite):
		return nil, wire.Errorf("ParameterAlreadyExists", "The parameter %s already exists. To overwrite this value, set the overwrite option in the request to true.", name)
	case exists && in.Type != "" && in.Type != p.kind:
		return nil, wire.Errorf("HierarchyTypeMismatchException", "The type of parameter %s cannot change from %s to %s", name, p.kind, in.Type)
	case !exists && in.Type == "":
		return nil, validation("The request to create parameter %s needs a type", name)
	case !exists:
		p = &parameter{name: name, kind: in.Type, tier: types.ParameterTierStandard, dataType: "text"}
	}
	pattern, tier := p.pattern, p.tier
	if in.AllowedPattern != nil {
		pattern = *in.AllowedPattern
	}
	if in.Tier == types.ParameterTierAdvanced {
		tier = types.ParameterTierAdvanced
	}
	if err := checkValue(name, value, pattern, tier); err != nil {
		return nil, err
	}
	if err := reg.tag(tagged{types.ResourceTypeForTaggingParameter, name}, in.Tags); err != nil {
		return nil, err
	}
	p.pattern, p.tier = pattern, tier
	if in.Description != nil {
		p.description = *in.Description
	}
	if in.DataType != nil {
		p.dataType = *in.DataType
	}
	p.values = append(p.values, parameterValue{text: value, at: s.world.Clock.Now(), by: r.Caller.ARN})
	reg.parameters[name] = p
	return &ssm.PutParameterOutput{Version: int64(len(p.values)), Tier: p.tier}, nil
}

func checkValue(name, value, pattern string, tier types.ParameterTier) error {
	limit := maxStandardValue
	if tier == types.ParameterTierAdvanced {
		limit = maxAdvancedValue
	}
	if len(value) > limit {
		return validation("The value of parameter %s has %d bytes; tier %s allows %d", name, len(value), tier, limit)
	}
	if pattern == "" {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return wire.Errorf("InvalidAllowedPatternException", "The allowed pattern of parameter %s cannot be read: %v", name, err)
	}
	if !re.MatchString(value) {
		return wire.Errorf("ParameterPatternMismatchException", "Parameter value, cannot be validated against allowedPattern: %s", pattern)
	}
	return nil
}

// publicParameter is a parameter of AWS's own that names an image.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-public-parameters-ami.html
func (reg *region) publicParameter(name string) *parameter {
	if !strings.HasPrefix(name, "/aws/service/ami-amazon-linux-latest/") {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(reg.scope.region + name)) // never fails
	v := parameterValue{text: fmt.Sprintf("ami-0%016x", h.Sum64()), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return &parameter{name: name, kind: types.ParameterTypeString, tier: types.ParameterTierStandard, dataType: "aws:ec2:image", values: []parameterValue{v}}
}

// read returns a parameter by name, ARN or name:version.
func (reg *region) read(id string, decrypt bool) (types.Parameter, error) {
	name, selector := id, ""
	if rest, ok := strings.CutPrefix(id, "arn:"); ok {
		_, name, _ = strings.Cut(rest, ":parameter")
	}
	if n, v, ok := strings.Cut(name, ":"); ok {
		name, selector = n, v
	}
	p := reg.parameters[name]
	if p == nil {
		p = reg.publicParameter(name)
	}
	if p == nil {
		return types.Parameter{}, wire.Errorf("ParameterNotFound", "Parameter %s not found.", id)
	}
	n := len(p.values)
	if selector != "" {
		var err error
		if n, err = strconv.Atoi(selector); err != nil || n < 1 || n > len(p.values) {
			return types.Parameter{}, wire.Errorf("ParameterVersionNotFound", "Parameter %s has no version %s", name, selector)
		}
	}
	shown := p.show(reg, n, decrypt)
	if selector != "" {
		shown.Selector = aws.String(":" + selector)
	}
	return shown, nil
}

func (p *parameter) show(reg *region, version int, decrypt bool) types.Parameter {
	v := p.values[version-1]
	text := v.text
	if p.kind == types.ParameterTypeSecureString && !decrypt {
		text = base64.StdEncoding.EncodeToString([]byte("sealed by the sandbox:" + text))
	}
	return types.Parameter{
		Name: aws.String(p.name), ARN: aws.String(reg.arn("parameter/" + strings.TrimPrefix(p.name, "/"))), Type: p.kind, Value: aws.String(text),
		Version: int64(version), LastModifiedDate: aws.Time(v.at), DataType: aws.String(p.dataType),
	}
}

// GetParameter reads one parameter.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func (s *SSM) GetParameter(r *wire.Request, in *ssm.GetParameterInput) (*ssm.GetParameterOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	p, err := reg.read(aws.ToString(in.Name), aws.ToBool(in.WithDecryption))
	if err != nil {
		return nil, err
	}
	return &ssm.GetParameterOutput{Parameter: &p}, nil
}

// GetParameters reads several parameters and names those that are not there.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html
func (s *SSM) GetParameters(r *wire.Request, in *ssm.GetParametersInput) (*ssm.GetParametersOutput, error) {
	if len(in.Names) < 1 || len(in.Names) > 10 {
		return nil, validation("GetParameters takes 1 to 10 names, not %d", len(in.Names))
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	out := &ssm.GetParametersOutput{}
	for _, name := range in.Names {
		p, err := reg.read(name, aws.ToBool(in.WithDecryption))
		if err != nil {
			out.InvalidParameters = append(out.InvalidParameters, name)
			continue
		}
		out.Parameters = append(out.Parameters, p)
	}
	return out, nil
}

// GetParametersByPath reads the parameters below a path: one level, or all.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParametersByPath.html
func (s *SSM) GetParametersByPath(r *wire.Request, in *ssm.GetParametersByPathInput) (*ssm.GetParametersByPathOutput, error) {
	path := aws.ToString(in.Path)
	if !strings.HasPrefix(path, "/") {
		return nil, validation("The parameter path %q must begin with /", path)
	}
	if len(in.ParameterFilters) > 0 {
		return nil, wire.Errorf("InvalidFilterKey", "The sandbox does not filter GetParametersByPath")
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	var all []types.Parameter
	for _, name := range slices.Sorted(maps.Keys(reg.parameters)) {
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(path, "/")+"/")
		if ok && (aws.ToBool(in.Recursive) || !strings.Contains(rest, "/")) {
			p := reg.parameters[name]
			all = append(all, p.show(reg, len(p.values), aws.ToBool(in.WithDecryption)))
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 10)
	return &ssm.GetParametersByPathOutput{Parameters: shown, NextToken: next}, err
}
