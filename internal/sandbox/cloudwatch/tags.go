package cloudwatch

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxTags is how many tags an alarm may have.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_TagResource.html
const maxTags = 50

// byARN finds the alarm that an ARN names.
func (t *tenant) byARN(arn *string) (*record, error) {
	ref := alarm.ParseReference(aws.ToString(arn))
	x := t.alarms[ref.Name]
	if x == nil || x.ARN != aws.ToString(arn) {
		return nil, noResource(aws.ToString(arn))
	}
	return x, nil
}

func (c *CloudWatch) tagResource(r *wire.Request, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	x, err := t.byARN(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(x.tags)
	for _, tag := range in.Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	if len(tags) > maxTags {
		return nil, invalidValue("A resource can have at most %d tags.", maxTags)
	}
	x.tags = tags
	return &api.TagResourceOutput{}, nil
}

func (c *CloudWatch) untagResource(r *wire.Request, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	x, err := t.byARN(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(x.tags, key)
	}
	return &api.UntagResourceOutput{}, nil
}

func (c *CloudWatch) listTagsForResource(r *wire.Request, in *api.ListTagsForResourceInput) (*api.ListTagsForResourceOutput, error) {
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	x, err := t.byARN(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	out := &api.ListTagsForResourceOutput{Tags: []types.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(x.tags)) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String(x.tags[key])})
	}
	return out, nil
}
