package dynamodb

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html#TaggingRestrictions
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// TagResource adds tags to a table, or changes them.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
func (d *DynamoDB) TagResource(_ *wire.Request, in *dynamodb.TagResourceInput) (*dynamodb.TagResourceOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.byARN(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, invalid("Atleast one Tag needs to be provided as Input.")
	}
	tags, err := withTags(r.tags, in.Tags)
	if err != nil {
		return nil, err
	}
	r.tags = tags
	return &dynamodb.TagResourceOutput{}, nil
}

// UntagResource removes tags from a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UntagResource.html
func (d *DynamoDB) UntagResource(_ *wire.Request, in *dynamodb.UntagResourceInput) (*dynamodb.UntagResourceOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.byARN(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.TagKeys) == 0 {
		return nil, invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	for _, k := range in.TagKeys {
		delete(r.tags, k)
	}
	return &dynamodb.UntagResourceOutput{}, nil
}

// ListTagsOfResource returns all tags of a table on one page.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTagsOfResource.html
func (d *DynamoDB) ListTagsOfResource(_ *wire.Request, in *dynamodb.ListTagsOfResourceInput) (*dynamodb.ListTagsOfResourceOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.byARN(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.ListTagsOfResourceOutput{Tags: []types.Tag{}}
	for _, k := range slices.Sorted(maps.Keys(r.tags)) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(k), Value: aws.String(r.tags[k])})
	}
	return out, nil
}

// withTags returns a copy of tags with more of them.
func withTags(tags map[string]string, more []types.Tag) (map[string]string, error) {
	out := maps.Clone(tags)
	if out == nil {
		out = map[string]string{}
	}
	seen := map[string]bool{}
	for _, t := range more {
		k, v := aws.ToString(t.Key), aws.ToString(t.Value)
		switch {
		case k == "" || utf8.RuneCountInString(k) > maxTagKey:
			return nil, invalid("One or more parameter values were invalid: the tag key %q must have 1 to %d characters", k, maxTagKey)
		case utf8.RuneCountInString(v) > maxTagValue:
			return nil, invalid("One or more parameter values were invalid: the value of the tag %q has more than %d characters", k, maxTagValue)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return nil, invalid("One or more parameter values were invalid: the tag key %q begins with aws:, which is reserved", k)
		case seen[k]:
			return nil, invalid("One or more parameter values were invalid: Duplicate tag key found: %s", k)
		}
		seen[k] = true
		out[k] = v
	}
	if len(out) > maxTags {
		return nil, invalid("One or more parameter values were invalid: Too many tags: %d, the limit is %d", len(out), maxTags)
	}
	return out, nil
}
