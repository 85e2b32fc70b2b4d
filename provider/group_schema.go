package provider

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// timing is one bound of an operation: an attribute of `timing`, its default
// and its place in the record.
type timing struct {
	name      string
	byDefault time.Duration
	field     func(*failover.Config) *time.Duration
	text      string
}

var timings = []timing{
	{"latency_threshold_seconds", failover.DefaultLatencyThreshold, func(c *failover.Config) *time.Duration { return &c.LatencyThreshold }, "SQL that is slower counts as failed."},
	{"max_clock_offset_seconds", failover.DefaultMaxClockOffset, func(c *failover.Config) *time.Duration { return &c.MaxClockOffset }, "Clocks of the nodes that differ by more prevent an automatic takeover."},
	{"promote_margin_seconds", failover.DefaultPromoteMargin, func(c *failover.Config) *time.Duration { return &c.PromoteMargin }, "What must be left of the window when the promotion is expected to start."},
	{"promote_delay_seconds", failover.DefaultPromoteDelay, func(c *failover.Config) *time.Duration { return &c.PromoteDelay }, "Expected time from the decision to the start of the promotion."},
	{"gather_timeout_seconds", failover.DefaultGatherTimeout, func(c *failover.Config) *time.Duration { return &c.GatherTimeout }, "How long a node may take to tell its own view."},
	{"evidence_wait_seconds", failover.DefaultEvidenceWait, func(c *failover.Config) *time.Duration { return &c.EvidenceWait }, "How long an event waits for a second signal."},
	{"fence_timeout_seconds", failover.DefaultFenceTimeout, func(c *failover.Config) *time.Duration { return &c.FenceTimeout }, "From an accepted stop of the old primary to the confirmed one."},
	{"promote_timeout_seconds", failover.DefaultPromoteTimeout, func(c *failover.Config) *time.Duration { return &c.PromoteTimeout }, "Deadline of the promotion on the node."},
	{"redirect_timeout_seconds", failover.DefaultRedirectTimeout, func(c *failover.Config) *time.Duration { return &c.RedirectTimeout }, "For all routes together."},
	{"cooldown_seconds", failover.DefaultCooldown, func(c *failover.Config) *time.Duration { return &c.Cooldown }, "No second automatic takeover before, unless the pair is connected again."},
}

// defaultDetection is the worst case of alarms alone, from the failure to the
// alarm: FILL(SampleCount, 0) < 2 and Maximum > threshold, both with one period
// of 60 s over a probe every 20 s.
const defaultDetection = 170 * time.Second

func groupSchema() schema.Schema {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	return schema.Schema{
		MarkdownDescription: "Failover group: two nodes, one of which is primary, and the endpoint that clients use. The resource declares the group; who is primary belongs to the control plane. " +
			"After a takeover a plan shows no changes and one warning.\n\n" +
			"Creating runs the status document on both nodes, for up to a minute: whoever applies needs `ssm:SendCommand` on the document and the instances, " +
			"`ssm:GetCommandInvocation`, `ssm:ListCommands` and `ssm:CancelCommand`. No group is created over two primaries, over none, " +
			"over a node that cannot be read, or over one that belongs to another state table.\n\n" +
			"A change is refused while an operation runs. Destroying reads the whole table (`dynamodb:Scan`) and keeps the group's history in it: a group of the same name begins above its epoch. " +
			"An instance or interface that lost its tags `hadr:table` and `hadr:group` shows as a missing node.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{groupName},
				MarkdownDescription: "Name of the group, unique in its table: `^[a-z][a-z0-9-]{1,30}$`."},
			"table_name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{dynamoName},
				MarkdownDescription: "Name of the state table."},
			"db2":        db2Schema(),
			"postgresql": postgresqlSchema(),
			"nodes": schema.MapNestedAttribute{Required: true, Validators: []validator.Map{mapvalidator.SizeBetween(2, 2), mapvalidator.KeysAre(nodeName)},
				MarkdownDescription: "The two nodes by their ids, such as `a` and `b`.", NestedObject: schema.NestedAttributeObject{Attributes: nodeAttributes()}},
			"preferred_primary": schema.StringAttribute{Required: true, Validators: []validator.String{nodeName},
				MarkdownDescription: "Node that is primary when the group is created, and where the database belongs in normal times. A change of it moves nothing."},
			"endpoint": endpointSchema(),
			"policy": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(string(failover.Automatic)),
				Validators:          []validator.String{stringvalidator.OneOf(string(failover.Automatic), string(failover.Approval), string(failover.Observe))},
				MarkdownDescription: "`automatic` (default) decides and acts, `approval` decides and waits for a person, `observe` only says what it would have done."},
			"fencing": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(string(failover.Strict)),
				Validators:          []validator.String{stringvalidator.OneOf(string(failover.Strict), string(failover.PeerWindow))},
				MarkdownDescription: "`strict` (default) promotes once the old primary is stopped; `peer_window` as soon as its stop is accepted, where its agent's dead-man is in force."},
			"host_applications": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Applications run on the database hosts, or the address is bound on both of them, so that moving the endpoint does not move every client. " +
					"Then only `strict` fencing is allowed. Default: `false`."},
			"isolation_security_group_id": schema.StringAttribute{Optional: true, Validators: []validator.String{securityGroupID},
				MarkdownDescription: "Security group without rules. Where the stop of an old primary stays unconfirmed although the standby was promoted (`peer_window`), the interface of the old primary gets it instead of its own ones, " +
					"so that no new connection reaches it. That is no fence: the group is blocked and asks for a person all the same. `hadr rejoin` puts the node's own groups back."},
			"notification_arns": schema.SetAttribute{Optional: true, ElementType: types.StringType,
				Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(arnOf("sns"))},
				MarkdownDescription: "SNS topics that hear what becomes of the group: takeovers that begin, end or are refused, blocked operations, approvals that are wanted, routes that were put right. Each message has the reason and the next command; " +
					"`group`, `event` and `outcome` are attributes for the filters of subscriptions. Functions need `notification_arns`, too, and people who run `hadr` need `sns:Publish`. What could not be told is in the history."},
			"timing":      timingSchema(),
			"maintenance": maintenanceSchema(),
			"max_detection_seconds": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(int64(defaultDetection / time.Second)),
				Validators:          []validator.Int64{int64validator.Between(1, 3600)},
				MarkdownDescription: "Longest time from the failure to the alarm that is allowed. The window (`peer_window_seconds`, `sync_window_seconds` or `max_rpo_seconds`) must leave room for it, and the alarms must keep it (see `detection`): their worst case counts as the model of `hadr simulate detection` has it, without the time that AWS needs to ingest metrics. Default: 170, that of the alarms of the modules."},
			"detection": detectionSchema(),
			"verify_on_create": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Read both nodes before the group is created: the node that reads PRIMARY becomes the recorded primary, whatever `preferred_primary` says. " +
					"Default: `true`. `false` trusts `preferred_primary`: for databases that are not built yet."},
			"force_destroy": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Destroy the group even while an operation runs. Default: `false`."},

			"active_primary": schema.StringAttribute{Computed: true, MarkdownDescription: "Node that is primary now."},
			"epoch":          schema.Int64Attribute{Computed: true, MarkdownDescription: "Grows by one with every change of primary."},
			"phase":          schema.StringAttribute{Computed: true, MarkdownDescription: "`steady`, `taking_over`, `switching_over`, `rejoining` or `blocked`."},
			"roles": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Role of each node as its agent last read it: `primary`, `standby`, `standalone` or `unknown`."},
			"failed_over_since": schema.StringAttribute{Computed: true, MarkdownDescription: "When the present primary became it, while that is not the preferred node."},
			"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				MarkdownDescription: "`TABLE/GROUP`."},
		},
	}
}

func nodeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"instance_id": schema.StringAttribute{Required: true, Validators: []validator.String{instanceID}, MarkdownDescription: "EC2 instance of the node."},
		"network_interface_id": schema.StringAttribute{Required: true, Validators: []validator.String{eniID},
			MarkdownDescription: "Network interface that the endpoint's routes lead to while the node is primary."},
		"availability_zone": schema.StringAttribute{Optional: true, MarkdownDescription: "Availability Zone, checked against the instance."},
		"region":            schema.StringAttribute{Optional: true, MarkdownDescription: "AWS Region, which must be the provider's: a group lives in one Region. Default: the provider's."},
		"failure_alarm_arns": schema.SetAttribute{Optional: true, ElementType: types.StringType,
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(arnOf("cloudwatch"))},
			MarkdownDescription: "Alarms that mean that this node has failed. An alarm that is bound to no node is recorded and ignored."},
	}
}

func endpointSchema() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true,
		MarkdownDescription: "Address that clients use. Its routes are made by `hadr_vip_route`.",
		Attributes: map[string]schema.Attribute{
			"vip": schema.StringAttribute{Required: true, Validators: []validator.String{ipv4{}},
				MarkdownDescription: "IPv4 address outside of every VPC that it is reached from."},
			"port": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(1, 65535)},
				MarkdownDescription: "TCP port of the database."},
			"route_table_ids": schema.SetAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(tableID)},
				MarkdownDescription: "Route tables with a route for the address."},
			"path_checkers": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.KeysAre(tableID), mapvalidator.ValueStringsAre(instanceID)},
				MarkdownDescription: "Route table id to an instance in one of its subnets, which tries the data path after a takeover."},
		}}
}

func timingSchema() schema.SingleNestedAttribute {
	attrs := map[string]schema.Attribute{}
	kinds := map[string]attr.Type{}
	defaults := map[string]attr.Value{}
	for _, t := range timings {
		s := int64(t.byDefault / time.Second)
		attrs[t.name] = schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(s),
			Validators:          []validator.Int64{int64validator.Between(1, 86400)},
			MarkdownDescription: t.text + " Default: " + int64text(s) + " seconds."}
		kinds[t.name], defaults[t.name] = types.Int64Type, types.Int64Value(s)
	}
	return schema.SingleNestedAttribute{Optional: true, Computed: true, Attributes: attrs,
		Default:             objectdefault.StaticValue(types.ObjectValueMust(kinds, defaults)),
		MarkdownDescription: "Bounds of an operation, in seconds. Together with the detection they must fit into the window of the engine."}
}

func maintenanceSchema() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true,
		MarkdownDescription: "Switch automatic action off. Leave it away where people or the command line tool own the switch.",
		Attributes: map[string]schema.Attribute{
			"enabled": schema.BoolAttribute{Required: true, MarkdownDescription: "No automatic action."},
			"until": schema.StringAttribute{Optional: true, Validators: []validator.String{rfc3339{}},
				MarkdownDescription: "When it ends by itself, such as `2030-01-02T15:04:05Z`."},
			"reason": schema.StringAttribute{Optional: true, MarkdownDescription: "Why, for people.",
				Validators: []validator.String{stringvalidator.LengthBetween(1, 512), stringvalidator.AlsoRequires(path.MatchRelative().AtParent().AtName("enabled"))}},
		}}
}
