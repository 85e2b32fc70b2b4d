package route53

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxTags is how many tags a health check or a zone has at most.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeTagsForResource.html
const maxTags = 50

// tagsOf returns the tags of a resource, to be read or changed. The caller
// holds mu.
func (r *Route53) tagsOf(account string, kind types.TagResourceType, id *string) (map[string]string, error) {
	switch kind {
	case types.TagResourceTypeHealthcheck:
		c, err := r.check(account, id)
		if err != nil {
			return nil, err
		}
		return c.tags, nil
	case types.TagResourceTypeHostedzone:
		z, err := r.zone(account, id)
		if err != nil {
			return nil, err
		}
		return z.tags, nil
	}
	return nil, invalid("ResourceType %q is neither healthcheck nor hostedzone.", kind)
}

// Tags returns the tags behind an ARN such as
// arn:aws:route53:::healthcheck/ID, for conditions of policies; nil for none.
func (r *Route53) Tags(arn string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.checks[bare(arn)]; c != nil {
		return clone(c.tags)
	}
	if z := r.zones[bare(arn)]; z != nil {
		return clone(z.tags)
	}
	return nil
}

func clone(tags map[string]string) map[string]string {
	c := make(map[string]string, len(tags))
	for k, v := range tags {
		c[k] = v
	}
	return c
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeTagsForResource.html
func (r *Route53) changeTags(req *wire.Request, in *api.ChangeTagsForResourceInput) (*api.ChangeTagsForResourceOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tags, err := r.tagsOf(req.Account, in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	if len(in.AddTags) == 0 && len(in.RemoveTagKeys) == 0 {
		return nil, invalid("AddTags or RemoveTagKeys must not be empty.")
	}
	changed := clone(tags)
	for _, k := range in.RemoveTagKeys {
		delete(changed, k)
	}
	for _, t := range in.AddTags {
		if n := len(aws.ToString(t.Key)); n == 0 || n > 128 || len(aws.ToString(t.Value)) > 256 {
			return nil, invalid("A tag's key has 1 to 128 characters and its value at most 256.")
		}
		changed[*t.Key] = aws.ToString(t.Value)
	}
	if len(changed) > maxTags {
		return nil, invalid("A resource has at most %d tags.", maxTags)
	}
	clear(tags)
	for k, v := range changed {
		tags[k] = v
	}
	return nil, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListTagsForResource.html
func (r *Route53) listTags(req *wire.Request, in *api.ListTagsForResourceInput) (*api.ListTagsForResourceOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tags, err := r.tagsOf(req.Account, in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	set := tagSet(in.ResourceType, bare(*in.ResourceId), tags)
	return &api.ListTagsForResourceOutput{ResourceTagSet: &set}, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListTagsForResources.html
func (r *Route53) listTagsOfMany(req *wire.Request, in *api.ListTagsForResourcesInput) (*api.ListTagsForResourcesOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &api.ListTagsForResourcesOutput{}
	for _, id := range in.ResourceIds {
		tags, err := r.tagsOf(req.Account, in.ResourceType, &id)
		if err != nil {
			return nil, err
		}
		out.ResourceTagSets = append(out.ResourceTagSets, tagSet(in.ResourceType, bare(id), tags))
	}
	return out, nil
}
