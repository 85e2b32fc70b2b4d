package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-partition-sort-keys
const (
	maxHashKey = 2048 // bytes
	maxSortKey = 1024
)

// primaryKey checks that key has the key attributes of the table and no
// others, and returns it in canonical form.
func (t *table) primaryKey(key value.Item) (value.Item, error) {
	key, err := value.NormalizeItem(key)
	if err != nil {
		return nil, err
	}
	if len(key) != len(t.keySchema) {
		return nil, invalid("The provided key element does not match the schema")
	}
	for _, e := range t.keySchema {
		if value.Type(key[*e.AttributeName]) != t.typeOf(*e.AttributeName) {
			return nil, invalid("The provided key element does not match the schema")
		}
	}
	return key, t.checkKeyValues(key)
}

// keyOf returns the primary key of an item, checked.
func (t *table) keyOf(item value.Item) (value.Item, error) {
	key := value.Item{}
	for _, e := range t.keySchema {
		name := *e.AttributeName
		v, want := item[name], t.typeOf(name)
		if v == nil {
			return nil, invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		if got := value.Type(v); got != want {
			return nil, invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", name, want, got)
		}
		key[name] = v
	}
	return key, t.checkKeyValues(key)
}

func (t *table) checkKeyValues(key value.Item) error {
	for _, e := range t.keySchema {
		name := *e.AttributeName
		n, isBytes := byteLength(key[name])
		switch {
		case isBytes && n == 0:
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", typeName(key[name]), name)
		case e.KeyType == types.KeyTypeHash && n > maxHashKey:
			// The missing space is AWS's.
			return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
		case e.KeyType == types.KeyTypeRange && n > maxSortKey:
			return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
		}
	}
	return nil
}

// checkIndexKeys checks the key attributes of the indexes that an item has.
func (t *table) checkIndexKeys(item value.Item) error {
	for _, x := range t.indexes {
		for _, e := range x.keySchema {
			name := *e.AttributeName
			v := item[name]
			if v == nil {
				continue
			}
			if got, want := value.Type(v), t.typeOf(name); got != want {
				return invalid("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", name, want, got, x.name)
			}
			n, isBytes := byteLength(v)
			if isBytes && n == 0 {
				return invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", typeName(v), x.name, name)
			}
			if e.KeyType == types.KeyTypeHash && n > maxHashKey || e.KeyType == types.KeyTypeRange && n > maxSortKey {
				return invalid("One or more parameter values were invalid: Size of the index key %s has exceeded the maximum size limit. IndexName: %s", name, x.name)
			}
		}
	}
	return nil
}

func byteLength(v types.AttributeValue) (n int, ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value), true
	case *types.AttributeValueMemberB:
		return len(v.Value), true
	}
	return 0, false
}

func typeName(v types.AttributeValue) string {
	if value.Type(v) == "B" {
		return "binary"
	}
	return "string"
}
