package provider

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure   = (*stateTableResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*stateTableResource)(nil)
	_ resource.ResourceWithImportState = (*stateTableResource)(nil)
)

// tableTimeout bounds the wait for a table; DynamoDB gives no figure, and
// tables without indexes are usually ready within seconds.
const tableTimeout = 10 * time.Minute

type stateTableResource struct{ configured }

func newStateTableResource() resource.Resource { return &stateTableResource{} }

func (r *stateTableResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_state_table"
}

func (r *stateTableResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attrs := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true, Validators: []validator.String{dynamoName},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the table."},
		"deletion_protection": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
			MarkdownDescription: "Refuse to delete the table. Default: `true`; set `false` and apply before destroying."},
		"point_in_time_recovery": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
			MarkdownDescription: "Keep continuous backups of the last 35 days. Default: `true`. Restore for reading only: a restored record is older than the nodes' epochs."},
		"kms_key_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{kmsKey{}},
			MarkdownDescription: "Customer managed KMS key. Default: the key that AWS manages for DynamoDB in the account. `table_kms_key_arn` of `hadr_function` and `hadr_host_policy` lets them use it."},
		"arn": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "ARN of the table."},
		"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Name of the table."},
	}
	addTags(attrs)
	resp.Schema = schema.Schema{
		MarkdownDescription: "DynamoDB table that holds the record of failover groups: who is primary in which epoch, the running operation, " +
			"maintenance and history. One table serves many groups. It is encrypted with KMS, billed on demand and protected against deletion.",
		Attributes: attrs,
	}
}

func (r *stateTableResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
}

func (r *stateTableResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m stateTableModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name, protect := m.Name.ValueString(), m.DeletionProtection
	m.DeletionProtection = types.BoolValue(false) // until all else is done: what is half made can be made anew
	in := m.expand()
	in.Tags = dynamoTags(r.allTags(ctx, m.Tags, &resp.Diagnostics))
	if _, err := r.dynamodb.CreateTable(ctx, in); err != nil {
		resp.Diagnostics.Append(diagnose.FailedAt(path.Root("name"), "creating state table", name, err))
		return
	}
	m.ID, m.ARN, m.TagsAll = m.Name, types.StringNull(), tfFullMap(r.allTags(ctx, m.Tags, &resp.Diagnostics))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...) // what exists is in the state, whatever happens next
	arn, err := r.ready(ctx, name)
	if err == nil {
		m.ARN = types.StringValue(arn)
		err = r.setRecovery(ctx, name, m.PointInTimeRecovery.ValueBool())
	}
	if err == nil && protect.ValueBool() {
		err = r.protect(ctx, name, true)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating state table", name, err))
	} else {
		m.DeletionProtection = protect
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *stateTableResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m stateTableModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	t, err := r.find(ctx, name)
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("state table", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		err = r.readInto(ctx, t, &m, &resp.Diagnostics)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading state table", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *stateTableResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want stateTableModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID, want.ARN = have.ID, have.ARN
	if err := r.change(ctx, have, want, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing state table", have.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

// change sends what differs, one kind at a time: DynamoDB accepts one kind of
// change per UpdateTable.
func (r *stateTableResource) change(ctx context.Context, have, want stateTableModel, diags *diag.Diagnostics) error {
	name := have.ID.ValueString()
	if !have.DeletionProtection.Equal(want.DeletionProtection) {
		if err := r.protect(ctx, name, want.DeletionProtection.ValueBool()); err != nil {
			return err
		}
	}
	if !have.KMSKeyARN.Equal(want.KMSKeyARN) {
		if err := r.encrypt(ctx, name, want); err != nil {
			return err
		}
	}
	if !have.PointInTimeRecovery.Equal(want.PointInTimeRecovery) {
		if err := r.setRecovery(ctx, name, want.PointInTimeRecovery.ValueBool()); err != nil {
			return err
		}
	}
	set, remove := tagChanges(goMap(ctx, have.TagsAll, diags), goMap(ctx, want.TagsAll, diags))
	if len(set) > 0 {
		if _, err := r.dynamodb.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: have.ARN.ValueStringPointer(), Tags: dynamoTags(set)}); err != nil {
			return err
		}
	}
	if len(remove) > 0 {
		_, err := r.dynamodb.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: have.ARN.ValueStringPointer(), TagKeys: remove})
		return err
	}
	return nil
}

