package value

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Encode appends a key value to key so that the order of the bytes is the
// order of the values, and no encoded value is a prefix of another.
func Encode(key []byte, v types.AttributeValue) []byte {
	raw := identity(v)
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		raw = ordered(number(n.Value))
	}
	for i := range len(raw) {
		key = append(key, raw[i])
		if raw[i] == 0 {
			key = append(key, 0xff)
		}
	}
	return append(key, 0, 1)
}

// ordered spells a number so that bytes sort as numbers: sign, power of ten of
// the first digit, digits; all but the sign complemented below zero.
func ordered(n Number) string {
	if n.digits == "" {
		return "\x02"
	}
	exponent := byte(n.lead() - minExponent)
	if !n.negative {
		return "\x03" + string([]byte{exponent}) + n.digits
	}
	complement := strings.Map(func(d rune) rune { return '9' - d + '0' }, n.digits)
	return "\x01" + string([]byte{^exponent}) + complement + "\xff"
}
