package provider

import (
	"context"
	"slices"
	"strings"

	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type functionModel struct {
	ID                    types.String `tfsdk:"id"`
	ARN                   types.String `tfsdk:"arn"`
	Name                  types.String `tfsdk:"name"`
	Kind                  types.String `tfsdk:"kind"`
	TableARN              types.String `tfsdk:"table_arn"`
	TableKeyARN           types.String `tfsdk:"table_kms_key_arn"`
	VolumeKeyARNs         types.Set    `tfsdk:"volume_kms_key_arns"`
	Groups                types.Set    `tfsdk:"groups"`
	AlarmNames            types.Set    `tfsdk:"alarm_names"`
	InstanceIDs           types.Set    `tfsdk:"instance_ids"`
	CheckerInstanceIDs    types.Set    `tfsdk:"checker_instance_ids"`
	RouteTableIDs         types.Set    `tfsdk:"route_table_ids"`
	IsolationGroupID      types.String `tfsdk:"isolation_security_group_id"`
	NetworkInterfaceIDs   types.Set    `tfsdk:"network_interface_ids"`
	DocumentNames         types.Set    `tfsdk:"document_names"`
	Architecture          types.String `tfsdk:"architecture"`
	MemoryMB              types.Int64  `tfsdk:"memory_mb"`
	TimeoutSeconds        types.Int64  `tfsdk:"timeout_seconds"`
	LogLevel              types.String `tfsdk:"log_level"`
	LogRetentionDays      types.Int64  `tfsdk:"log_retention_days"`
	MaximumEventAge       types.Int64  `tfsdk:"maximum_event_age_seconds"`
	MaximumRetryAttempts  types.Int64  `tfsdk:"maximum_retry_attempts"`
	FailureDestinationARN types.String `tfsdk:"failure_destination_arn"`
	NotificationARNs      types.Set    `tfsdk:"notification_arns"`
	RoleARN               types.String `tfsdk:"role_arn"`
	Policy                types.String `tfsdk:"policy"`
	Environment           types.Map    `tfsdk:"environment"`
	SourceCodeHash        types.String `tfsdk:"source_code_hash"`
	LogGroupName          types.String `tfsdk:"log_group_name"`
	Tags                  types.Map    `tfsdk:"tags"`
	TagsAll               types.Map    `tfsdk:"tags_all"`
}

// Parts that belong to a function and have fixed names, so that a read finds
// them and a destroy removes them.
const (
	ownPolicyName = "hadr-function"
	logGroupRoot  = "/aws/lambda/"
)

func (m functionModel) scope(ctx context.Context, c *clients, id identity, diags *diag.Diagnostics) functionScope {
	return functionScope{
		Partition: id.Partition, Region: c.region, Account: id.Account,
		TableARN:           m.TableARN.ValueString(),
		LogGroupARN:        c.arn(id, "logs", "log-group:"+logGroupRoot+m.Name.ValueString()),
		Instances:          goStrings(ctx, m.InstanceIDs, diags),
		Checkers:           goStrings(ctx, m.CheckerInstanceIDs, diags),
		RouteTables:        goStrings(ctx, m.RouteTableIDs, diags),
		Documents:          goStrings(ctx, m.DocumentNames, diags),
		IsolationGroup:     m.IsolationGroupID.ValueString(),
		Interfaces:         goStrings(ctx, m.NetworkInterfaceIDs, diags),
		FailureDestination: m.FailureDestinationARN.ValueString(),
		Topics:             goStrings(ctx, m.NotificationARNs, diags),
		TableKey:           m.TableKeyARN.ValueString(),
		VolumeKeys:         goStrings(ctx, m.VolumeKeyARNs, diags),
	}
}

func (m functionModel) policyText(ctx context.Context, c *clients, id identity, diags *diag.Diagnostics) types.String {
	if m.kind().policy == nil {
		return types.StringUnknown()
	}
	return types.StringValue(m.kind().policy(m.scope(ctx, c, id, diags)).String())
}

// policyKnown reports whether everything that the policy is made of is known.
func (m functionModel) policyKnown() bool {
	if m.Kind.IsUnknown() || m.TableARN.IsUnknown() || m.Name.IsUnknown() || m.FailureDestinationARN.IsUnknown() || m.IsolationGroupID.IsUnknown() || m.TableKeyARN.IsUnknown() {
		return false
	}
	for _, s := range []types.Set{m.InstanceIDs, m.CheckerInstanceIDs, m.RouteTableIDs, m.DocumentNames, m.NetworkInterfaceIDs, m.VolumeKeyARNs, m.NotificationARNs} {
		if hasUnknown(s) {
			return false
		}
	}
	return true
}

// environmentKnown reports whether everything that the environment is made of
// is known.
func (m functionModel) environmentKnown() bool {
	return !m.TableARN.IsUnknown() && !m.LogLevel.IsUnknown() && !hasUnknown(m.Groups)
}

func isUnknown(v attr.Value) bool { return v.IsUnknown() }

func (m functionModel) create(code functionCode, tags map[string]string) *lambda.CreateFunctionInput {
	return &lambda.CreateFunctionInput{
		FunctionName:  goString(m.Name),
		Role:          goString(m.RoleARN),
		Runtime:       lambdatypes.RuntimeProvidedal2023,
		Handler:       goString(m.Kind),
		Code:          &lambdatypes.FunctionCode{ZipFile: code.Zip},
		Architectures: m.architectures(),
		MemorySize:    goInt32(m.MemoryMB),
		Timeout:       goInt32(m.TimeoutSeconds),
		Environment:   &lambdatypes.Environment{Variables: m.variables()},
		Tags:          tags,
	}
}

func (m functionModel) configuration() *lambda.UpdateFunctionConfigurationInput {
	return &lambda.UpdateFunctionConfigurationInput{
		FunctionName: goString(m.Name),
		Role:         goString(m.RoleARN),
		Handler:      goString(m.Kind),
		MemorySize:   goInt32(m.MemoryMB),
		Timeout:      goInt32(m.TimeoutSeconds),
		Environment:  &lambdatypes.Environment{Variables: m.variables()},
	}
}

// Environment variables of a function.
const (
	envTable    = "HADR_TABLE"
	envLogLevel = "HADR_LOG_LEVEL"
	envGroups   = "HADR_GROUPS" // with commas, in order
)

func (m functionModel) variables() map[string]string {
	v := map[string]string{envTable: tableOf(m.TableARN.ValueString()), envLogLevel: m.LogLevel.ValueString()}
	var names []string
	for _, g := range m.Groups.Elements() {
		if s, ok := g.(types.String); ok {
			names = append(names, s.ValueString())
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		v[envGroups] = strings.Join(names, ",")
	}
	return v
}

func (m functionModel) architectures() []lambdatypes.Architecture {
	if m.Architecture.ValueString() == "amd64" {
		return []lambdatypes.Architecture{lambdatypes.ArchitectureX8664}
	}
	return []lambdatypes.Architecture{lambdatypes.ArchitectureArm64}
}

func (m functionModel) invocation() *lambda.PutFunctionEventInvokeConfigInput {
	in := &lambda.PutFunctionEventInvokeConfigInput{
		FunctionName:             goString(m.Name),
		MaximumEventAgeInSeconds: goInt32(m.MaximumEventAge),
		MaximumRetryAttempts:     goInt32(m.MaximumRetryAttempts),
	}
	if d := goString(m.FailureDestinationARN); d != nil {
		in.DestinationConfig = &lambdatypes.DestinationConfig{OnFailure: &lambdatypes.OnFailure{Destination: d}}
	}
	return in
}

// sameConfiguration reports whether UpdateFunctionConfiguration has nothing to do.
func (m functionModel) sameConfiguration(o functionModel) bool {
	return m.RoleARN.Equal(o.RoleARN) && m.MemoryMB.Equal(o.MemoryMB) && m.TimeoutSeconds.Equal(o.TimeoutSeconds) &&
		m.Environment.Equal(o.Environment)
}

func (m functionModel) sameInvocation(o functionModel) bool {
	return m.MaximumEventAge.Equal(o.MaximumEventAge) && m.MaximumRetryAttempts.Equal(o.MaximumRetryAttempts) &&
		m.FailureDestinationARN.Equal(o.FailureDestinationARN)
}

// ownRole reports whether the role is the one that the resource made.
func (m functionModel) ownRole() bool {
	return isRole(m.RoleARN, m.ownRoleName())
}

func (m functionModel) ownRoleName() string { return m.Name.ValueString() }

func (m *functionModel) flatten(f *lambda.GetFunctionOutput) {
	c := f.Configuration
	m.ID, m.Name, m.ARN = tfString(c.FunctionName), tfString(c.FunctionName), tfString(c.FunctionArn)
	m.Kind, m.RoleARN, m.SourceCodeHash = tfString(c.Handler), tfString(c.Role), tfString(c.CodeSha256)
	m.MemoryMB, m.TimeoutSeconds = tfInt(c.MemorySize), tfInt(c.Timeout)
	m.Architecture = types.StringValue("arm64")
	if slices.Contains(c.Architectures, lambdatypes.ArchitectureX8664) {
		m.Architecture = types.StringValue("amd64")
	}
	m.LogGroupName = types.StringValue(logGroupRoot + m.Name.ValueString())
	if c.LoggingConfig != nil && c.LoggingConfig.LogGroup != nil {
		m.LogGroupName = tfString(c.LoggingConfig.LogGroup)
	}
	var env map[string]string
	if c.Environment != nil {
		env = c.Environment.Variables
	}
	m.Environment = tfFullMap(env)
	m.LogLevel = types.StringValue(env[envLogLevel])
	m.Groups = tfSet(strings.FieldsFunc(env[envGroups], func(r rune) bool { return r == ',' }))
	if table := env[envTable]; table != tableOf(m.TableARN.ValueString()) {
		m.TableARN = types.StringValue(siblingARN(m.ARN.ValueString(), "dynamodb", "table/"+table))
	}
}

// tableOf is the name in the ARN of a table.
func tableOf(arn string) string {
	a, err := awsarn.Parse(arn)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(a.Resource, "table/")
}

func serviceOf(arn string) string {
	a, _ := awsarn.Parse(arn) // "" for what is no ARN
	return a.Service
}

func regionOf(arn string) string {
	a, _ := awsarn.Parse(arn) // "" for what is no ARN
	return a.Region
}

// siblingARN is the ARN of a resource in the same account and Region.
func siblingARN(arn, service, resource string) string {
	a, err := awsarn.Parse(arn)
	if err != nil {
		return ""
	}
	a.Service, a.Resource = service, resource
	return a.String()
}
