package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// documentAttribute names a document that a group needs.
func documentAttribute(kind string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Validators: []validator.String{documentName},
		MarkdownDescription: "Name of the `hadr_command_document` of kind `" + kind + "`."}
}

// versionsAttribute pins the documents of an engine.
func versionsAttribute(name string) schema.MapAttribute {
	return schema.MapAttribute{Optional: true, ElementType: types.StringType,
		Validators: []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.KeysAre(stringvalidator.OneOf(documentKindsOf(name)...)), mapvalidator.ValueStringsAre(documentVersion)},
		MarkdownDescription: "Version of each document by its kind (`document_version` of the `hadr_command_document`). An operation keeps to the versions that it began with. " +
			"Default: the default version at the moment of each command."}
}

// sameEngine makes another group of one whose engine changes.
func sameEngine() []planmodifier.Object {
	const text = "Another engine is another group."
	return []planmodifier.Object{objectplanmodifier.RequiresReplaceIf(
		func(_ context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
			resp.RequiresReplace = req.StateValue.IsNull() != req.PlanValue.IsNull()
		}, text, text)}
}
