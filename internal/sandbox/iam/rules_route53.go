package iam

import (
	"slices"
	"strings"
)

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonroute53.html
var route53Rules = map[string]rule{
	"CreateHostedZone":         on().with(key("route53:VPCs", "VPC.VPCId")),
	"ListHostedZones":          on(),
	"ListHostedZonesByName":    on(),
	"GetHostedZone":            by(zone("GetHostedZone", "Id")),
	"UpdateHostedZoneComment":  by(zone("UpdateHostedZoneComment", "Id")),
	"DeleteHostedZone":         by(zone("DeleteHostedZone", "Id")),
	"ChangeResourceRecordSets": by(zone("ChangeResourceRecordSets", "HostedZoneId")).with(recordKeys...),
	"ListResourceRecordSets":   by(zone("ListResourceRecordSets", "HostedZoneId")),
	"TestDNSAnswer":            on(),
	"GetChange":                by(global("GetChange", "change", "Id")),
	"CreateHealthCheck":        on(),
	"ListHealthChecks":         on(),
	"GetHealthCheck":           by(global("GetHealthCheck", "healthcheck", "HealthCheckId")),
	"UpdateHealthCheck":        by(global("UpdateHealthCheck", "healthcheck", "HealthCheckId")),
	"DeleteHealthCheck":        by(global("DeleteHealthCheck", "healthcheck", "HealthCheckId")),
	"GetHealthCheckStatus":     by(global("GetHealthCheckStatus", "healthcheck", "HealthCheckId")),
	"ChangeTagsForResource":    by(taggedInRoute53("ChangeTagsForResource", "ResourceId")),
	"ListTagsForResource":      by(taggedInRoute53("ListTagsForResource", "ResourceId")),
	"ListTagsForResources":     by(taggedInRoute53("ListTagsForResources", "ResourceIds")),
}

// recordKeys are about all changes of a batch.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/specifying-conditions-route53.html
var recordKeys = []keyFunc{
	func(c *call, p *permission) {
		var names []string
		for _, n := range fields(c.input, "ChangeBatch.Changes.ResourceRecordSet.Name") {
			names = append(names, strings.TrimSuffix(strings.ToLower(n), "."))
		}
		p.keys.Set("route53:ChangeResourceRecordSetsNormalizedRecordNames", distinct(names)...)
	},
	func(c *call, p *permission) {
		p.keys.Set("route53:ChangeResourceRecordSetsRecordTypes", distinct(fields(c.input, "ChangeBatch.Changes.ResourceRecordSet.Type"))...)
	},
	func(c *call, p *permission) {
		p.keys.Set("route53:ChangeResourceRecordSetsActions", distinct(fields(c.input, "ChangeBatch.Changes.Action"))...)
	},
}

func distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

func zone(action, path string) func(*call) []permission { return global(action, "hostedzone", path) }

// global asks for resources whose identifiers may come with their path, such
// as /hostedzone/Z123.
func global(action, kind, path string) func(*call) []permission {
	return func(c *call) []permission {
		var out []permission
		for _, id := range fields(c.input, path) {
			out = append(out, want("route53:"+action, c.base()+kind+"/"+id[strings.LastIndex(id, "/")+1:])...)
		}
		return out
	}
}

func taggedInRoute53(action, path string) func(*call) []permission {
	return func(c *call) []permission {
		return global(action, field(c.input, "ResourceType"), path)(c)
	}
}