func (r *stateTableResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m stateTableModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	if m.DeletionProtection.ValueBool() {
		resp.Diagnostics.Append(diagnose.Problem{
			Tried: "deleting state table", Object: name,
			Cause: "deletion_protection is true: the table holds who is primary, and without it nothing takes over",
			Next: "Set deletion_protection = false, apply, then destroy. A table that Terraform replaces because it is tainted " +
				"can be kept instead: run `terraform untaint` with its address, then apply",
		}.ErrorAt(path.Root("deletion_protection")))
		return
	}
	err := r.eventually(ctx, func() error {
		_, err := r.dynamodb.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
		return err
	}, func(err error) bool { return hasCode(err, "ResourceInUseException") }) // while it is made or changed
	if err == nil {
		err = dynamodb.NewTableNotExistsWaiter(r.dynamodb, func(o *dynamodb.TableNotExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
		}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableTimeout)
	}
	if err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting state table", name, err))
	}
}

func (r *stateTableResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

func (r *stateTableResource) find(ctx context.Context, name string) (*ddb.TableDescription, error) {
	out, err := r.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

// customerKey is the key of a table that is imported, null for the one that AWS
// manages, which is no setting. DynamoDB does not tell them apart.
func (r *stateTableResource) customerKey(ctx context.Context, arn string, diags *diag.Diagnostics) types.String {
	if arn == "" {
		return types.StringNull()
	}
	out, err := r.kms.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &arn})
	if err != nil {
		diags.Append(diagnose.KeyNotRead(arn, err))
		return types.StringNull()
	}
	if out.KeyMetadata == nil || out.KeyMetadata.KeyManager != kmstypes.KeyManagerTypeCustomer {
		return types.StringNull()
	}
	return types.StringValue(arn)
}

// ready waits until the table is ACTIVE and returns its ARN.
func (r *stateTableResource) ready(ctx context.Context, name string) (string, error) {
	w := dynamodb.NewTableExistsWaiter(r.dynamodb, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
	})
	out, err := w.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableTimeout)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Table.TableArn), nil
}

// protect switches the protection against deletion.
func (r *stateTableResource) protect(ctx context.Context, name string, on bool) error {
	if _, err := r.dynamodb.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: &on}); err != nil {
		return err
	}
	_, err := r.ready(ctx, name)
	return err
}

// encrypt changes the key, unless the table has it already, as after an apply
// that ended half way: DynamoDB refuses to change a key to itself.
func (r *stateTableResource) encrypt(ctx context.Context, name string, want stateTableModel) error {
	t, err := r.find(ctx, name)
	if err != nil {
		return err
	}
	if key := want.KMSKeyARN.ValueString(); key != "" && key == keyOf(t) {
		return nil
	}
	if _, err := r.dynamodb.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, SSESpecification: want.encryption()}); err != nil {
		return err
	}
	_, err = r.ready(ctx, name)
	return err
}

// setRecovery retries while continuous backups are being enabled for a new
// table: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
func (r *stateTableResource) setRecovery(ctx context.Context, name string, on bool) error {
	return r.eventually(ctx, func() error {
		_, err := r.dynamodb.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        &name,
			PointInTimeRecoverySpecification: &ddb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: &on},
		})
		return err
	}, backupsUnavailable)
}

// backupsUnavailable is the answer while continuous backups are being enabled.
func backupsUnavailable(err error) bool { return hasCode(err, "ContinuousBackupsUnavailableException") }

func (r *stateTableResource) readInto(ctx context.Context, t *ddb.TableDescription, m *stateTableModel, diags *diag.Diagnostics) error {
	if m.Name.IsNull() { // an import
		m.KMSKeyARN = r.customerKey(ctx, keyOf(t), diags)
	}
	m.flatten(t)
	backups, err := r.dynamodb.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: t.TableName})
	if err != nil && !backupsUnavailable(err) {
		return err
	}
	m.PointInTimeRecovery = types.BoolValue(err == nil && recoveryOn(backups.ContinuousBackupsDescription))
	tags := map[string]string{}
	p := dynamodb.ListTagsOfResourceInput{ResourceArn: t.TableArn}
	for {
		out, err := r.dynamodb.ListTagsOfResource(ctx, &p)
		if err != nil {
			return err
		}
		for _, tag := range out.Tags {
			tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		if p.NextToken = out.NextToken; p.NextToken == nil {
			break
		}
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, tags, m.Tags, diags)
	return nil
}
