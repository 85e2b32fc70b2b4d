package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// Forms of names and identifiers.
var (
	groupName       = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-z][a-z0-9-]{1,30}$`), "must begin with a lower-case letter and have 2 to 31 lower-case letters, digits and hyphens")
	nodeName        = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`), "must begin with a lower-case letter and have at most 31 lower-case letters, digits and hyphens")
	instanceID      = stringvalidator.RegexMatches(regexp.MustCompile(`^i-[0-9a-f]{8}([0-9a-f]{9})?$`), "must be the id of an EC2 instance, such as i-0123456789abcdef0")
	securityGroupID = stringvalidator.RegexMatches(regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`), "must be the id of a security group, such as sg-0123456789abcdef0")
	eniID           = stringvalidator.RegexMatches(regexp.MustCompile(`^eni-[0-9a-f]{8}([0-9a-f]{9})?$`), "must be the id of a network interface, such as eni-0123456789abcdef0")
	tableID         = stringvalidator.RegexMatches(regexp.MustCompile(`^rtb-[0-9a-f]{8}([0-9a-f]{9})?$`), "must be the id of a route table, such as rtb-0123456789abcdef0")
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
	dynamoName = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`), "must have 3 to 255 letters, digits, hyphens, underscores and dots")
)

// arnOf accepts ARNs of the given services, or of any.
func arnOf(services ...string) validator.String { return arnValidator{services} }

type arnValidator struct{ services []string }

func (v arnValidator) Description(context.Context) string {
	if len(v.services) == 0 {
		return "must be an ARN"
	}
	return "must be an ARN of " + strings.Join(v.services, " or ")
}

func (v arnValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v arnValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	s := req.ConfigValue.ValueString()
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	a, err := awsarn.Parse(s)
	ok := err == nil && a.Resource != "" && len(v.services) == 0
	for _, want := range v.services {
		ok = ok || (err == nil && a.Service == want && a.Resource != "")
	}
	if !ok {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx),
			"Give the whole ARN, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE, as the resource's arn attribute has it"))
	}
}

// kmsKey accepts ARNs of KMS keys. That of an alias is refused: in a policy it
// matches no key, and DynamoDB answers with the key behind it:
// https://docs.aws.amazon.com/kms/latest/developerguide/alias-authorization.html
type kmsKey struct{}

func (kmsKey) Description(context.Context) string             { return "must be the ARN of a KMS key" }
func (v kmsKey) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v kmsKey) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	if a, err := awsarn.Parse(s); err != nil || a.Service != "kms" || !strings.HasPrefix(a.Resource, "key/") {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx),
			"Give the ARN of the key itself, not of an alias: arn:PARTITION:kms:REGION:ACCOUNT:key/ID"))
	}
}

// ipv4 accepts a host's IPv4 address.
type ipv4 struct{}

func (ipv4) Description(context.Context) string             { return "must be an IPv4 address" }
func (v ipv4) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v ipv4) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, "is not the IPv4 address of a host",
			"Give one address without a mask, such as 192.168.170.10"))
	}
}

// httpURL accepts http and https URLs.
type httpURL struct{}

func (httpURL) Description(context.Context) string             { return "must be an http or https URL" }
func (v httpURL) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v httpURL) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx), "Give a URL such as http://127.0.0.1:4566"))
	}
}

// jsonText accepts JSON.
type jsonText struct{}

func (jsonText) Description(context.Context) string             { return "must be JSON" }
func (v jsonText) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v jsonText) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if s := req.ConfigValue.ValueString(); !json.Valid([]byte(s)) {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx), "Write it with jsonencode()"))
	}
}

// duration accepts durations of Go within bounds.
func duration(least, most time.Duration) validator.String { return durationValidator{least, most} }

type durationValidator struct{ least, most time.Duration }

func (v durationValidator) Description(context.Context) string {
	return fmt.Sprintf("must be a duration between %s and %s", v.least, v.most)
}

func (v durationValidator) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v durationValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	if d, err := time.ParseDuration(s); err != nil || d < v.least || d > v.most {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx), "Write it like 1h or 30m"))
	}
}

// rfc3339 accepts moments.
type rfc3339 struct{}

func (rfc3339) Description(context.Context) string {
	return "must be a moment such as 2030-01-02T15:04:05Z"
}
func (v rfc3339) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v rfc3339) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	s := req.ConfigValue.ValueString()
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, s, v.Description(ctx), "Write date and time with a time zone (RFC 3339)"))
	}
}

// notReservedTag refuses keys that belong to AWS or to this control plane.
type notReservedTag struct{}

func (notReservedTag) Description(context.Context) string {
	return "must not begin with aws:, hadr:table or hadr:group"
}
func (v notReservedTag) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v notReservedTag) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	k := req.ConfigValue.ValueString()
	if strings.HasPrefix(k, "aws:") || k == tagTable || k == tagGroup {
		resp.Diagnostics.Append(diagnose.Invalid(req.Path, k, "is reserved", "Choose another key"))
	}
}

// Tags that bind a machine to its control plane (R12).
const (
	tagTable = "hadr:table"
	tagGroup = "hadr:group"
)

// Names of Db2: https://www.ibm.com/docs/en/db2/11.5?topic=rules-naming
var (
	databaseName  = stringvalidator.RegexMatches(regexp.MustCompile(`^[A-Za-z@#$][A-Za-z0-9@#$_]{0,7}$`), "must be the name of a Db2 database: 1 to 8 letters, digits, @, #, $ and _, not beginning with a digit")
	instanceOwner = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-z_][a-z0-9_]{0,7}$`), "must be the owner of a Db2 instance: 1 to 8 lower-case letters, digits and _")
)
