package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure   = (*commandDocumentResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*commandDocumentResource)(nil)
	_ resource.ResourceWithImportState = (*commandDocumentResource)(nil)
)

type commandDocumentResource struct{ configured }

func newCommandDocumentResource() resource.Resource { return &commandDocumentResource{} }

type commandDocumentModel struct {
	ID      types.String `tfsdk:"id"`
	ARN     types.String `tfsdk:"arn"`
	Name    types.String `tfsdk:"name"`
	Kind    types.String `tfsdk:"kind"`
	Content types.String `tfsdk:"content"`
	Version types.String `tfsdk:"document_version"`
	Tags    types.Map    `tfsdk:"tags"`
	TagsAll types.Map    `tfsdk:"tags_all"`
}

func (r *commandDocumentResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_command_document"
}

func (r *commandDocumentResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	attrs := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{documentName},
			MarkdownDescription: "Name of the document."},
		"kind": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{stringvalidator.OneOf(documentKinds()...)},
			MarkdownDescription: "What the document does on a host: `db2_status` reads a database's own view, `db2_takeover` promotes the standby within its peer window, " +
				"`db2_forced_takeover` does so outside of it at a person's word, `db2_switchover` changes the roles in order, `db2_start` starts a database in the role that it has, `db2_rejoin` brings an old primary back as standby, " +
				"`postgresql_status` reads a server's own view, `postgresql_promote` promotes a standby, `postgresql_demote` stops a primary in order for a change of roles, `postgresql_start` starts a server in the role that it has, " +
				"`postgresql_rejoin` brings an old primary back as standby, with `pg_rewind` where needed, " +
				"`path_check` opens a TCP connection to the endpoint, `agent_install` installs a version of `hadr-agent` whose digest is known, and reports its health."},
		"content": schema.StringAttribute{Computed: true,
			MarkdownDescription: "The document (JSON). It comes with the provider, so a new version of the provider may change it; the change is a new default version of the document."},
		"document_version": schema.StringAttribute{Computed: true, MarkdownDescription: "Default version of the document."},
		"arn":              schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "ARN of the document."},
		"id":               schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Name of the document."},
	}
	addTags(attrs)
	resp.Schema = schema.Schema{
		MarkdownDescription: "SSM command document with a fixed script and validated parameters. Functions may run these documents only, so that the control plane has no free shell on a host.",
		Attributes:          attrs,
	}
}

// ModifyPlan compares the document of this provider with the one that exists.
func (r *commandDocumentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
	if req.Plan.Raw.IsNull() {
		return
	}
	var kind, before, version types.String
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("kind"), &kind)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("content"), &before)...)
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("document_version"), &version)...)
	}
	content, ok := documentContent(kind.ValueString())
	if resp.Diagnostics.HasError() || !ok {
		return
	}
	planned := types.StringValue(content)
	if before.Equal(planned) {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("document_version"), version)...)
	} else {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("document_version"), types.StringUnknown())...)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("content"), planned)...)
}

func (r *commandDocumentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m commandDocumentModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	id, err := r.identity(ctx) // before there is a document: without its ARN no state would have it
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	tags := r.allTags(ctx, m.Tags, &resp.Diagnostics)
	out, err := r.ssm.CreateDocument(ctx, &ssm.CreateDocumentInput{
		Name: &name, Content: goString(m.Content), Tags: ssmTags(tags),
		DocumentType: ssmtypes.DocumentTypeCommand, DocumentFormat: ssmtypes.DocumentFormatJson,
		TargetType: aws.String("/AWS::EC2::Instance"),
	})
	if err != nil {
		resp.Diagnostics.Append(diagnose.FailedAt(path.Root("name"), "creating command document", name, err))
		return
	}
	m.ID, m.TagsAll, m.Version = m.Name, tfFullMap(tags), tfString(out.DocumentDescription.DocumentVersion)
	m.ARN = types.StringValue(r.arn(id, "ssm", "document/"+name))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *commandDocumentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m commandDocumentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	err := r.readInto(ctx, name, &m, &resp.Diagnostics)
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("command document", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading command document", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *commandDocumentResource) readInto(ctx context.Context, name string, m *commandDocumentModel, diags *diag.Diagnostics) error {
	doc, err := r.ssm.GetDocument(ctx, &ssm.GetDocumentInput{Name: &name, DocumentVersion: aws.String("$DEFAULT")})
	if err != nil {
		return err
	}
	tags, err := r.ssm.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceId: &name, ResourceType: ssmtypes.ResourceTypeForTaggingDocument})
	if err != nil {
		return err
	}
	id, err := r.identity(ctx)
	if err != nil {
		return err
	}
	m.Name, m.Version = types.StringValue(name), tfString(doc.DocumentVersion)
	m.ARN = types.StringValue(r.arn(id, "ssm", "document/"+name))
	if content := aws.ToString(doc.Content); !sameJSON(content, m.Content.ValueString()) {
		m.Content = types.StringValue(content)
	}
	if m.Kind.IsNull() {
		m.Kind = types.StringValue(documentKindOf(m.Content.ValueString()))
	}
	remote := map[string]string{}
	for _, t := range tags.TagList {
		remote[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, remote, m.Tags, diags)
	return nil
}

func (r *commandDocumentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want commandDocumentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := have.ID.ValueString()
	want.ID, want.ARN, want.Version = have.ID, have.ARN, have.Version
	if err := r.change(ctx, have, &want, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing command document", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

// change adds a version and makes it the default. Running commands keep the
// version that they were sent with.
func (r *commandDocumentResource) change(ctx context.Context, have commandDocumentModel, want *commandDocumentModel, diags *diag.Diagnostics) error {
	name := goString(have.ID)
	if !have.Content.Equal(want.Content) {
		version, err := r.newVersion(ctx, name, goString(want.Content))
		if err != nil {
			return err
		}
		if _, err := r.ssm.UpdateDocumentDefaultVersion(ctx, &ssm.UpdateDocumentDefaultVersionInput{Name: name, DocumentVersion: version}); err != nil {
			return err
		}
		want.Version = tfString(version)
	}
	return r.retagSSM(ctx, name, ssmtypes.ResourceTypeForTaggingDocument, tagChange{have.TagsAll, want.TagsAll}, diags)
}

// newVersion returns the version that has the content: a new one, or the
// newest if it has it already, which AWS answers with DuplicateDocumentContent:
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_UpdateDocument.html
func (r *commandDocumentResource) newVersion(ctx context.Context, name, content *string) (*string, error) {
	out, err := r.ssm.UpdateDocument(ctx, &ssm.UpdateDocumentInput{
		Name: name, Content: content, DocumentVersion: aws.String("$LATEST"), DocumentFormat: ssmtypes.DocumentFormatJson,
	})
	if err == nil {
		return out.DocumentDescription.DocumentVersion, nil
	}
	if !hasCode(err, "DuplicateDocumentContent") {
		return nil, err
	}
	latest, err := r.ssm.DescribeDocument(ctx, &ssm.DescribeDocumentInput{Name: name, DocumentVersion: aws.String("$LATEST")})
	if err != nil {
		return nil, err
	}
	return latest.Document.DocumentVersion, nil
}

func (r *commandDocumentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m commandDocumentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if _, err := r.ssm.DeleteDocument(ctx, &ssm.DeleteDocumentInput{Name: goString(m.ID)}); err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting command document", m.ID.ValueString(), err))
	}
}

func (r *commandDocumentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
