package route53

import (
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxAliases bounds a chain of aliases and CNAMEs.
const maxAliases = 8

// aliasTTL is the TTL of an alias to something that is no record of a zone.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-choosing-alias-non-alias.html
const aliasTTL = 60

// Answer is what the name servers say.
type Answer struct {
	Code    string // NOERROR, NXDOMAIN or REFUSED
	Zone    string // "" if refused
	Name    string // the record's, behind CNAMEs
	TTL     uint32
	Values  []string
	Aliases []string // CNAMEs on the way, in order
}

// choose returns the record sets of one name and type that answer a query: of
// failover records the primary while it is healthy or while nothing is; of
// weighted ones a random one of the healthy, or of all if none is.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/health-checks-how-route-53-chooses-records.html
func choose(sets []types.ResourceRecordSet, healthy func(types.ResourceRecordSet) bool, random func(n int64) int64) (types.ResourceRecordSet, bool) {
	if len(sets) == 0 {
		return types.ResourceRecordSet{}, false
	}
	switch policyOf(sets[0]) {
	case "failover":
		role := func(f types.ResourceRecordSetFailover) int {
			return slices.IndexFunc(sets, func(s types.ResourceRecordSet) bool { return s.Failover == f })
		}
		primary, secondary := role(types.ResourceRecordSetFailoverPrimary), role(types.ResourceRecordSetFailoverSecondary)
		if primary < 0 || secondary >= 0 && !healthy(sets[primary]) && healthy(sets[secondary]) {
			return sets[secondary], true
		}
		return sets[primary], true
	case "weighted":
		return weighted(sets, healthy, random)
	default:
		return sets[0], true
	}
}

// weighted leaves out records of weight 0 while another is healthy.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/health-checks-how-route-53-chooses-records.html
func weighted(sets []types.ResourceRecordSet, healthy func(types.ResourceRecordSet) bool, random func(n int64) int64) (types.ResourceRecordSet, bool) {
	heavy := func(s types.ResourceRecordSet) bool { return *s.Weight > 0 }
	pick := filter(sets, func(s types.ResourceRecordSet) bool { return heavy(s) && healthy(s) })
	for _, next := range []func(types.ResourceRecordSet) bool{healthy, heavy, func(types.ResourceRecordSet) bool { return true }} {
		if len(pick) == 0 {
			pick = filter(sets, next)
		}
	}
	total := int64(0)
	for _, s := range pick {
		total += *s.Weight
	}
	if total == 0 {
		return pick[random(int64(len(pick)))], true
	}
	at := random(total)
	for _, s := range pick {
		if at -= *s.Weight; at < 0 {
			return s, true
		}
	}
	return pick[0], true
}

func filter(sets []types.ResourceRecordSet, keep func(types.ResourceRecordSet) bool) []types.ResourceRecordSet {
	var kept []types.ResourceRecordSet
	for _, s := range sets {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// query answers from what the name servers know at one time.
type query struct {
	r   *Route53
	now time.Time
}

// sets returns the record sets of a name and type, by their identifiers.
func (q query) sets(z *zone, name, kind string) []types.ResourceRecordSet {
	records := z.answers(q.now)
	keys := make([]key, 0, 2)
	for k := range records {
		if k.name == name && k.kind == kind {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	sets := make([]types.ResourceRecordSet, 0, len(keys))
	for _, k := range keys {
		sets = append(sets, records[k])
	}
	return sets
}

func (q query) exists(z *zone, name string) bool {
	for k := range z.answers(q.now) {
		if within(k.name, name) {
			return true
		}
	}
	return false
}

// healthy reports whether a record set may answer: its health check and, for an
// alias that asks for it, its target.
func (q query) healthy(set types.ResourceRecordSet) bool { return q.healthyAt(set, 0) }

func (q query) healthyAt(set types.ResourceRecordSet, depth int) bool {
	if c := q.r.checks[aws.ToString(set.HealthCheckId)]; c != nil && !q.r.healthy(c, q.now) {
		return false
	}
	if set.AliasTarget == nil || !set.AliasTarget.EvaluateTargetHealth || depth == maxAliases {
		return true
	}
	name := normalize(aws.ToString(set.AliasTarget.DNSName))
	z := q.r.zoneOf(name)
	if z == nil {
		healthy, known := q.r.targets[name]
		return healthy || !known
	}
	targets := q.sets(z, name, string(set.Type))
	return slices.ContainsFunc(targets, func(s types.ResourceRecordSet) bool { return q.healthyAt(s, depth+1) })
}

func (q query) random(n int64) int64 {
	v, err := strconv.ParseInt(q.r.world.Hex(12), 16, 64)
	if err != nil { // digits of a seeded world may be none
		return 0
	}
	return v % n
}

// answer resolves a name inside the zones.
func (q query) answer(z *zone, name string, kind types.RRType) Answer {
	a := Answer{Code: "NOERROR", Zone: z.name, Name: name}
	at := z // where an alias has led to; the answer keeps the name of the alias
	for range maxAliases {
		set, ok := choose(q.sets(at, name, string(kind)), q.healthy, q.random)
		if !ok && kind != types.RRTypeCname {
			if target, ttl, has := q.cname(at, name); has {
				a.Aliases, a.TTL = append(a.Aliases, target), ttl
				if q.r.zoneOf(target) != z { // the resolver asks its name servers
					return a
				}
				a.Name, name, at = target, target, z
				continue
			}
		}
		switch {
		case !ok && !q.exists(at, name):
			a.Code = "NXDOMAIN"
			return a
		case !ok:
			return a
		case set.AliasTarget == nil:
			a.TTL = uint32(aws.ToInt64(set.TTL))
			for _, v := range set.ResourceRecords {
				a.Values = append(a.Values, aws.ToString(v.Value))
			}
			return a
		}
		name = normalize(aws.ToString(set.AliasTarget.DNSName))
		if at = q.r.zoneOf(name); at == nil { // outside the sandbox
			a.TTL = aliasTTL
			return a
		}
	}
	a.Code = "SERVFAIL"
	return a
}

func (q query) cname(z *zone, name string) (target string, ttl uint32, ok bool) {
	set, ok := choose(q.sets(z, name, string(types.RRTypeCname)), q.healthy, q.random)
	if !ok || len(set.ResourceRecords) == 0 {
		return "", 0, false
	}
	return normalize(aws.ToString(set.ResourceRecords[0].Value)), uint32(aws.ToInt64(set.TTL)), true
}

// Answer is what the name servers of the zone that holds name answer now.
func (r *Route53) Answer(name, kind string) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	name = normalize(name)
	z := r.zoneOf(name)
	if z == nil {
		return Answer{Code: "REFUSED", Name: name}
	}
	return query{r, r.now()}.answer(z, name, types.RRType(kind))
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_TestDNSAnswer.html
func (r *Route53) testDNSAnswer(req *wire.Request, in *api.TestDNSAnswerInput) (*api.TestDNSAnswerOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.HostedZoneId)
	if err != nil {
		return nil, err
	}
	name := normalize(aws.ToString(in.RecordName))
	if !within(name, z.name) {
		return nil, invalid("RecordName %s is not in the hosted zone %s.", name, z.name)
	}
	a := query{r, r.now()}.answer(z, name, in.RecordType)
	return &api.TestDNSAnswerOutput{
		Nameserver: aws.String(z.servers[0]), Protocol: aws.String("UDP"), RecordName: aws.String(name), RecordType: in.RecordType,
		RecordData: append([]string{}, a.Values...), ResponseCode: aws.String(a.Code),
	}, nil
}
