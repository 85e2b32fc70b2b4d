package ssm

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// DeleteParameter removes a parameter with its versions.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DeleteParameter.html
func (s *SSM) DeleteParameter(r *wire.Request, in *ssm.DeleteParameterInput) (*ssm.DeleteParameterOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	name := aws.ToString(in.Name)
	if !reg.drop(name) {
		return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", name)
	}
	return &ssm.DeleteParameterOutput{}, nil
}

// DeleteParameters removes parameters and names those that were not there.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DeleteParameters.html
func (s *SSM) DeleteParameters(r *wire.Request, in *ssm.DeleteParametersInput) (*ssm.DeleteParametersOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	out := &ssm.DeleteParametersOutput{}
	for _, name := range in.Names {
		if reg.drop(name) {
			out.DeletedParameters = append(out.DeletedParameters, name)
		} else {
			out.InvalidParameters = append(out.InvalidParameters, name)
		}
	}
	return out, nil
}

func (reg *region) drop(name string) bool {
	_, ok := reg.parameters[name]
	delete(reg.parameters, name)
	delete(reg.tags, tagged{types.ResourceTypeForTaggingParameter, name})
	return ok
}

// DescribeParameters lists parameters without their values.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DescribeParameters.html
func (s *SSM) DescribeParameters(r *wire.Request, in *ssm.DescribeParametersInput) (*ssm.DescribeParametersOutput, error) {
	filters := slices.Clone(in.ParameterFilters)
	for _, f := range in.Filters {
		key := string(f.Key)
		filters = append(filters, types.ParameterStringFilter{Key: &key, Option: aws.String("BeginsWith"), Values: f.Values})
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	var all []types.ParameterMetadata
	for _, name := range slices.Sorted(maps.Keys(reg.parameters)) {
		p := reg.parameters[name]
		ok, err := reg.passesParameter(p, filters)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		v := p.values[len(p.values)-1]
		m := types.ParameterMetadata{
			Name: aws.String(p.name), ARN: p.show(reg, len(p.values), false).ARN, Type: p.kind, Tier: p.tier, Version: int64(len(p.values)),
			LastModifiedDate: aws.Time(v.at), LastModifiedUser: aws.String(v.by), DataType: aws.String(p.dataType),
		}
		if p.description != "" {
			m.Description = aws.String(p.description)
		}
		if p.pattern != "" {
			m.AllowedPattern = aws.String(p.pattern)
		}
		all = append(all, m)
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.DescribeParametersOutput{Parameters: shown, NextToken: next}, err
}

// passesParameter applies the filters Name, Type, Tier, Path and tag:key.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ParameterStringFilter.html
func (reg *region) passesParameter(p *parameter, filters []types.ParameterStringFilter) (bool, error) {
	for _, f := range filters {
		key, option := aws.ToString(f.Key), aws.ToString(f.Option)
		value, has := "", true
		switch {
		case key == "Name":
			value = p.name
		case key == "Type":
			value = string(p.kind)
		case key == "Tier":
			value = string(p.tier)
		case key == "Path":
			value = p.name[:max(strings.LastIndex(p.name, "/"), 0)]
			if option == "Recursive" {
				value, option = p.name, "Below"
			}
		case strings.HasPrefix(key, "tag:"):
			value, has = reg.tags[tagged{types.ResourceTypeForTaggingParameter, p.name}][key[len("tag:"):]]
		default:
			return false, wire.Errorf("InvalidFilterKey", "The filter %s is not valid", key)
		}
		ok := slices.ContainsFunc(f.Values, func(want string) bool {
			switch option {
			case "BeginsWith":
				return strings.HasPrefix(value, want)
			case "Contains":
				return strings.Contains(value, want)
			case "Below":
				return strings.HasPrefix(value, strings.TrimSuffix(want, "/")+"/")
			default:
				return value == want
			}
		})
		if !has || !ok && len(f.Values) > 0 {
			return false, nil
		}
	}
	return true, nil
}
