package iam

import (
	"net/url"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// page cuts the part of all that starts after marker, in the order of key.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListRoles.html
func page[T any](all []T, key func(T) string, marker *string, max *int32) (part []T, next *string, truncated bool) {
	sort.Slice(all, func(a, b int) bool { return key(all[a]) < key(all[b]) })
	limit := 100
	if max != nil && *max >= 1 {
		limit = int(*max)
	}
	start := 0
	if marker != nil {
		start = sort.Search(len(all), func(n int) bool { return key(all[n]) > *marker })
	}
	part = all[start:]
	if len(part) <= limit {
		return part, nil, false
	}
	part = part[:limit]
	return part, aws.String(key(part[limit-1])), true
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// encode is the URL encoding (RFC 3986) in which IAM returns documents.
func encode(document string) *string {
	return aws.String(strings.ReplaceAll(url.QueryEscape(document), "+", "%20"))
}

const maxTags = 50 // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html

// setTags merges more into old; the caller's slices stay as they are.
func setTags(old, more []types.Tag) ([]types.Tag, error) {
	tags := append([]types.Tag(nil), old...)
	for _, t := range more {
		if key := aws.ToString(t.Key); key == "" || len(key) > 128 || strings.HasPrefix(strings.ToLower(key), "aws:") {
			return nil, invalidInput("The tag key %q is invalid: it must have 1 to 128 characters and not begin with aws:.", key)
		}
		tags = append(dropTags(tags, []string{*t.Key}), t)
	}
	if len(tags) > maxTags {
		return nil, limitExceeded("The number of tags has reached the maximum limit.")
	}
	return tags, nil
}

func dropTags(tags []types.Tag, keys []string) []types.Tag {
	kept := make([]types.Tag, 0, len(tags))
	for _, t := range tags {
		drop := false
		for _, k := range keys {
			drop = drop || strings.EqualFold(k, aws.ToString(t.Key)) // tag keys of IAM have no case
		}
		if !drop {
			kept = append(kept, t)
		}
	}
	return kept
}

func pageTags(tags []types.Tag, marker *string, max *int32) ([]types.Tag, *string, bool) {
	return page(append([]types.Tag(nil), tags...), func(t types.Tag) string { return aws.ToString(t.Key) }, marker, max)
}
