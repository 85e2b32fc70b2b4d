package route53

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// checkRecord says what is wrong with a record set by itself.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ResourceRecordSet.html
func checkRecord(zone string, set types.ResourceRecordSet) error {
	name := aws.ToString(set.Name)
	if err := checkName(name); err != nil {
		return err
	}
	routed := 0
	for _, used := range []bool{set.Failover != "", set.Weight != nil} {
		if used {
			routed++
		}
	}
	switch {
	case !within(name, zone):
		return fmt.Errorf("RRSet with DNS name %s is not permitted in zone %s", name, zone)
	case !slices.Contains(set.Type.Values(), set.Type):
		return fmt.Errorf("Type %q is unknown", set.Type)
	case set.Type == types.RRTypeCname && name == zone:
		return fmt.Errorf("RRSet of type CNAME with DNS name %s is not permitted at apex in zone %s", name, zone)
	case set.Region != "" || set.GeoLocation != nil || set.GeoProximityLocation != nil || set.CidrRoutingConfig != nil || set.MultiValueAnswer != nil || set.TrafficPolicyInstanceId != nil:
		return errors.New("The sandbox serves simple, failover and weighted record sets only")
	case routed > 1:
		return errors.New("A record set has one routing policy")
	case (routed == 1) != (aws.ToString(set.SetIdentifier) != ""):
		return errors.New("SetIdentifier belongs to a routing policy, and each needs one")
	case set.Failover != "" && !slices.Contains(set.Failover.Values(), set.Failover):
		return fmt.Errorf("Failover %q is neither PRIMARY nor SECONDARY", set.Failover)
	case set.Weight != nil && (*set.Weight < 0 || *set.Weight > 255):
		return fmt.Errorf("Weight %d is not between 0 and 255", *set.Weight)
	case set.AliasTarget != nil:
		return checkAlias(set)
	case set.TTL == nil || *set.TTL < 0 || *set.TTL > 2147483647:
		return errors.New("Missing or invalid field 'TTL'")
	case len(set.ResourceRecords) == 0:
		return errors.New("Missing field 'ResourceRecords'")
	}
	for _, v := range set.ResourceRecords {
		if err := checkValue(set.Type, aws.ToString(v.Value)); err != nil {
			return err
		}
	}
	return nil
}

func checkAlias(set types.ResourceRecordSet) error {
	switch {
	case set.TTL != nil || len(set.ResourceRecords) > 0:
		return errors.New("An alias record set has neither TTL nor ResourceRecords")
	case aws.ToString(set.AliasTarget.DNSName) == "" || aws.ToString(set.AliasTarget.HostedZoneId) == "":
		return errors.New("AliasTarget needs DNSName and HostedZoneId")
	}
	return nil
}

func checkValue(kind types.RRType, value string) error {
	switch kind {
	case types.RRTypeA, types.RRTypeAaaa:
		ip, err := netip.ParseAddr(value)
		if err != nil || ip.Is4() != (kind == types.RRTypeA) || ip.Zone() != "" {
			return fmt.Errorf("Value '%s' is not a valid address for a record of type %s", value, kind)
		}
	case types.RRTypeTxt, types.RRTypeSpf:
		if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return fmt.Errorf("Value '%s' must be enclosed in quotation marks", value)
		}
	default:
		if value == "" {
			return errors.New("A value is empty")
		}
	}
	return nil
}

// conflicts says which of the changed record sets do not fit the others with
// their names.
func (z *zone) conflicts(records map[key]types.ResourceRecordSet, changes []types.Change) []string {
	var problems []string
	for _, c := range changes {
		name := normalize(aws.ToString(c.ResourceRecordSet.Name))
		set, ok := records[key{name, string(c.ResourceRecordSet.Type), aws.ToString(c.ResourceRecordSet.SetIdentifier)}]
		if !ok {
			continue
		}
		if a := set.AliasTarget; a != nil && bare(aws.ToString(a.HostedZoneId)) == z.id && !leads(records, normalize(aws.ToString(a.DNSName)), string(set.Type)) {
			problems = append(problems, fmt.Sprintf("Tried to create an alias that targets %s, type %s in zone %s, but that target was not found", aws.ToString(a.DNSName), set.Type, z.id))
		}
		for k, other := range records {
			if k == keyOf(set) || k.name != name {
				continue
			}
			if err := fit(set, other); err != nil {
				problems = append(problems, fmt.Sprintf("RRSet with DNS name %s, type %s%s conflicts with another: %v", name, set.Type, named(aws.ToString(set.SetIdentifier)), err))
				break
			}
		}
	}
	return problems
}

// leads reports whether there is a record set for an alias to lead to.
func leads(records map[key]types.ResourceRecordSet, name, kind string) bool {
	for k := range records {
		if k.name == name && k.kind == kind {
			return true
		}
	}
	return false
}

// fit says why two record sets with one name cannot be together.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-values-failover.html
func fit(a, b types.ResourceRecordSet) error {
	if a.Type != b.Type {
		if a.Type == types.RRTypeCname || b.Type == types.RRTypeCname {
			return errors.New("a CNAME stands alone")
		}
		return nil
	}
	switch {
	case policyOf(a) != policyOf(b):
		return errors.New("all record sets of a name and type have the same routing policy")
	case a.Failover != "" && a.Failover == b.Failover:
		return fmt.Errorf("there is one %s", a.Failover)
	}
	return nil
}

func policyOf(set types.ResourceRecordSet) string {
	switch {
	case set.Failover != "":
		return "failover"
	case set.Weight != nil:
		return "weighted"
	default:
		return "simple"
	}
}

// listRecords pages through a zone in the order of its names.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListResourceRecordSets.html
func (r *Route53) listRecords(req *wire.Request, in *api.ListResourceRecordSetsInput) (*api.ListResourceRecordSetsOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.HostedZoneId)
	if err != nil {
		return nil, err
	}
	limit, err := pageSize(in.MaxItems, 300)
	if err != nil {
		return nil, err
	}
	start := key{kind: string(in.StartRecordType), set: aws.ToString(in.StartRecordIdentifier)}
	switch {
	case in.StartRecordName != nil:
		start.name = normalize(*in.StartRecordName)
	case start.kind != "":
		return nil, invalid("StartRecordType needs StartRecordName.")
	}
	if start.set != "" && start.kind == "" {
		return nil, invalid("StartRecordIdentifier needs StartRecordType.")
	}
	keys := make([]key, 0, len(z.records))
	for k := range z.records {
		if start.name == "" || k.compare(start) >= 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	out := &api.ListResourceRecordSetsOutput{MaxItems: aws.Int32(int32(limit))}
	for _, k := range keys {
		if len(out.ResourceRecordSets) == limit {
			out.IsTruncated, out.NextRecordName, out.NextRecordType = true, aws.String(k.name), types.RRType(k.kind)
			if k.set != "" {
				out.NextRecordIdentifier = aws.String(k.set)
			}
			break
		}
		out.ResourceRecordSets = append(out.ResourceRecordSets, z.records[k])
	}
	return out, nil
}
