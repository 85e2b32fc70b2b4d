package value

import (
	"encoding/base64"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxDepth is how deep lists and maps may nest.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-attributes-nested-depth
const MaxDepth = 32

// NormalizeItem checks every value of an item and returns a copy in canonical
// form. Errors are ValidationExceptions.
func NormalizeItem(item Item) (Item, error) {
	out := make(Item, len(item))
	for k, v := range item {
		n, err := Normalize(v)
		if err != nil {
			return nil, err
		}
		out[k] = n
	}
	return out, nil
}

// Normalize checks v and returns a copy in canonical form: numbers in plain
// digits. Empty strings and binaries are allowed, empty sets are not.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes
func Normalize(v types.AttributeValue) (types.AttributeValue, error) { return normalize(v, 0) }

func normalize(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		n, err := ParseNumber(v.Value)
		if err != nil {
			return nil, err
		}
		return N(n.String()), nil
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			return nil, invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
		return v, nil
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL:
		return v, nil
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return normalizeSet(v)
	case *types.AttributeValueMemberL:
		return normalizeList(v, depth+1)
	case *types.AttributeValueMemberM:
		return normalizeMap(v, depth+1)
	}
	return nil, invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
}

func normalizeList(v *types.AttributeValueMemberL, depth int) (types.AttributeValue, error) {
	if depth > MaxDepth {
		return nil, errDepth()
	}
	l := make([]types.AttributeValue, len(v.Value))
	for i, e := range v.Value {
		n, err := normalize(e, depth)
		if err != nil {
			return nil, err
		}
		l[i] = n
	}
	return L(l...), nil
}

func normalizeMap(v *types.AttributeValueMemberM, depth int) (types.AttributeValue, error) {
	if depth > MaxDepth {
		return nil, errDepth()
	}
	m := make(Item, len(v.Value))
	for k, e := range v.Value {
		n, err := normalize(e, depth)
		if err != nil {
			return nil, err
		}
		m[k] = n
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

func errDepth() error {
	return invalid("Nesting Levels have exceeded supported limits: Attributes can be nested up to %d levels deep", MaxDepth)
}

// CheckDepth fails if an item is nested too deeply; updates can build such
// items from values that are not.
func CheckDepth(item Item) error {
	for _, v := range item {
		if depth(v) > MaxDepth {
			return errDepth()
		}
	}
	return nil
}

func depth(v types.AttributeValue) int {
	deepest := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			deepest = max(deepest, depth(e))
		}
	case *types.AttributeValueMemberM:
		for _, e := range v.Value {
			deepest = max(deepest, depth(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

func normalizeSet(v types.AttributeValue) (types.AttributeValue, error) {
	kind := map[string]string{"SS": "An string set ", "NS": "An number set ", "BS": "Binary sets"}[Type(v)]
	members := Members(v)
	if len(members) == 0 {
		if kind == "Binary sets" {
			return nil, invalid("One or more parameter values were invalid: Binary sets should not be empty")
		}
		return nil, invalid("One or more parameter values were invalid: %s may not be empty", kind)
	}
	seen := map[string]bool{}
	for i, m := range members {
		n, err := Normalize(m)
		if err != nil {
			return nil, err
		}
		members[i] = n
		switch m := n.(type) {
		case *types.AttributeValueMemberS:
			if m.Value == "" {
				return nil, invalid("One or more parameter values were invalid: An string set may not have a empty string as a member")
			}
		case *types.AttributeValueMemberB:
			if len(m.Value) == 0 {
				return nil, invalid("One or more parameter values were invalid: Binary sets may not contain null or empty values")
			}
		}
		id := identity(n)
		if seen[id] {
			if Type(v) == "NS" {
				return nil, invalid("Input collection contains duplicates")
			}
			return nil, invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates.", strings.Join(listed(Members(v)), ", "))
		}
		seen[id] = true
	}
	return setOf(Type(v), members), nil
}

func listed(members []types.AttributeValue) []string {
	out := make([]string, len(members))
	for i, m := range members {
		switch m := m.(type) {
		case *types.AttributeValueMemberS:
			out[i] = m.Value
		case *types.AttributeValueMemberB:
			out[i] = base64.StdEncoding.EncodeToString(m.Value)
		}
	}
	return out
}
