package main

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

type object = map[string]any

// translate turns the protocol's answers into the CLI's JSON:
// https://developer.hashicorp.com/terraform/cli/commands/providers/schema
func translate(r *tfprotov6.GetProviderSchemaResponse, ids *tfprotov6.GetResourceIdentitySchemasResponse) object {
	actions, functions, identities := object{}, object{}, object{}
	for name, a := range r.ActionSchemas {
		actions[name] = object{"block": block(a.Schema.Block)}
	}
	for name, f := range r.Functions {
		functions[name] = function(f)
	}
	for name, s := range ids.IdentitySchemas {
		identities[name] = identity(s)
	}
	return object{
		"provider":                   object{"version": 0, "block": block(r.Provider.Block)},
		"resource_schemas":           schemas(r.ResourceSchemas),
		"data_source_schemas":        schemas(r.DataSourceSchemas),
		"ephemeral_resource_schemas": schemas(r.EphemeralResourceSchemas),
		"list_resource_schemas":      schemas(r.ListResourceSchemas),
		"action_schemas":             actions,
		"functions":                  functions,
		"resource_identity_schemas":  identities,
	}
}

func schemas(in map[string]*tfprotov6.Schema) object {
	out := object{}
	for name, s := range in {
		out[name] = object{"version": s.Version, "block": block(s.Block)}
	}
	return out
}

var blockNesting = map[tfprotov6.SchemaNestedBlockNestingMode]string{
	tfprotov6.SchemaNestedBlockNestingModeSingle: "single", tfprotov6.SchemaNestedBlockNestingModeList: "list",
	tfprotov6.SchemaNestedBlockNestingModeSet: "set", tfprotov6.SchemaNestedBlockNestingModeMap: "map",
	tfprotov6.SchemaNestedBlockNestingModeGroup: "group",
}

func block(b *tfprotov6.SchemaBlock) object {
	out := object{
		"attributes": attributes(b.Attributes), "description": b.Description,
		"description_kind": kind(b.DescriptionKind), "deprecated": b.Deprecated,
	}
	nested := object{}
	for _, n := range b.BlockTypes {
		nested[n.TypeName] = object{
			"nesting_mode": blockNesting[n.Nesting], "block": block(n.Block),
			"min_items": n.MinItems, "max_items": n.MaxItems,
		}
	}
	if len(nested) > 0 {
		out["block_types"] = nested
	}
	return out
}

var attributeNesting = map[tfprotov6.SchemaObjectNestingMode]string{
	tfprotov6.SchemaObjectNestingModeSingle: "single", tfprotov6.SchemaObjectNestingModeList: "list",
	tfprotov6.SchemaObjectNestingModeSet: "set", tfprotov6.SchemaObjectNestingModeMap: "map",
}

func attributes(in []*tfprotov6.SchemaAttribute) object {
	out := object{}
	for _, a := range in {
		o := object{
			"description": a.Description, "description_kind": kind(a.DescriptionKind),
			"required": a.Required, "optional": a.Optional, "computed": a.Computed,
			"sensitive": a.Sensitive, "write_only": a.WriteOnly, "deprecated": a.Deprecated,
		}
		if n := a.NestedType; n != nil {
			o["nested_type"] = object{"attributes": attributes(n.Attributes), "nesting_mode": attributeNesting[n.Nesting]}
		} else {
			o["type"] = constraint(a.Type)
		}
		out[a.Name] = o
	}
	return out
}

func function(f *tfprotov6.Function) object {
	out := object{"description": f.Description, "summary": f.Summary, "return_type": constraint(f.Return.Type)}
	var parameters []object
	for _, p := range f.Parameters {
		parameters = append(parameters, parameter(p))
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	if f.VariadicParameter != nil {
		out["variadic_parameter"] = parameter(f.VariadicParameter)
	}
	return out
}

func parameter(p *tfprotov6.FunctionParameter) object {
	return object{"name": p.Name, "description": p.Description, "is_nullable": p.AllowNullValue, "type": constraint(p.Type)}
}

func identity(s *tfprotov6.ResourceIdentitySchema) object {
	attrs := object{}
	for _, a := range s.IdentityAttributes {
		attrs[a.Name] = object{
			"type": constraint(a.Type), "description": a.Description,
			"required_for_import": a.RequiredForImport, "optional_for_import": a.OptionalForImport,
		}
	}
	return object{"version": s.Version, "attributes": attrs}
}

func kind(k tfprotov6.StringKind) string {
	if k == tfprotov6.StringKindMarkdown {
		return "markdown"
	}
	return "plain"
}

// constraint is a type in the CLI's words, such as ["map","string"]. Types of
// a schema always have one; what has none is a value that fits any type.
func constraint(t tftypes.Type) json.RawMessage {
	b, err := t.MarshalJSON() //nolint:staticcheck // the only encoder of a type constraint
	if err != nil {
		return json.RawMessage(`"dynamic"`)
	}
	return b
}
