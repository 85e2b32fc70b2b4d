package dynamodb

import (
	"maps"
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func invalid(format string, args ...any) error {
	return wire.Errorf("ValidationException", format, args...)
}

func notFound(format string, args ...any) error {
	return wire.Errorf("ResourceNotFoundException", format, args...)
}

func inUse(format string, args ...any) error {
	return wire.Errorf("ResourceInUseException", format, args...)
}

// conditionFailed carries the item that failed the condition if the caller
// asked for it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html#DDB-PutItem-request-ReturnValuesOnConditionCheckFailure
func conditionFailed(item value.Item) error {
	e := wire.Errorf("ConditionalCheckFailedException", "The conditional request failed")
	if item != nil {
		e.Fields = map[string]any{"Item": item}
	}
	return e
}

// refuse answers parameters that a caller would miss if they were ignored.
func refuse(operation string, given map[string]bool) error {
	return refuseWith(given, func(name string) error {
		return invalid("%s: the sandbox does not serve the parameter %s", operation, name)
	})
}

// refuseLegacy answers the parameters that expressions have replaced.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html
func refuseLegacy(operation string, given map[string]bool) error {
	return refuseWith(given, func(name string) error {
		return invalid("%s: the sandbox does not serve the legacy parameter %s; use an expression instead", operation, name)
	})
}

func refuseWith(given map[string]bool, refusal func(name string) error) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] {
			return refusal(name)
		}
	}
	return nil
}

func atLeastOne(parameter string, v int32) error {
	if v >= 1 {
		return nil
	}
	return invalid("1 validation error detected: Value '%d' at '%s' failed to satisfy constraint: Member must have value greater than or equal to 1", v, parameter)
}
