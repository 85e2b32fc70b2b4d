package ec2

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Limits of tags: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// taggable returns the kind of a tagged resource and whether it exists.
func (reg *region) taggable(id string) (types.ResourceType, error) {
	lookup := []struct {
		kind   kind
		name   types.ResourceType
		exists func() bool
	}{
		{kindVPC, types.ResourceTypeVpc, func() bool { _, ok := reg.vpcs.get(id); return ok }},
		{kindSubnet, types.ResourceTypeSubnet, func() bool { _, ok := reg.subnets.get(id); return ok }},
		{kindTable, types.ResourceTypeRouteTable, func() bool { _, ok := reg.routes.get(id); return ok }},
		{kindGroup, types.ResourceTypeSecurityGroup, func() bool { _, ok := reg.groups.get(id); return ok }},
		{kindRule, types.ResourceTypeSecurityGroupRule, func() bool { return reg.ruleExists(id) }},
		{kindInterface, types.ResourceTypeNetworkInterface, func() bool { _, ok := reg.interfaces.get(id); return ok }},
		{kindInstance, types.ResourceTypeInstance, func() bool { _, ok := reg.instances.get(id); return ok }},
	}
	for _, l := range lookup {
		if !strings.HasPrefix(id, l.kind.prefix) {
			continue
		}
		if !l.exists() {
			return "", l.kind.unknown(id)
		}
		return l.name, nil
	}
	return "", wire.Errorf("InvalidID", "The ID '%s' is not valid", id)
}

func checkTags(tags []types.Tag) error {
	for _, t := range tags {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		switch {
		case key == "":
			return missingParameter("tag key")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		case utf8.RuneCountInString(key) > maxTagKey:
			return wire.Errorf("InvalidParameterValue", "Tag key exceeds the maximum length of %d characters", maxTagKey)
		case utf8.RuneCountInString(value) > maxTagValue:
			return wire.Errorf("InvalidParameterValue", "Tag value exceeds the maximum length of %d characters", maxTagValue)
		}
	}
	return nil
}

func (reg *region) tag(id string, tags []types.Tag) error {
	if err := checkTags(tags); err != nil {
		return err
	}
	merged := maps.Clone(reg.tags[id])
	if merged == nil {
		merged = map[string]string{}
	}
	for _, t := range tags {
		merged[*t.Key] = aws.ToString(t.Value)
	}
	if len(merged) > maxTags {
		return wire.Errorf("TagLimitExceeded", "The resource '%s' would have %d tags, the maximum is %d", id, len(merged), maxTags)
	}
	reg.tags[id] = merged
	return nil
}

// specified returns the tags that a creating call asks for a kind of resource;
// allowed are the kinds that the call makes.
func specified(specs []types.TagSpecification, want types.ResourceType, allowed ...types.ResourceType) ([]types.Tag, error) {
	var tags []types.Tag
	for _, s := range specs {
		if s.ResourceType != want && !slices.Contains(allowed, s.ResourceType) {
			return nil, wire.Errorf("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", s.ResourceType)
		}
		if s.ResourceType == want {
			tags = append(tags, s.Tags...)
		}
	}
	return tags, checkTags(tags)
}

// shownTags renders the tags of a resource, ordered by key.
func (reg *region) shownTags(id string) []types.Tag {
	var tags []types.Tag
	for _, k := range slices.Sorted(maps.Keys(reg.tags[id])) {
		tags = append(tags, types.Tag{Key: aws.String(k), Value: aws.String(reg.tags[id][k])})
	}
	return tags
}

// TagsOf returns the tags of a resource, for conditions of policies. arn ends in
// the identifier, such as arn:aws:ec2:eu-west-1:123456789012:instance/i-0123.
func (e *EC2) TagsOf(region, arn string) map[string]string {
	id := arn[strings.LastIndex(arn, "/")+1:]
	e.mu.Lock()
	defer e.mu.Unlock()
	for at, reg := range e.regions {
		if tags, ok := reg.tags[id]; ok && at.region == region {
			return maps.Clone(tags)
		}
	}
	return nil
}

// CreateTags adds or overwrites tags.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTags.html
func (e *EC2) CreateTags(r *wire.Request, in *ec2.CreateTagsInput) (*ec2.CreateTagsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	for _, id := range in.Resources {
		if _, err := reg.taggable(id); err != nil {
			return nil, err
		}
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, id := range in.Resources {
		if err := reg.tag(id, in.Tags); err != nil {
			return nil, err
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// DeleteTags removes tags: all of a resource if none is named, one with
// another value never.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteTags.html
func (e *EC2) DeleteTags(r *wire.Request, in *ec2.DeleteTagsInput) (*ec2.DeleteTagsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, id := range in.Resources {
		if len(in.Tags) == 0 {
			delete(reg.tags, id)
			continue
		}
		for _, t := range in.Tags {
			if t.Value == nil || *t.Value == reg.tags[id][aws.ToString(t.Key)] {
				delete(reg.tags[id], aws.ToString(t.Key))
			}
		}
	}
	return &ec2.DeleteTagsOutput{}, nil
}

// DescribeTags lists tags of all resources.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
func (e *EC2) DescribeTags(r *wire.Request, in *ec2.DescribeTagsInput) (*ec2.DescribeTagsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	var all []types.TagDescription
	for _, id := range slices.Sorted(maps.Keys(reg.tags)) {
		resource, err := reg.taggable(id)
		if err != nil {
			continue // deleted meanwhile
		}
		for _, t := range reg.shownTags(id) {
			ok, err := matches(in.Filters, attributes{"resource-id": {id}, "resource-type": {string(resource)}, "key": {*t.Key}, "value": {*t.Value}}, map[string]string{*t.Key: *t.Value})
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, types.TagDescription{ResourceId: aws.String(id), ResourceType: resource, Key: t.Key, Value: t.Value})
			}
		}
	}
	tags, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeTagsOutput{Tags: tags, NextToken: next}, err
}
