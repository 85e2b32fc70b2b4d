package value

import (
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxItem is the size limit of an item in bytes, names included.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
const MaxItem = 400 * 1024

// Size is the size of an item in bytes as DynamoDB counts it.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func Size(item Item) int {
	n := 0
	for name, v := range item {
		n += len(name) + sizeOf(v)
	}
	return n
}

func sizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		n := number(v.Value)
		size := (len(n.digits)+1)/2 + 1
		if n.negative {
			size++
		}
		return size
	case *types.AttributeValueMemberL:
		size := 3 + len(v.Value)
		for _, e := range v.Value {
			size += sizeOf(e)
		}
		return size
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + Size(v.Value)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		size := 0
		for _, m := range Members(v) {
			size += sizeOf(m)
		}
		return size
	}
	return 1
}

// Length is what the function size of an expression returns: characters,
// bytes or elements. ok is false for types that have none.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func Length(v types.AttributeValue) (n int, ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return utf8.RuneCountInString(v.Value), true
	case *types.AttributeValueMemberB:
		return len(v.Value), true
	case *types.AttributeValueMemberL:
		return len(v.Value), true
	case *types.AttributeValueMemberM:
		return len(v.Value), true
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return len(Members(v)), true
	}
	return 0, false
}
