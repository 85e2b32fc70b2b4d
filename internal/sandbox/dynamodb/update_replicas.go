package dynamodb

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// regionSets are the Regions between which a table can be strongly consistent.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.consistency-modes
var regionSets = [][]string{
	{"us-east-1", "us-east-2", "us-west-2"},
	{"eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1"},
	{"ap-northeast-1", "ap-northeast-2", "ap-northeast-3"},
}

// strongRegions is how many Regions a strongly consistent table has.
const strongRegions = 3

// membership is what an UpdateTable asks about the Regions of a table.
type membership struct {
	create, remove   []string
	witness          string // to be created
	removeWitness    string
	strong, declared bool // MultiRegionConsistency
}

func parseMembership(in *dynamodb.UpdateTableInput) (membership, error) {
	m := membership{strong: in.MultiRegionConsistency == types.MultiRegionConsistencyStrong, declared: in.MultiRegionConsistency != ""}
	for _, u := range in.ReplicaUpdates {
		switch {
		case u.Create != nil:
			m.create = append(m.create, aws.ToString(u.Create.RegionName))
		case u.Delete != nil:
			m.remove = append(m.remove, aws.ToString(u.Delete.RegionName))
		default:
			return m, invalid("UpdateTable: the sandbox creates and deletes replicas, and serves no other change of one")
		}
	}
	for _, u := range in.GlobalTableWitnessUpdates {
		switch {
		case u.Create != nil && m.witness == "":
			m.witness = aws.ToString(u.Create.RegionName)
		case u.Delete != nil && m.removeWitness == "":
			m.removeWitness = aws.ToString(u.Delete.RegionName)
		default:
			return m, invalid("One or more parameter values were invalid: a global table has at most one witness")
		}
	}
	if len(m.create) > 0 && len(m.remove) > 0 {
		return m, invalid("One or more parameter values were invalid: replicas cannot be created and deleted in one request")
	}
	return m, nil
}

// check says whether r can change its Regions so.
func (m membership) check(d *DynamoDB, r *replica) error {
	regions := append(slices.Clone(m.create), m.remove...)
	for i, region := range regions {
		if region == "" || region == r.at.region || slices.Contains(regions[:i], region) {
			return invalid("One or more parameter values were invalid: %q is no other Region for a replica of table %s in %s", region, r.table.name, r.at.region)
		}
	}
	if len(m.remove) > 0 || m.removeWitness != "" {
		return m.checkRemoval(r)
	}
	switch {
	case len(m.create) == 0:
		return invalid("One or more parameter values were invalid: MultiRegionConsistency and GlobalTableWitnessUpdates need ReplicaUpdates")
	case r.global != nil && r.global.strong:
		return invalid("One or more parameter values were invalid: no replica can be added to the multi-Region strongly consistent table %s", r.table.name)
	case r.global != nil && m.strong:
		return invalid("One or more parameter values were invalid: the consistency mode of global table %s cannot be changed", r.table.name)
	case !m.strong && m.witness != "":
		return invalid("One or more parameter values were invalid: only multi-Region strongly consistent tables have a witness")
	}
	for _, region := range m.create {
		if d.lookup(place{r.at.account, region}, r.table.name) != nil {
			return invalid("Failed to create a the new replica of table with name: '%s' because one or more replicas already existed as tables.", r.table.name)
		}
	}
	if m.strong {
		return m.checkStrong(r)
	}
	if r.table.streams() && r.table.stream.StreamViewType != types.StreamViewTypeNewAndOldImages {
		return invalid("Table %s must have DynamoDB Streams enabled and the streams view type must be set to NEW_AND_OLD_IMAGES", r.table.name)
	}
	return nil
}

// checkStrong holds what a strongly consistent table must be.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.consistency-modes
func (m membership) checkStrong(r *replica) error {
	regions := append([]string{r.at.region}, m.create...)
	if m.witness != "" {
		regions = append(regions, m.witness)
	}
	set := slices.IndexFunc(regionSets, func(set []string) bool { return slices.Contains(set, r.at.region) })
	count, _ := r.items.measure("")
	switch {
	case len(regions) != strongRegions || slices.Contains(regions[:strongRegions-1], m.witness):
		return invalid("One or more parameter values were invalid: a multi-Region strongly consistent table has three replicas, or two and a witness, in %d Regions; %d were named", strongRegions, len(regions))
	case set < 0 || slices.ContainsFunc(regions, func(region string) bool { return !slices.Contains(regionSets[set], region) }):
		return invalid("One or more parameter values were invalid: the Regions %v are not of one set for multi-Region strong consistency", regions)
	case count > 0:
		return invalid("One or more parameter values were invalid: table %s must be empty to become multi-Region strongly consistent", r.table.name)
	case r.ttl.attribute != "":
		return invalid("One or more parameter values were invalid: table %s must not have Time to Live to become multi-Region strongly consistent", r.table.name)
	}
	return nil
}

// checkRemoval lets a strongly consistent table lose all other Regions at once
// or none.
func (m membership) checkRemoval(r *replica) error {
	g := r.global
	if g == nil {
		return invalid("Table %s is no global table", r.table.name)
	}
	for _, region := range m.remove {
		if !slices.ContainsFunc(g.members, func(o *replica) bool { return o.at.region == region && !o.deleting }) {
			return invalid("Failed to delete the replica of table with name: '%s' because there is none in %s", r.table.name, region)
		}
	}
	switch {
	case m.removeWitness != g.witness && (m.removeWitness != "" || g.strong):
		return invalid("One or more parameter values were invalid: the witness of table %s is in %q, not in %q", r.table.name, g.witness, m.removeWitness)
	case g.strong && len(m.remove) != len(g.members)-1:
		return invalid("One or more parameter values were invalid: the replicas of the multi-Region strongly consistent table %s can only be deleted together", r.table.name)
	}
	return nil
}

// regroup makes the change that check has allowed.
func (d *DynamoDB) regroup(r *replica, m membership, now time.Time) {
	for _, o := range r.others() {
		if slices.Contains(m.remove, o.at.region) {
			o.deleting = true
			o.enter(types.TableStatusDeleting, now, deleteTime)
		}
	}
	if m.removeWitness != "" {
		r.global.witness = ""
	}
	if len(m.create) == 0 {
		return
	}
	if r.global == nil {
		r.global = &global{strong: m.strong, members: []*replica{r}}
	}
	g := r.global
	g.witness, g.settles = m.witness, now.Add(createTime)
	if !g.strong && !r.table.streams() {
		changed := *r.table
		changed.stream = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
		r.table = &changed
		r.openStream(now)
	}
	for _, region := range m.create {
		d.join(r, region, now)
	}
}

// join makes a replica of r in another Region.
func (d *DynamoDB) join(r *replica, region string, now time.Time) {
	t := *r.table
	n := &replica{table: &t, at: place{r.at.account, region}, id: d.world.UUID(), created: now, items: r.items, tags: map[string]string{}, ttl: r.ttl, global: r.global}
	if r.global.strong {
		t.stream = nil // streams of a strongly consistent table are set in each Region
	} else {
		n.items = r.items.clone()
		n.openStream(now)
	}
	n.enter(types.TableStatusCreating, now, createTime)
	if d.replicas[n.at] == nil {
		d.replicas[n.at] = map[string]*replica{}
	}
	d.replicas[n.at][t.name] = n
	r.global.members = append(r.global.members, n)
}

// others are the replicas of a global table that stay with r.
func (r *replica) others() []*replica {
	if r.global == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.global.members), func(m *replica) bool { return m == r || m.deleting })
}
