// Package route53 is Amazon Route 53 for the sandbox: hosted zones, record
// sets, health checks, and the answers that follow from them.
package route53

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Route53 holds the zones and health checks of all accounts. It is a global
// service: the Region of a request does not matter.
type Route53 struct {
	world       *world.World
	propagation time.Duration
	processing  time.Duration
	dial        Dialer

	mu       sync.Mutex
	zones    map[string]*zone  // by ID
	checks   map[string]*check // by ID
	changes  map[string]change // by ID
	used     map[string]bool   // caller references of deleted health checks, with their account
	controls map[string]bool   // routing controls of the Application Recovery Controller, by ARN
	targets  map[string]bool   // health of alias targets outside the zones, by DNS name

	ctx    context.Context // of the checkers
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// DefaultPropagation is how long a change is PENDING. AWS promises most within
// 60 seconds.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html
const DefaultPropagation = 30 * time.Second

// Option configures Route 53.
type Option func(*Route53)

// WithPropagation sets how long it takes until the name servers answer with a
// change.
func WithPropagation(d time.Duration) Option { return func(r *Route53) { r.propagation = d } }

// WithProcessing sets how long Route 53 works on a change batch. Another batch
// for the same zone is refused meanwhile with PriorRequestNotComplete.
func WithProcessing(d time.Duration) Option { return func(r *Route53) { r.processing = d } }

// WithDialer sets how health checkers reach their endpoints.
func WithDialer(d Dialer) Option { return func(r *Route53) { r.dial = d } }

// New returns a Route 53 without zones. Close ends its health checkers.
func New(w *world.World, options ...Option) *Route53 {
	r := &Route53{
		world: w, propagation: DefaultPropagation, dial: dialLoopback,
		zones: map[string]*zone{}, checks: map[string]*check{}, changes: map[string]change{}, used: map[string]bool{},
		controls: map[string]bool{}, targets: map[string]bool{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, o := range options {
		o(r)
	}
	return r
}

// Close ends the health checkers.
func (r *Route53) Close() {
	r.cancel()
	r.group.Wait()
}

func (r *Route53) now() time.Time { return r.world.Clock.Now() }

// SetRoutingControl switches a routing control of the Application Recovery
// Controller, which the sandbox does not serve. Routing controls begin as Off.
// https://docs.aws.amazon.com/r53recovery/latest/dg/routing-control.html
func (r *Route53) SetRoutingControl(arn string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.controls[arn] = on
}

// SetTargetHealth says whether an alias target that is no record of a zone,
// such as a load balancer, is healthy. Unknown ones are.
func (r *Route53) SetTargetHealth(dnsName string, healthy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets[normalize(dnsName)] = healthy
}

// Service returns the operations for a wire.Server.
func (r *Route53) Service() *wire.Service {
	s := &wire.Service{
		Name:      "route53",
		Version:   "2013-04-01",
		Namespace: "https://route53.amazonaws.com/doc/2013-04-01/",
		Default:   wire.RestXML,
	}
	zones, checks, tags := wire.Route{Path: "/2013-04-01/hostedzone"}, wire.Route{Path: "/2013-04-01/healthcheck"}, wire.Route{Path: "/2013-04-01/tags/{ResourceType}"}
	wire.HandleRoute(s, "CreateHostedZone", created(zones), r.createHostedZone)
	wire.HandleRoute(s, "ListHostedZones", with(zones, http.MethodGet, "", "marker", "Marker", "maxitems", "MaxItems"), r.listHostedZones)
	wire.HandleRoute(s, "ListHostedZonesByName", wire.Route{Method: http.MethodGet, Path: "/2013-04-01/hostedzonesbyname",
		Query: map[string]string{"dnsname": "DNSName", "hostedzoneid": "HostedZoneId", "maxitems": "MaxItems"}}, r.listHostedZonesByName)
	wire.HandleRoute(s, "GetHostedZone", with(zones, http.MethodGet, "/{Id}"), r.getHostedZone)
	wire.HandleRoute(s, "UpdateHostedZoneComment", with(zones, http.MethodPost, "/{Id}"), r.updateHostedZoneComment)
	wire.HandleRoute(s, "DeleteHostedZone", with(zones, http.MethodDelete, "/{Id}"), r.deleteHostedZone)
	wire.HandleRoute(s, "ChangeResourceRecordSets", with(zones, http.MethodPost, "/{HostedZoneId}/rrset"), r.changeRecords)
	wire.HandleRoute(s, "ListResourceRecordSets", with(zones, http.MethodGet, "/{HostedZoneId}/rrset",
		"name", "StartRecordName", "type", "StartRecordType", "identifier", "StartRecordIdentifier", "maxitems", "MaxItems"), r.listRecords)
	wire.HandleRoute(s, "GetChange", wire.Route{Method: http.MethodGet, Path: "/2013-04-01/change/{Id}"}, r.getChange)
	wire.HandleRoute(s, "TestDNSAnswer", wire.Route{Method: http.MethodGet, Path: "/2013-04-01/testdnsanswer",
		Query: map[string]string{"hostedzoneid": "HostedZoneId", "recordname": "RecordName", "recordtype": "RecordType"}}, r.testDNSAnswer)
	wire.HandleRoute(s, "CreateHealthCheck", created(checks), r.createHealthCheck)
	wire.HandleRoute(s, "ListHealthChecks", with(checks, http.MethodGet, "", "marker", "Marker", "maxitems", "MaxItems"), r.listHealthChecks)
	wire.HandleRoute(s, "GetHealthCheck", with(checks, http.MethodGet, "/{HealthCheckId}"), r.getHealthCheck)
	wire.HandleRoute(s, "UpdateHealthCheck", with(checks, http.MethodPost, "/{HealthCheckId}"), r.updateHealthCheck)
	wire.HandleRoute(s, "DeleteHealthCheck", with(checks, http.MethodDelete, "/{HealthCheckId}"), r.deleteHealthCheck)
	wire.HandleRoute(s, "GetHealthCheckStatus", with(checks, http.MethodGet, "/{HealthCheckId}/status"), r.getHealthCheckStatus)
	wire.HandleRoute(s, "ChangeTagsForResource", with(tags, http.MethodPost, "/{ResourceId}"), r.changeTags)
	wire.HandleRoute(s, "ListTagsForResource", with(tags, http.MethodGet, "/{ResourceId}"), r.listTags)
	wire.HandleRoute(s, "ListTagsForResources", with(tags, http.MethodPost, ""), r.listTagsOfMany)
	return s
}

// with returns a route below another; query holds parameters and members.
func with(base wire.Route, method, path string, query ...string) wire.Route {
	route := wire.Route{Method: method, Path: base.Path + path, Query: map[string]string{}}
	for pair := range slices.Chunk(query, 2) {
		route.Query[pair[0]] = pair[1]
	}
	return route
}

func created(base wire.Route) wire.Route {
	return wire.Route{Method: http.MethodPost, Path: base.Path, Status: http.StatusCreated, Header: map[string]string{"Location": "Location"}}
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidInput", format, args...)
}

// bare returns an identifier without the path that Route 53 puts before it.
func bare(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// identifier returns a new ID in Route 53's form: capital letters and digits.
func (r *Route53) identifier(prefix string) string {
	return prefix + strings.ToUpper(r.world.Hex(20))
}

// sorted returns the values of m in the order of less.
func sorted[V any](m map[string]V, keep func(V) bool, compare func(a, b V) int) []V {
	return slices.SortedFunc(func(yield func(V) bool) {
		for _, v := range m {
			if keep(v) && !yield(v) {
				return
			}
		}
	}, compare)
}

// tagSet returns tags as Route 53 shows them.
func tagSet(kind types.TagResourceType, id string, tags map[string]string) types.ResourceTagSet {
	set := types.ResourceTagSet{ResourceId: &id, ResourceType: kind}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		v := tags[k]
		set.Tags = append(set.Tags, types.Tag{Key: &k, Value: &v})
	}
	return set
}

// compareIDs orders by identifier, as the lists without a name do.
func compareIDs[V interface{ identity() string }](a, b V) int {
	return cmp.Compare(a.identity(), b.identity())
}
