package provider

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Limits and defaults of functions:
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html and
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-configuring.html
const (
	maxFunctionTimeout = 900
	minEventAge        = 180 // two retries come after one and after two more minutes
	maxEventAge        = 21600
	maxRetries         = 2
	defaultMemory      = 256
	defaultRetention   = 90
)

// retentions are what CloudWatch Logs accepts:
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var retentions = []int64{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

func functionSchema() schema.Schema {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	ids := func(v validator.String, text string) schema.SetAttribute {
		return schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: text,
			Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(v)}}
	}
	attrs := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{stringvalidator.RegexMatches(
			regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), "must have 1 to 64 letters, digits, hyphens and underscores")},
			MarkdownDescription: "Name of the function, and of its execution role and log group."},
		"kind": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{stringvalidator.OneOf(functionKinds...)},
			MarkdownDescription: "What the function does: `takeover` answers alarms, decides and takes over; `watch` looks at `groups` every minute, invoked by a `hadr_schedule`: it goes on with what was interrupted, acts on alarms that are red but were missed, and puts right what differs from the record."},
		"table_arn": schema.StringAttribute{Required: true, Validators: []validator.String{arnOf("dynamodb")},
			MarkdownDescription: "ARN of the state table."},
		"table_kms_key_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{kmsKey{}},
			MarkdownDescription: "Customer managed KMS key of the state table (`kms_key_arn` of `hadr_state_table`). With it the function may use the key through DynamoDB."},
		"groups": ids(groupName, "Groups that a function of kind `watch` looks at."),
		"alarm_names": ids(stringvalidator.LengthBetween(1, maxAlarmName),
			"Names of the alarms that may invoke the function. Names, not references: the alarms name the function in their actions, and a reference back would be a cycle."),
		"instance_ids": ids(instanceID, "EC2 instances of the nodes: the function may stop and start them and run `document_names` on them."),
		"volume_kms_key_arns": ids(kmsKey{},
			"Customer managed KMS keys of the nodes' EBS volumes. With them the function may let EC2 use the keys; without them a node whose volumes have such a key cannot be started again. The key's policy must let IAM policies of the account allow it, as the default one does."),
		"checker_instance_ids": ids(instanceID, "EC2 instances that only try the data path: the function may run `document_names` on them."),
		"route_table_ids":      ids(tableID, "Route tables whose routes the function may lead to another node."),
		"isolation_security_group_id": schema.StringAttribute{Optional: true, Validators: []validator.String{securityGroupID, stringvalidator.AlsoRequires(path.MatchRoot("network_interface_ids"))},
			MarkdownDescription: "Security group that cuts a node off from new connections: the function may give it to `network_interface_ids`, where the stop of an old primary stays unconfirmed."},
		"network_interface_ids": ids(eniID, "Network interfaces of the nodes, for `isolation_security_group_id`."),
		"document_names": ids(documentName,
			"Command documents that the function may run. It can run no other document, and so no free shell."),
		"architecture": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("arm64"),
			Validators:          []validator.String{stringvalidator.OneOf("arm64", "amd64")},
			MarkdownDescription: "Processor: `arm64` (default, cheaper) or `amd64` (Lambda calls it x86_64)."},
		"memory_mb": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(defaultMemory),
			Validators: []validator.Int64{int64validator.Between(128, 10240)}, MarkdownDescription: "Memory in MB. Default: 256."},
		"timeout_seconds": schema.Int64Attribute{Optional: true, Computed: true,
			Validators:          []validator.Int64{int64validator.Between(30, maxFunctionTimeout)},
			MarkdownDescription: "Longest run in seconds. Default: 900, and 300 for `watch`. A run that is cut off is resumed from the record by the next one."},
		"log_level": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("info"),
			Validators:          []validator.String{stringvalidator.OneOf("debug", "info", "warn", "error")},
			MarkdownDescription: "`debug`, `info` (default), `warn` or `error`."},
		"log_retention_days": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(defaultRetention),
			Validators: []validator.Int64{int64validator.OneOf(retentions...)}, MarkdownDescription: "How long CloudWatch Logs keeps the function's log. Default: 90."},
		"maximum_event_age_seconds": schema.Int64Attribute{Optional: true, Computed: true,
			Validators:          []validator.Int64{int64validator.Between(minEventAge, maxEventAge)},
			MarkdownDescription: "How long Lambda keeps an event that it could not deliver. Default: 360, and 180 for `watch`; at least 180, because the second retry comes after three minutes. Old events do no harm: the function compares them with the record."},
		"maximum_retry_attempts": schema.Int64Attribute{Optional: true, Computed: true,
			Validators: []validator.Int64{int64validator.Between(0, maxRetries)}, MarkdownDescription: "Retries of a failed run. Default: 2, and 0 for `watch`, which comes again in a minute."},
		"failure_destination_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{arnOf("sns", "sqs")},
			MarkdownDescription: "Topic or queue that gets the events that failed for good."},
		"notification_arns": ids(arnOf("sns"), "SNS topics of the group's `notification_arns`, on which the function may publish. A topic that is encrypted with a key of your own needs that key's policy to let the function's role use it (`kms:GenerateDataKey`, `kms:Decrypt`)."),
		"role_arn": schema.StringAttribute{Optional: true, Computed: true, Validators: []validator.String{arnOf("iam")}, PlanModifiers: keep,
			MarkdownDescription: "Execution role. Default: a role of the function's own, which allows what is named here and nothing else; see `policy`. Another one must not be called like the function."},
		"policy": schema.StringAttribute{Computed: true,
			MarkdownDescription: "IAM policy (JSON) that the function needs: what its own role has, and what the role of `role_arn` must have."},
		"environment": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Environment variables of the function. What somebody adds or changes there, an apply sets right."},
		"source_code_hash": schema.StringAttribute{Computed: true,
			MarkdownDescription: "SHA-256 of the function's code in base64. A new version of the provider changes it and so updates the function."},
		"log_group_name": schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Log group of the function."},
		"arn":            schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "ARN of the function."},
		"id":             schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Name of the function."},
	}
	addTags(attrs)
	return schema.Schema{
		MarkdownDescription: "Lambda function of the control plane. Its code is embedded in the provider. With it come an execution role of least privilege, " +
			"a log group with retention, the settings of asynchronous invocation and the permission for the named alarms alone to invoke it.",
		Attributes: attrs,
	}
}

var (
	functionKinds   = []string{kindTakeover, kindWatch}
	documentName    = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,128}$`), "must have 3 to 128 letters, digits, hyphens, underscores and dots")
	documentVersion = stringvalidator.RegexMatches(regexp.MustCompile(`^[1-9][0-9]{0,9}$`), "must be a version number, such as the `document_version` of a hadr_command_document")
)
