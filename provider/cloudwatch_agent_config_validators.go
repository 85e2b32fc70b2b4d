package provider

import (
	"context"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

// parameterName accepts names of parameters, and paths of them:
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html
type parameterName struct{}

// A path has at most 15 levels, and an ARN 1011 characters.
var parameterForm = regexp.MustCompile(`^((/[a-zA-Z0-9_.-]+){1,15}|[a-zA-Z0-9_.-]+)$`)

const maxParameterName = 900

func (parameterName) Description(context.Context) string {
	return "must have letters, digits, hyphens, underscores and dots, or be a path of up to 15 such names, and must not begin with aws or ssm"
}

func (v parameterName) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v parameterName) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	first := strings.ToLower(strings.TrimPrefix(s, "/"))
	if !parameterForm.MatchString(s) || len(s) > maxParameterName || strings.HasPrefix(first, "aws") || strings.HasPrefix(first, "ssm") {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx), "Write a name such as AmazonCloudWatch-hadr-orders or /hadr/orders"))
	}
}

// processPattern accepts regular expressions that the CloudWatch agent takes.
type processPattern struct{}

func (processPattern) Description(context.Context) string {
	return "must be a regular expression (RE2) of 1 to 255 characters"
}

func (v processPattern) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (processPattern) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	if err := procstat.CheckPattern(s); err != nil {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, err.Error(), "Write the name of the process, such as ^db2sysc$"))
	}
}
