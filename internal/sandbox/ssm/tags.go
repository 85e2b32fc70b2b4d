package ssm

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// tagged names a resource with tags.
type tagged struct {
	kind types.ResourceTypeForTagging
	id   string
}

// maxTags: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_AddTagsToResource.html
const maxTags = 50

func (reg *region) tag(at tagged, tags []types.Tag) error {
	merged := maps.Clone(reg.tags[at])
	if merged == nil {
		merged = map[string]string{}
	}
	for _, t := range tags {
		if aws.ToString(t.Key) == "" {
			return validation("A tag needs a key")
		}
		merged[*t.Key] = aws.ToString(t.Value)
	}
	if len(merged) > maxTags {
		return wire.Errorf("TooManyTagsError", "%s %s would have %d tags, the maximum is %d", at.kind, at.id, len(merged), maxTags)
	}
	reg.tags[at] = merged
	return nil
}

func (reg *region) shownTags(at tagged) []types.Tag {
	all := []types.Tag{} // AWS shows an empty list
	for _, k := range slices.Sorted(maps.Keys(reg.tags[at])) {
		all = append(all, types.Tag{Key: aws.String(k), Value: aws.String(reg.tags[at][k])})
	}
	return all
}

// resource checks that a tagged resource exists.
func (reg *region) resource(kind types.ResourceTypeForTagging, id *string) (tagged, error) {
	at := tagged{kind, aws.ToString(id)}
	var ok bool
	switch kind {
	case types.ResourceTypeForTaggingDocument:
		_, ok = reg.documents[at.id]
	case types.ResourceTypeForTaggingParameter:
		_, ok = reg.parameters[at.id]
	default:
		return at, wire.Errorf("InvalidResourceType", "The sandbox tags documents and parameters, not %s", kind)
	}
	if !ok {
		return at, wire.Errorf("InvalidResourceId", "There is no %s %s", kind, at.id)
	}
	return at, nil
}

// AddTagsToResource adds or overwrites tags.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_AddTagsToResource.html
func (s *SSM) AddTagsToResource(r *wire.Request, in *ssm.AddTagsToResourceInput) (*ssm.AddTagsToResourceOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	at, err := reg.resource(in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	if err := reg.tag(at, in.Tags); err != nil {
		return nil, err
	}
	return &ssm.AddTagsToResourceOutput{}, nil
}

// RemoveTagsFromResource removes tags by key.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_RemoveTagsFromResource.html
func (s *SSM) RemoveTagsFromResource(r *wire.Request, in *ssm.RemoveTagsFromResourceInput) (*ssm.RemoveTagsFromResourceOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	at, err := reg.resource(in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	for _, k := range in.TagKeys {
		delete(reg.tags[at], k)
	}
	return &ssm.RemoveTagsFromResourceOutput{}, nil
}

// ListTagsForResource shows tags, ordered by key.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListTagsForResource.html
func (s *SSM) ListTagsForResource(r *wire.Request, in *ssm.ListTagsForResourceInput) (*ssm.ListTagsForResourceOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	at, err := reg.resource(in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	return &ssm.ListTagsForResourceOutput{TagList: reg.shownTags(at)}, nil
}
