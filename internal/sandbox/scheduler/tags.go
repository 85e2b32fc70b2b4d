package scheduler

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxTags is how many tags a group may have.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_TagResource.html
const maxTags = 200

func (g *group) tag(tags []types.Tag) error {
	all := maps.Clone(g.tags)
	for _, t := range tags {
		all[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	if len(all) > maxTags {
		return invalid("A schedule group can have at most %d tags.", maxTags)
	}
	g.tags = all
	return nil
}

// tagged finds the group that an ARN means: nothing else has tags.
func tagged(groups map[string]*group, arn *string) (*group, error) {
	for _, g := range groups {
		if g.groupARN() == aws.ToString(arn) {
			return g, nil
		}
	}
	return nil, missing("Resource %s does not exist.", aws.ToString(arn))
}

// TagsOf returns the tags of a group by its ARN, for authorization.
func (s *Scheduler) TagsOf(arn string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, groups := range s.groups {
		if g, err := tagged(groups, &arn); err == nil {
			return maps.Clone(g.tags)
		}
	}
	return nil
}

func (s *Scheduler) tagResource(r *wire.Request, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := tagged(groups, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return nil, g.tag(in.Tags)
}

func (s *Scheduler) untagResource(r *wire.Request, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := tagged(groups, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(g.tags, key)
	}
	return nil, nil
}

func (s *Scheduler) listTags(r *wire.Request, in *api.ListTagsForResourceInput) (*api.ListTagsForResourceOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := tagged(groups, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	out := &api.ListTagsForResourceOutput{Tags: []types.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(g.tags)) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String(g.tags[key])})
	}
	return out, nil
}

// maxPage is the largest page, and the one of callers who do not ask.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_ListSchedules.html
const maxPage = 100

// page returns the elements of all that a page size and a token select, and
// the token of the next page, nil on the last one.
func page[T any](all []T, size *int32, token *string) ([]T, *string, error) {
	n := maxPage
	if size != nil {
		if n = int(*size); n < 1 || n > maxPage {
			return nil, nil, invalid("MaxResults is %d, it must be between 1 and %d.", *size, maxPage)
		}
	}
	start := 0
	if token != nil {
		b, err := base64.RawURLEncoding.DecodeString(*token)
		if err == nil {
			start, err = strconv.Atoi(string(b))
		}
		if err != nil || start < 0 || start > len(all) {
			return nil, nil, invalid("Invalid NextToken.")
		}
	}
	end := min(start+n, len(all))
	if end == len(all) {
		return all[start:], nil, nil
	}
	return all[start:end], aws.String(base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))), nil
}
