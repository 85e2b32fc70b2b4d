package events

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxTags is how many tags a resource may have.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-tagging.html
const maxTags = 50

func tag(to *map[string]string, tags []types.Tag) error {
	all := maps.Clone(*to)
	for _, t := range tags {
		all[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	if len(all) > maxTags {
		return invalid("A resource can have at most %d tags.", maxTags)
	}
	*to = all
	return nil
}

// tagged finds the tags of the rule or bus that an ARN means.
func tagged(all map[string]*bus, arn *string) (*map[string]string, error) {
	for _, b := range all {
		if b.busARN() == aws.ToString(arn) {
			return &b.tags, nil
		}
		for _, r := range b.rules {
			if r.arn() == aws.ToString(arn) {
				return &r.tags, nil
			}
		}
	}
	return nil, missing("Resource %s does not exist.", aws.ToString(arn))
}

// TagsOf returns the tags of a rule or a bus by its ARN, for authorization.
func (e *Events) TagsOf(arn string) map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, all := range e.buses {
		if tags, err := tagged(all, &arn); err == nil {
			return maps.Clone(*tags)
		}
	}
	return nil
}

func (e *Events) tagResource(r *wire.Request, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	tags, err := tagged(all, in.ResourceARN)
	if err != nil {
		return nil, err
	}
	return nil, tag(tags, in.Tags)
}

func (e *Events) untagResource(r *wire.Request, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	tags, err := tagged(all, in.ResourceARN)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(*tags, key)
	}
	return nil, nil
}

func (e *Events) listTagsForResource(r *wire.Request, in *api.ListTagsForResourceInput) (*api.ListTagsForResourceOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	tags, err := tagged(all, in.ResourceARN)
	if err != nil {
		return nil, err
	}
	out := &api.ListTagsForResourceOutput{Tags: []types.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(*tags)) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String((*tags)[key])})
	}
	return out, nil
}

// maxPage is the largest page, and the one of callers who do not ask.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_ListRules.html
const maxPage = 100

// page returns the elements of all that a page size and a token select, and
// the token of the next page, nil on the last one.
func page[T any](all []T, size *int32, token *string) ([]T, *string, error) {
	n := maxPage
	if size != nil {
		if n = int(*size); n < 1 || n > maxPage {
			return nil, nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must be between 1 and %d", *size, maxPage)
		}
	}
	start := 0
	if token != nil {
		b, err := base64.RawURLEncoding.DecodeString(*token)
		if err == nil {
			start, err = strconv.Atoi(string(b))
		}
		if err != nil || start < 0 || start > len(all) {
			return nil, nil, invalid("Provided NextToken is not valid.")
		}
	}
	end := min(start+n, len(all))
	if end == len(all) {
		return all[start:], nil, nil
	}
	return all[start:end], aws.String(base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))), nil
}
