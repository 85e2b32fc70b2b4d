package value

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Members returns the elements of a set as scalar values, in a new slice.
// It returns nil for anything else.
func Members(v types.AttributeValue) []types.AttributeValue {
	var out []types.AttributeValue
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			out = append(out, S(s))
		}
	case *types.AttributeValueMemberNS:
		for _, s := range v.Value {
			out = append(out, N(s))
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			out = append(out, &types.AttributeValueMemberB{Value: b})
		}
	}
	return out
}

// Union returns the members of two sets of the same type.
func Union(a, b types.AttributeValue) types.AttributeValue {
	members, seen := Members(a), map[string]bool{}
	for _, m := range members {
		seen[identity(m)] = true
	}
	for _, m := range Members(b) {
		if !seen[identity(m)] {
			members = append(members, m)
		}
	}
	return setOf(Type(a), members)
}

// Difference returns the members of a that are not in b, a set of the same
// type. It returns nil if none is left, because there are no empty sets.
func Difference(a, b types.AttributeValue) types.AttributeValue {
	drop := map[string]bool{}
	for _, m := range Members(b) {
		drop[identity(m)] = true
	}
	var kept []types.AttributeValue
	for _, m := range Members(a) {
		if !drop[identity(m)] {
			kept = append(kept, m)
		}
	}
	if kept == nil {
		return nil
	}
	return setOf(Type(a), kept)
}

func setOf(kind string, members []types.AttributeValue) types.AttributeValue {
	var ss, ns []string
	var bs [][]byte
	for _, m := range members {
		switch m := m.(type) {
		case *types.AttributeValueMemberS:
			ss = append(ss, m.Value)
		case *types.AttributeValueMemberN:
			ns = append(ns, m.Value)
		case *types.AttributeValueMemberB:
			bs = append(bs, m.Value)
		}
	}
	switch kind {
	case "SS":
		return &types.AttributeValueMemberSS{Value: ss}
	case "NS":
		return &types.AttributeValueMemberNS{Value: ns}
	default:
		return &types.AttributeValueMemberBS{Value: bs}
	}
}

// identity is equal for equal scalars of one type.
func identity(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}
