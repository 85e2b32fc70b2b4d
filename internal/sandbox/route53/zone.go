package route53

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// zone is a hosted zone.
type zone struct {
	id, account, name, reference string
	comment                      *string
	private                      bool
	vpcs                         []types.VPC
	servers                      []string
	tags                         map[string]string

	records map[key]types.ResourceRecordSet // never changed: a batch replaces them
	served  []edition                       // what the name servers answer with, oldest first
	busy    bool                            // a batch is being worked on
}

// edition is the content of a zone from a time on.
type edition struct {
	from    time.Time
	records map[key]types.ResourceRecordSet
}

func (z *zone) identity() string { return z.id }

// publish makes records those of the zone, for the API at once and for DNS from
// a time on.
func (z *zone) publish(records map[key]types.ResourceRecordSet, now, from time.Time) {
	z.records = records
	z.served = append(z.served, edition{from, records})
	for len(z.served) > 1 && !z.served[1].from.After(now) {
		z.served = z.served[1:]
	}
}

// answers returns what the name servers know at a time.
func (z *zone) answers(now time.Time) map[key]types.ResourceRecordSet {
	var records map[key]types.ResourceRecordSet
	for _, e := range z.served {
		if !e.from.After(now) {
			records = e.records
		}
	}
	return records
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_CreateHostedZone.html
func (r *Route53) createHostedZone(req *wire.Request, in *api.CreateHostedZoneInput) (*api.CreateHostedZoneOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := normalize(aws.ToString(in.Name))
	if err := checkName(name); err != nil {
		return nil, wire.Errorf("InvalidDomainName", "%v", err)
	}
	private := in.VPC != nil
	switch {
	case aws.ToString(in.CallerReference) == "":
		return nil, invalid("CallerReference must not be empty.")
	case in.HostedZoneConfig != nil && in.HostedZoneConfig.PrivateZone && !private:
		return nil, invalid("A private hosted zone needs a VPC.")
	case private && (aws.ToString(in.VPC.VPCId) == "" || in.VPC.VPCRegion == ""):
		return nil, wire.Errorf("InvalidVPCId", "The VPC of a private hosted zone needs VPCId and VPCRegion.")
	case in.DelegationSetId != nil:
		return nil, invalid("The sandbox does not serve reusable delegation sets.")
	}
	for _, other := range r.zones {
		if other.account == req.Account && other.reference == *in.CallerReference {
			return nil, wire.Errorf("HostedZoneAlreadyExists", "A hosted zone has already been created with the specified caller reference.").WithStatus(http.StatusConflict)
		}
	}
	z := &zone{id: r.identifier("Z"), account: req.Account, name: name, reference: *in.CallerReference, private: private, tags: map[string]string{}}
	if in.HostedZoneConfig != nil {
		z.comment = in.HostedZoneConfig.Comment
	}
	z.servers = []string{"ns-0.sandbox-00.com", "ns-512.sandbox-00.net", "ns-1024.sandbox-00.org", "ns-1536.sandbox-00.co.uk"}
	if private {
		z.vpcs = []types.VPC{*in.VPC}
	}
	now := r.now()
	z.publish(apex(z), now, now)
	r.zones[z.id] = z
	out := &api.CreateHostedZoneOutput{
		HostedZone: z.show(), ChangeInfo: r.newChange(now, nil), VPC: in.VPC,
		Location: aws.String("https://route53.amazonaws.com/2013-04-01/hostedzone/" + z.id),
	}
	out.DelegationSet = z.delegation()
	return out, nil
}

// apex returns the record sets that every zone has.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/SOA-NSrecords.html
func apex(z *zone) map[key]types.ResourceRecordSet {
	ns := types.ResourceRecordSet{Name: aws.String(z.name), Type: types.RRTypeNs, TTL: aws.Int64(172800)}
	for _, s := range z.servers {
		ns.ResourceRecords = append(ns.ResourceRecords, types.ResourceRecord{Value: aws.String(s + ".")})
	}
	soa := types.ResourceRecordSet{Name: aws.String(z.name), Type: types.RRTypeSoa, TTL: aws.Int64(900),
		ResourceRecords: []types.ResourceRecord{{Value: aws.String(z.servers[0] + ". awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400")}}}
	return map[key]types.ResourceRecordSet{keyOf(ns): ns, keyOf(soa): soa}
}

func (z *zone) show() *types.HostedZone {
	return &types.HostedZone{
		Id: aws.String("/hostedzone/" + z.id), Name: aws.String(z.name), CallerReference: aws.String(z.reference),
		Config: &types.HostedZoneConfig{Comment: z.comment, PrivateZone: z.private}, ResourceRecordSetCount: aws.Int64(int64(len(z.records))),
	}
}

func (z *zone) delegation() *types.DelegationSet {
	if z.private {
		return nil
	}
	return &types.DelegationSet{NameServers: z.servers}
}

// zone finds a zone of the caller. The caller holds mu.
func (r *Route53) zone(account string, id *string) (*zone, error) {
	z := r.zones[bare(aws.ToString(id))]
	if z == nil || z.account != account {
		return nil, wire.Errorf("NoSuchHostedZone", "No hosted zone found with ID: %s", bare(aws.ToString(id))).WithStatus(http.StatusNotFound)
	}
	return z, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetHostedZone.html
func (r *Route53) getHostedZone(req *wire.Request, in *api.GetHostedZoneInput) (*api.GetHostedZoneOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.Id)
	if err != nil {
		return nil, err
	}
	return &api.GetHostedZoneOutput{HostedZone: z.show(), DelegationSet: z.delegation(), VPCs: z.vpcs}, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_UpdateHostedZoneComment.html
func (r *Route53) updateHostedZoneComment(req *wire.Request, in *api.UpdateHostedZoneCommentInput) (*api.UpdateHostedZoneCommentOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.Id)
	if err != nil {
		return nil, err
	}
	z.comment = in.Comment
	return &api.UpdateHostedZoneCommentOutput{HostedZone: z.show()}, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DeleteHostedZone.html
func (r *Route53) deleteHostedZone(req *wire.Request, in *api.DeleteHostedZoneInput) (*api.DeleteHostedZoneOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.Id)
	if err != nil {
		return nil, err
	}
	for k := range z.records {
		if !z.own(k) {
			return nil, wire.Errorf("HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
		}
	}
	delete(r.zones, z.id)
	return &api.DeleteHostedZoneOutput{ChangeInfo: r.newChange(r.now(), nil)}, nil
}

// own reports whether k is one of the two record sets that a zone must have.
func (z *zone) own(k key) bool {
	return k.name == z.name && (k.kind == string(types.RRTypeNs) || k.kind == string(types.RRTypeSoa))
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListHostedZones.html
func (r *Route53) listHostedZones(req *wire.Request, in *api.ListHostedZonesInput) (*api.ListHostedZonesOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit, err := pageSize(in.MaxItems, 100)
	if err != nil {
		return nil, err
	}
	out := &api.ListHostedZonesOutput{Marker: in.Marker, MaxItems: aws.Int32(int32(limit))}
	for _, z := range sorted(r.zones, func(z *zone) bool { return z.account == req.Account && z.id >= aws.ToString(in.Marker) }, compareIDs) {
		if len(out.HostedZones) == limit {
			out.IsTruncated, out.NextMarker = true, aws.String(z.id)
			break
		}
		out.HostedZones = append(out.HostedZones, *z.show())
	}
	return out, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListHostedZonesByName.html
func (r *Route53) listHostedZonesByName(req *wire.Request, in *api.ListHostedZonesByNameInput) (*api.ListHostedZonesByNameOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit, err := pageSize(in.MaxItems, 100)
	if err != nil {
		return nil, err
	}
	if in.HostedZoneId != nil && in.DNSName == nil {
		return nil, invalid("HostedZoneId needs DNSName.")
	}
	compare := func(a, b *zone) int { return cmp.Or(compareNames(a.name, b.name), cmp.Compare(a.id, b.id)) }
	start := &zone{id: bare(aws.ToString(in.HostedZoneId))}
	if in.DNSName != nil {
		start.name = normalize(*in.DNSName)
	}
	out := &api.ListHostedZonesByNameOutput{DNSName: in.DNSName, HostedZoneId: in.HostedZoneId, MaxItems: aws.Int32(int32(limit))}
	for _, z := range sorted(r.zones, func(z *zone) bool { return z.account == req.Account && compare(z, start) >= 0 }, compare) {
		if len(out.HostedZones) == limit {
			out.IsTruncated, out.NextDNSName, out.NextHostedZoneId = true, aws.String(z.name), aws.String(z.id)
			break
		}
		out.HostedZones = append(out.HostedZones, *z.show())
	}
	return out, nil
}

// pageSize reads MaxItems, which Route 53's pages echo.
func pageSize(items *int32, most int) (int, error) {
	switch {
	case items == nil:
		return most, nil
	case *items < 1:
		return 0, invalid("MaxItems must be at least 1, not %d.", *items)
	}
	return min(int(*items), most), nil
}

// zoneOf returns the zone that answers for a name: the longest that holds it.
// The caller holds mu.
func (r *Route53) zoneOf(name string) *zone {
	var best *zone
	for _, z := range r.zones {
		if within(name, z.name) && (best == nil || strings.Count(z.name, ".") > strings.Count(best.name, ".") || z.name == best.name && z.id < best.id) {
			best = z
		}
	}
	return best
}
