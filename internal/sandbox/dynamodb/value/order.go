package value

import (
	"bytes"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Compare orders two strings, two numbers or two binaries. ok is false for all
// other pairs: they have no order. Strings are ordered by their UTF-8 bytes.
func Compare(a, b types.AttributeValue) (order int, ok bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, same := b.(*types.AttributeValueMemberS); same {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, same := b.(*types.AttributeValueMemberN); same {
			return number(a.Value).Cmp(number(b.Value)), true
		}
	case *types.AttributeValueMemberB:
		if b, same := b.(*types.AttributeValueMemberB); same {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

// Equal reports whether a and b have the same type and content. Sets are
// equal whatever the order of their members. A missing value equals nothing.
func Equal(a, b types.AttributeValue) bool {
	if a == nil || b == nil || Type(a) != Type(b) {
		return false
	}
	switch a := a.(type) {
	case *types.AttributeValueMemberBOOL:
		return a.Value == b.(*types.AttributeValueMemberBOOL).Value
	case *types.AttributeValueMemberNULL:
		return true
	case *types.AttributeValueMemberL:
		other := b.(*types.AttributeValueMemberL).Value
		if len(a.Value) != len(other) {
			return false
		}
		for i := range other {
			if !Equal(a.Value[i], other[i]) {
				return false
			}
		}
		return true
	case *types.AttributeValueMemberM:
		return EqualItems(a.Value, b.(*types.AttributeValueMemberM).Value)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return len(Members(a)) == len(Members(b)) && Difference(a, b) == nil
	}
	return identity(a) == identity(b)
}

// EqualItems reports whether two items have the same attributes.
func EqualItems(a, b Item) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if !Equal(v, b[k]) {
			return false
		}
	}
	return true
}

// Contains reports whether container holds v: as a substring, as a run of
// bytes, as a member of a set or as an element of a list.
func Contains(container, v types.AttributeValue) bool {
	switch c := container.(type) {
	case *types.AttributeValueMemberS:
		s, ok := v.(*types.AttributeValueMemberS)
		return ok && strings.Contains(c.Value, s.Value)
	case *types.AttributeValueMemberB:
		b, ok := v.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(c.Value, b.Value)
	case *types.AttributeValueMemberL:
		for _, e := range c.Value {
			if Equal(e, v) {
				return true
			}
		}
	default:
		for _, m := range Members(c) {
			if Equal(m, v) {
				return true
			}
		}
	}
	return false
}

// BeginsWith reports whether the string or binary v starts with prefix.
func BeginsWith(v, prefix types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, p.Value)
	}
	return false
}
