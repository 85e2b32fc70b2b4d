package provider

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/budget"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// db2Type are the attributes of `db2`.
var db2Type = map[string]attr.Type{
	"database": types.StringType, "instance_owner": types.StringType, "syncmode": types.StringType,
	"peer_window_seconds": types.Int64Type, "hadr_timeout_seconds": types.Int64Type,
	"status_document": types.StringType, "takeover_document": types.StringType, "path_check_document": types.StringType,
	"start_document": types.StringType, "rejoin_document": types.StringType, "forced_takeover_document": types.StringType,
	"switchover_document": types.StringType,
	documentVersions:      stringMap,
}

func db2Schema() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true, PlanModifiers: sameEngine(),
		MarkdownDescription: "Db2 with HADR, instead of `postgresql`. Settings that differ from what the database reports make a node unfit for a takeover.",
		Attributes: map[string]schema.Attribute{
			"database": schema.StringAttribute{Required: true, Validators: []validator.String{databaseName},
				MarkdownDescription: "Name of the database, at most 8 characters."},
			"instance_owner": schema.StringAttribute{Required: true, Validators: []validator.String{instanceOwner},
				MarkdownDescription: "Operating system user of the instance, such as `db2inst1`."},
			"syncmode": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.OneOf("SYNC", "NEARSYNC", "ASYNC", "SUPERASYNC")},
				MarkdownDescription: "HADR_SYNCMODE: `SYNC` or `NEARSYNC`. `ASYNC` and `SUPERASYNC` have no peer window and cannot be taken over automatically without loss."},
			"peer_window_seconds": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(0, 4294967)},
				MarkdownDescription: "HADR_PEER_WINDOW of both databases."},
			"hadr_timeout_seconds": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(1, 4294967)},
				MarkdownDescription: "HADR_TIMEOUT of both databases."},
			"status_document":     documentAttribute("db2_status"),
			"takeover_document":   documentAttribute("db2_takeover"),
			"path_check_document": documentAttribute(pathCheck),
			"start_document": schema.StringAttribute{Optional: true, Validators: []validator.String{documentName},
				MarkdownDescription: "Name of the `hadr_command_document` of kind `db2_start`. With it a primary whose database is down for certain is started in place where its standby cannot take over."},
			"rejoin_document": schema.StringAttribute{Optional: true, Validators: []validator.String{documentName},
				MarkdownDescription: "Name of the `hadr_command_document` of kind `db2_rejoin`, with which `hadr rejoin` brings an old primary back as standby."},
			"forced_takeover_document": schema.StringAttribute{Optional: true, Validators: []validator.String{documentName},
				MarkdownDescription: "Name of the `hadr_command_document` of kind `db2_forced_takeover`, with which a person takes over outside of the peer window. No function may run it."},
			"switchover_document": schema.StringAttribute{Optional: true, Validators: []validator.String{documentName},
				MarkdownDescription: "Name of the `hadr_command_document` of kind `db2_switchover`, with which `hadr switchover` changes the roles in order."},
			documentVersions: versionsAttribute(engine.Db2),
		}}
}

// judgeDb2 compares what a takeover needs with what the peer window gives.
func judgeDb2(c failover.Config, detection time.Duration) ([]budget.Finding, error) {
	s, err := db2.ParseSettings(c.Settings)
	if err != nil {
		return nil, err
	}
	return db2.CheckSettings(s, c.Policy, db2.Timing{
		PeerWindow:   time.Duration(s.PeerWindow) * time.Second,
		HADRTimeout:  time.Duration(s.Timeout) * time.Second,
		Detection:    detection,
		Fencing:      c.Fencing,
		FenceTimeout: c.FenceTimeout,
		ClockOffset:  c.MaxClockOffset,
	}), nil
}
