// Package value is the data model of DynamoDB: validation, canonical form,
// order, size and copies of attribute values.
//
// Values are the SDK's own types. Everything but Normalize expects values that
// Normalize returned: then equal numbers are equal strings.
package value

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Item is an item, or a part of one.
type Item = map[string]types.AttributeValue

// Type returns the descriptor of v's type ("S", "NS", "M" ...), "" for nil.
func Type(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	}
	return ""
}

// Types are all type descriptors.
var Types = []string{"B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"}

// S, N and L make values.
func S(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// N makes a number from its canonical form.
func N(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// L makes a list.
func L(v ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: v} }

// Clone copies the containers of an item, so that they can be changed in
// place. Scalars and sets are shared: nobody changes them in place.
func Clone(item Item) Item {
	c := make(Item, len(item))
	for k, v := range item {
		c[k] = clone(v)
	}
	return c
}

func clone(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: Clone(v.Value)}
	case *types.AttributeValueMemberL:
		l := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			l[i] = clone(e)
		}
		return L(l...)
	}
	return v
}

func invalid(format string, args ...any) error {
	return wire.Errorf("ValidationException", format, args...)
}
