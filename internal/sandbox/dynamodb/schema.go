package dynamodb

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-secondary-indexes
const maxIndexes = 20

// newKey checks a key schema: a partition key and perhaps a sort key, both
// with a declared type.
func (t *table) newKey(schema []types.KeySchemaElement) (expression.Key, error) {
	var k expression.Key
	if len(schema) < 1 || len(schema) > 2 {
		return k, invalid("One or more parameter values were invalid: a key schema has one or two elements, this one has %d", len(schema))
	}
	for i, e := range schema {
		want, place := types.KeyTypeHash, "first"
		if i == 1 {
			want, place = types.KeyTypeRange, "second"
		}
		if e.KeyType != want {
			return k, invalid("Invalid KeySchema: The %s KeySchemaElement is not a %s key type", place, want)
		}
		if t.typeOf(aws.ToString(e.AttributeName)) == "" {
			return k, invalid("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
				strings.Join(keyNames(schema), ", "), strings.Join(t.definedNames(), ", "))
		}
	}
	k.Hash = *schema[0].AttributeName
	k.HashType = t.typeOf(k.Hash)
	if len(schema) == 2 {
		k.Sort = *schema[1].AttributeName
		k.SortType = t.typeOf(k.Sort)
	}
	if k.Hash == k.Sort {
		return k, invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	return k, nil
}

func keyNames(schema []types.KeySchemaElement) []string {
	var names []string
	for _, e := range schema {
		names = append(names, aws.ToString(e.AttributeName))
	}
	return names
}

func (t *table) definedNames() []string {
	var names []string
	for _, d := range t.definitions {
		names = append(names, aws.ToString(d.AttributeName))
	}
	return names
}

// define checks attribute definitions and takes them over.
func (t *table) define(definitions []types.AttributeDefinition) error {
	for i, d := range definitions {
		name := aws.ToString(d.AttributeName)
		if name == "" {
			return invalid("One or more parameter values were invalid: an attribute definition has no AttributeName")
		}
		if !slices.Contains(d.AttributeType.Values(), d.AttributeType) {
			return invalid("1 validation error detected: Value '%s' at 'attributeDefinitions.%d.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]", d.AttributeType, i+1)
		}
		if t.typeOf(name) != "" {
			return invalid("One or more parameter values were invalid: Duplicate AttributeName in AttributeDefinitions: %s", name)
		}
		t.definitions = append(t.definitions, d)
	}
	return nil
}

// checkDefinitions fails if an attribute is defined that no key uses.
func (t *table) checkDefinitions() error {
	used := keyNames(t.keySchema)
	for _, x := range t.indexes {
		used = append(used, keyNames(x.keySchema)...)
	}
	for _, name := range t.definedNames() {
		if !slices.Contains(used, name) {
			slices.Sort(used)
			return invalid("One or more parameter values were invalid: Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
				strings.Join(t.definedNames(), ", "), strings.Join(slices.Compact(used), ", "))
		}
	}
	return nil
}

// newIndex checks a global secondary index and adds it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GlobalSecondaryIndex.html
func (t *table) newIndex(g types.CreateGlobalSecondaryIndexAction) (*index, error) {
	name := aws.ToString(g.IndexName)
	if err := checkName("IndexName", name); err != nil {
		return nil, err
	}
	if t.index(name) != nil {
		return nil, invalid("One or more parameter values were invalid: Duplicate index name: %s", name)
	}
	if len(t.indexes) == maxIndexes {
		return nil, invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	}
	key, err := t.newKey(g.KeySchema)
	if err != nil {
		return nil, err
	}
	if err := checkProjection(g.Projection); err != nil {
		return nil, err
	}
	if err := checkThroughput(t.billing, g.ProvisionedThroughput, "index "+name); err != nil {
		return nil, err
	}
	x := &index{name: name, keySchema: g.KeySchema, key: key, projection: *g.Projection, throughput: g.ProvisionedThroughput, maximum: g.OnDemandThroughput}
	t.indexes = append(t.indexes, x)
	return x, nil
}

func checkProjection(p *types.Projection) error {
	switch {
	case p == nil || p.ProjectionType == "":
		return invalid("One or more parameter values were invalid: Unknown ProjectionType: null")
	case !slices.Contains(p.ProjectionType.Values(), p.ProjectionType):
		return invalid("One or more parameter values were invalid: Unknown ProjectionType: %s", p.ProjectionType)
	case p.ProjectionType != types.ProjectionTypeInclude && p.NonKeyAttributes != nil:
		return invalid("One or more parameter values were invalid: ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	case p.ProjectionType == types.ProjectionTypeInclude && len(p.NonKeyAttributes) == 0:
		return invalid("One or more parameter values were invalid: ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	return nil
}

func checkThroughput(billing types.BillingMode, p *types.ProvisionedThroughput, of string) error {
	const problem = "One or more parameter values were invalid: "
	switch {
	case billing == types.BillingModePayPerRequest && p != nil:
		return invalid(problem+"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST (%s)", of)
	case billing == types.BillingModeProvisioned && (p == nil || p.ReadCapacityUnits == nil || p.WriteCapacityUnits == nil):
		return invalid(problem+"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED (%s)", of)
	case billing == types.BillingModeProvisioned && (*p.ReadCapacityUnits < 1 || *p.WriteCapacityUnits < 1):
		return invalid(problem+"ReadCapacityUnits and WriteCapacityUnits must be at least 1 (%s)", of)
	}
	return nil
}
