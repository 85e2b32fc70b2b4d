package route53

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Limits of a change batch; an UPSERT counts twice.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html#limits-api-requests-changeresourcerecordsets
const (
	maxBatchRecords    = 1000
	maxBatchCharacters = 32000
)

// change is a change of a zone on its way to the name servers.
type change struct {
	id        string
	comment   *string
	submitted time.Time
	synced    time.Time
}

// newChange notes a change. The caller holds mu.
func (r *Route53) newChange(now time.Time, comment *string) *types.ChangeInfo {
	c := change{r.identifier("C"), comment, now, now.Add(r.propagation)}
	r.changes[c.id] = c
	return c.show(now)
}

func (c change) show(now time.Time) *types.ChangeInfo {
	status := types.ChangeStatusPending
	if !c.synced.After(now) {
		status = types.ChangeStatusInsync
	}
	return &types.ChangeInfo{Id: aws.String("/change/" + c.id), Comment: c.comment, Status: status, SubmittedAt: aws.Time(c.submitted)}
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetChange.html
func (r *Route53) getChange(_ *wire.Request, in *api.GetChangeInput) (*api.GetChangeOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.changes[bare(aws.ToString(in.Id))]
	if !ok {
		return nil, wire.Errorf("NoSuchChange", "A change with the specified change ID %s does not exist.", bare(aws.ToString(in.Id))).WithStatus(http.StatusNotFound)
	}
	return &api.GetChangeOutput{ChangeInfo: c.show(r.now())}, nil
}

// changeRecords applies all changes of a batch or none.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html
func (r *Route53) changeRecords(req *wire.Request, in *api.ChangeResourceRecordSetsInput) (*api.ChangeResourceRecordSetsOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	z, err := r.zone(req.Account, in.HostedZoneId)
	if err != nil {
		return nil, err
	}
	if in.ChangeBatch == nil || len(in.ChangeBatch.Changes) == 0 {
		return nil, invalid("A change batch must hold at least one change.")
	}
	if z.busy {
		return nil, wire.Errorf("PriorRequestNotComplete", "The request was rejected because Route 53 was still processing a prior request.")
	}
	if r.processing > 0 {
		z.busy = true
		r.mu.Unlock()
		err := r.world.Clock.Sleep(req.Context, r.processing)
		r.mu.Lock()
		z.busy = false
		if err != nil {
			return nil, err
		}
	}
	records, err := r.apply(z, in.ChangeBatch.Changes)
	if err != nil {
		return nil, err
	}
	now := r.now()
	z.publish(records, now, now.Add(r.propagation))
	return &api.ChangeResourceRecordSetsOutput{ChangeInfo: r.newChange(now, in.ChangeBatch.Comment)}, nil
}

// apply returns the records of z after a batch. The caller holds mu.
func (r *Route53) apply(z *zone, changes []types.Change) (map[key]types.ResourceRecordSet, error) {
	if err := checkSize(changes); err != nil {
		return nil, err
	}
	records := maps.Clone(z.records)
	var problems []string
	for _, c := range changes {
		if c.ResourceRecordSet == nil {
			return nil, invalid("Every change needs a ResourceRecordSet.")
		}
		set := *c.ResourceRecordSet
		set.Name = aws.String(normalize(aws.ToString(set.Name)))
		if id := aws.ToString(set.HealthCheckId); id != "" && c.Action != types.ChangeActionDelete && r.checks[id] == nil {
			return nil, wire.Errorf("NoSuchHealthCheck", "No health check exists with the specified ID %s", id).WithStatus(http.StatusNotFound)
		}
		if err := z.applyOne(records, c.Action, set); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if len(problems) == 0 {
		problems = z.conflicts(records, changes)
	}
	if len(problems) > 0 {
		return nil, wire.Errorf("InvalidChangeBatch", "[%s]", strings.Join(problems, ", "))
	}
	return records, nil
}

func (z *zone) applyOne(records map[key]types.ResourceRecordSet, action types.ChangeAction, set types.ResourceRecordSet) error {
	k := keyOf(set)
	old, exists := records[k]
	label := fmt.Sprintf("resource record set [name='%s', type='%s'%s]", k.name, k.kind, named(k.set))
	switch action {
	case types.ChangeActionDelete:
		switch {
		case !exists:
			return fmt.Errorf("Tried to delete %s but it was not found", label)
		case !same(old, set):
			return fmt.Errorf("Tried to delete %s but the values provided do not match the current values", label)
		case z.own(k):
			return fmt.Errorf("A HostedZone must contain exactly one %s record for the zone itself", k.kind)
		}
		delete(records, k)
		return nil
	case types.ChangeActionCreate:
		if exists {
			return fmt.Errorf("Tried to create %s but it already exists", label)
		}
	case types.ChangeActionUpsert:
	default:
		return fmt.Errorf("Action %q is none of CREATE, DELETE and UPSERT", action)
	}
	if err := checkRecord(z.name, set); err != nil {
		return fmt.Errorf("Invalid %s: %w", label, err)
	}
	records[k] = set
	return nil
}

func named(set string) string {
	if set == "" {
		return ""
	}
	return ", set identifier='" + set + "'"
}

func checkSize(changes []types.Change) error {
	count, characters := 0, 0
	for _, c := range changes {
		weight := 1
		if c.Action == types.ChangeActionUpsert {
			weight = 2
		}
		if c.ResourceRecordSet == nil {
			continue
		}
		for _, v := range c.ResourceRecordSet.ResourceRecords {
			count += weight
			characters += weight * len(aws.ToString(v.Value))
		}
	}
	if count > maxBatchRecords || characters > maxBatchCharacters {
		return wire.Errorf("InvalidChangeBatch", "[Number of records limit of %d or of characters in their values of %d exceeded]", maxBatchRecords, maxBatchCharacters)
	}
	return nil
}

func keyOf(set types.ResourceRecordSet) key {
	return key{aws.ToString(set.Name), string(set.Type), aws.ToString(set.SetIdentifier)}
}

// same reports whether a DELETE names all values of a record set, as it must.
func same(a, b types.ResourceRecordSet) bool {
	if (a.AliasTarget == nil) != (b.AliasTarget == nil) || aws.ToInt64(a.TTL) != aws.ToInt64(b.TTL) || a.Failover != b.Failover ||
		aws.ToInt64(a.Weight) != aws.ToInt64(b.Weight) || aws.ToString(a.HealthCheckId) != aws.ToString(b.HealthCheckId) {
		return false
	}
	if x, y := a.AliasTarget, b.AliasTarget; x != nil {
		return normalize(aws.ToString(x.DNSName)) == normalize(aws.ToString(y.DNSName)) && bare(aws.ToString(x.HostedZoneId)) == bare(aws.ToString(y.HostedZoneId)) && x.EvaluateTargetHealth == y.EvaluateTargetHealth
	}
	return slices.Equal(values(a), values(b))
}

// values returns the values of a record set, sorted: their order means nothing.
func values(set types.ResourceRecordSet) []string {
	all := make([]string, 0, len(set.ResourceRecords))
	for _, v := range set.ResourceRecords {
		all = append(all, aws.ToString(v.Value))
	}
	slices.Sort(all)
	return all
}
