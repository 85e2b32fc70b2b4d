package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

// What the CloudWatch agent counts by default, and how soon a count leaves the
// host: a database that is gone should not wait for the agent's minute.
const (
	defaultProcess         = "^db2sysc$"
	defaultCollectInterval = 10
	defaultFlushInterval   = 5
)

// maxStandardParameter is how many bytes a parameter of the tier without a
// price may have:
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
const (
	maxStandardParameter  = 4096
	standardParameterPage = "https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html"
)

type cloudWatchAgentConfigModel struct {
	ID         types.String `tfsdk:"id"`
	ARN        types.String `tfsdk:"arn"`
	Name       types.String `tfsdk:"name"`
	Namespace  types.String `tfsdk:"namespace"`
	Processes  types.Set    `tfsdk:"processes"`
	Interval   types.Int64  `tfsdk:"collection_interval_seconds"`
	Flush      types.Int64  `tfsdk:"flush_interval_seconds"`
	MetricName types.String `tfsdk:"metric_name"`
	Value      types.String `tfsdk:"value"`
	Version    types.Int64  `tfsdk:"parameter_version"`
	Tags       types.Map    `tfsdk:"tags"`
	TagsAll    types.Map    `tfsdk:"tags_all"`
}

// known reports whether everything that stands in the configuration is known.
func (m cloudWatchAgentConfigModel) known() bool {
	for _, p := range m.Processes.Elements() {
		if p.IsUnknown() {
			return false
		}
	}
	return !m.Processes.IsUnknown() && !m.Namespace.IsUnknown() && !m.Interval.IsUnknown() && !m.Flush.IsUnknown()
}

func (m cloudWatchAgentConfigModel) expand(ctx context.Context, diags *diag.Diagnostics) procstat.Config {
	return procstat.Config{
		Namespace: m.Namespace.ValueString(), Processes: goStrings(ctx, m.Processes, diags),
		Interval: time.Duration(m.Interval.ValueInt64()) * time.Second, Flush: time.Duration(m.Flush.ValueInt64()) * time.Second,
	}
}

// flatten takes the value that the parameter has. One that this resource did
// not write stays a text of its own, which the plan sets right.
func (m *cloudWatchAgentConfigModel) flatten(value string) {
	if !sameJSON(value, m.Value.ValueString()) {
		m.Value = types.StringValue(value)
	}
	m.MetricName = types.StringValue(procstat.Metric)
	c, err := procstat.Parse(value)
	if err != nil {
		return
	}
	m.Namespace, m.Processes = types.StringValue(c.Namespace), tfSet(c.Processes)
	m.Interval, m.Flush = types.Int64Value(int64(c.Interval/time.Second)), types.Int64Value(int64(c.Flush/time.Second))
}

// tooLong is an error about a configuration that no parameter without a price
// has room for, nil if it has.
func tooLong(value string) diag.Diagnostic {
	if len(value) <= maxStandardParameter {
		return nil
	}
	return diagnose.Problem{
		Tried: "checking", Object: "processes",
		Cause: fmt.Sprintf("The configuration has %d bytes, and a parameter of the standard tier has room for %d (%s)", len(value), maxStandardParameter, standardParameterPage),
		Next:  "Count fewer processes, or write one regular expression for several of them",
	}.ErrorAt(path.Root("processes"))
}

// parameterARN is the ARN of a parameter, whose name may begin with a slash:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
func (c *clients) parameterARN(id identity, name string) types.String {
	return types.StringValue(c.arn(id, "ssm", "parameter/"+strings.TrimPrefix(name, "/")))
}
