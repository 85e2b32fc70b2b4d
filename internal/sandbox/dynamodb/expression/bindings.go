package expression

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Bindings are the placeholders of a request. All expressions of the request
// are parsed with the same Bindings, and then Unused tells what is left over.
type Bindings struct {
	names  map[string]string
	values value.Item
	used   map[string]bool
}

// Bind checks ExpressionAttributeNames and ExpressionAttributeValues. needed
// tells whether the request has an expression at all.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ExpressionAttributeNames.html
func Bind(names map[string]string, values value.Item, needed bool) (*Bindings, error) {
	switch {
	case names != nil && !needed:
		return nil, invalid("ExpressionAttributeNames can only be specified when using expressions")
	case values != nil && !needed:
		return nil, invalid("ExpressionAttributeValues can only be specified when using expressions")
	case names != nil && len(names) == 0:
		return nil, invalid("ExpressionAttributeNames must not be empty")
	case values != nil && len(values) == 0:
		return nil, invalid("ExpressionAttributeValues must not be empty")
	}
	for _, k := range slices.Sorted(maps.Keys(names)) {
		if !isPlaceholder(k, '#') {
			return nil, invalid("ExpressionAttributeNames contains invalid key: Syntax error; key: %q", k)
		}
		if names[k] == "" {
			return nil, invalid("ExpressionAttributeNames contains invalid value: The value can not be empty; key: %s", k)
		}
	}
	b := &Bindings{names: names, values: value.Item{}, used: map[string]bool{}}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if !isPlaceholder(k, ':') {
			return nil, invalid("ExpressionAttributeValues contains invalid key: Syntax error; key: %q", k)
		}
		v, err := value.Normalize(values[k])
		if err != nil {
			return nil, invalid("ExpressionAttributeValues contains invalid value: %s for key %s", message(err), k)
		}
		b.values[k] = v
	}
	return b, nil
}

func isPlaceholder(k string, sigil byte) bool {
	return len(k) > 1 && k[0] == sigil && strings.IndexFunc(k[1:], func(r rune) bool { return r > 127 || !isWord(byte(r)) }) < 0
}

// Unused fails if a placeholder occurs in none of the parsed expressions.
func (b *Bindings) Unused() error {
	if err := unused("ExpressionAttributeNames", b.names, b.used); err != nil {
		return err
	}
	return unused("ExpressionAttributeValues", b.values, b.used)
}

func unused[V any](parameter string, placeholders map[string]V, used map[string]bool) error {
	var left []string
	for _, k := range slices.Sorted(maps.Keys(placeholders)) {
		if !used[k] {
			left = append(left, k)
		}
	}
	if left == nil {
		return nil
	}
	return invalid("Value provided in %s unused in expressions: keys: {%s}", parameter, strings.Join(left, ", "))
}

func (b *Bindings) name(placeholder string) (string, bool) {
	b.used[placeholder] = true
	n, ok := b.names[placeholder]
	return n, ok
}

func (b *Bindings) value(placeholder string) (types.AttributeValue, bool) {
	b.used[placeholder] = true
	v, ok := b.values[placeholder]
	return v, ok
}

func invalid(format string, args ...any) error {
	return wire.Errorf("ValidationException", format, args...)
}

func message(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
