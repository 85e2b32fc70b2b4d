package provider

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// services are the AWS services that the provider calls, by the names of
// `endpoints` and of the AWS CLI.
var services = []string{"cloudwatch", "cloudwatchlogs", "dynamodb", "ec2", "iam", "kms", "lambda", "scheduler", "ssm", "sts"}

func providerSchema() schema.Schema {
	accounts := []validator.Set{setvalidator.ValueStringsAre(
		stringvalidator.RegexMatches(regexp.MustCompile(`^\d{12}$`), "must be an AWS account id of 12 digits"))}
	return schema.Schema{
		MarkdownDescription: "Takes over a failed primary database on AWS without cluster software: alarms, functions, " +
			"the group's record and the routes of its address, declared in Terraform and operated by the control plane that they form.\n\n" +
			"The provider finds Region and credentials by the conventions of AWS tooling: its own arguments first, then the environment " +
			"(`AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_ENDPOINT_URL`, ...), then shared files, then the role of the machine.",
		Attributes: map[string]schema.Attribute{
			"region":  schema.StringAttribute{Optional: true, MarkdownDescription: "AWS Region. Default: `AWS_REGION`, then the profile's."},
			"profile": schema.StringAttribute{Optional: true, MarkdownDescription: "Profile of the shared configuration and credentials files. Default: `AWS_PROFILE`."},
			"shared_config_files": schema.ListAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Shared configuration files. Default: `AWS_CONFIG_FILE`, then `~/.aws/config`."},
			"shared_credentials_files": schema.ListAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Shared credentials files. Default: `AWS_SHARED_CREDENTIALS_FILE`, then `~/.aws/credentials`."},
			"access_key": schema.StringAttribute{Optional: true, MarkdownDescription: "Access key id. Default: `AWS_ACCESS_KEY_ID`, then the profile's.",
				Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("secret_key"))}},
			"secret_key": schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Secret access key. Default: `AWS_SECRET_ACCESS_KEY`, then the profile's.",
				Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("access_key"))}},
			"token":       schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Session token of temporary credentials. Default: `AWS_SESSION_TOKEN`."},
			"assume_role": assumeRoleSchema(),
			"endpoints":   endpointsSchema(),
			"max_retries": schema.Int64Attribute{Optional: true, MarkdownDescription: "How often a throttled or failed call is tried again. Default: 10.",
				Validators: []validator.Int64{int64validator.Between(1, 100)}},
			"default_tags": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Tags that every resource gets that can have tags.",
				Attributes: map[string]schema.Attribute{
					"tags": schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "The tags. A tag of a resource wins over one of the same key here."},
				}},
			"allowed_account_ids": schema.SetAttribute{Optional: true, ElementType: types.StringType, Validators: append(accounts,
				setvalidator.ConflictsWith(path.MatchRoot("forbidden_account_ids"))),
				MarkdownDescription: "The only AWS accounts that the provider may work in."},
			"forbidden_account_ids": schema.SetAttribute{Optional: true, ElementType: types.StringType, Validators: accounts,
				MarkdownDescription: "AWS accounts that the provider must not work in."},
		},
	}
}

func assumeRoleSchema() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Role that the provider assumes with the credentials found.",
		Attributes: map[string]schema.Attribute{
			"role_arn": schema.StringAttribute{Required: true, MarkdownDescription: "ARN of the role.",
				Validators: []validator.String{arnOf("iam")}},
			"session_name": schema.StringAttribute{Optional: true, MarkdownDescription: "Name of the session, as it stands in CloudTrail. Default: `hadr`.",
				Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^[\w+=,.@-]{2,64}$`), "must have 2 to 64 letters, digits or any of +=,.@-")}},
			"external_id": schema.StringAttribute{Optional: true, MarkdownDescription: "External id that the role's trust policy asks for."},
			"duration": schema.StringAttribute{Optional: true, MarkdownDescription: "Life of the session's credentials, such as `1h`. 15 minutes to 12 hours.",
				Validators: []validator.String{duration(minSession, maxSession)}},
			"policy": schema.StringAttribute{Optional: true, MarkdownDescription: "IAM policy (JSON) that narrows the session.",
				Validators: []validator.String{jsonText{}}},
			"tags": schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Session tags."},
		},
	}
}

func endpointsSchema() schema.SingleNestedAttribute {
	attrs := map[string]schema.Attribute{}
	for _, s := range services {
		attrs[s] = schema.StringAttribute{Optional: true, Validators: []validator.String{httpURL{}},
			MarkdownDescription: "URL for calls to " + s + ". Default: `AWS_ENDPOINT_URL_" + envName(s) + "`, then `AWS_ENDPOINT_URL`, then AWS."}
	}
	return schema.SingleNestedAttribute{Optional: true, Attributes: attrs,
		MarkdownDescription: "URLs of services that are not reached at AWS's own addresses, such as the sandbox of hadr."}
}
