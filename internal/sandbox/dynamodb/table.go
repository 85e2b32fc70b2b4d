package dynamodb

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
)

// How long a table stays CREATING, UPDATING and DELETING. AWS names no times;
// these are short, but long enough for a caller that does not wait to notice.
const (
	createTime = time.Second
	updateTime = 500 * time.Millisecond
	deleteTime = time.Second
)

// table is what the replicas of a table have in common.
type table struct {
	name        string
	definitions []types.AttributeDefinition
	keySchema   []types.KeySchemaElement
	key         expression.Key
	indexes     []*index
	billing     types.BillingMode
	onDemand    time.Time // since when the table is billed per request
	throughput  *types.ProvisionedThroughput
	maximum     *types.OnDemandThroughput
	class       types.TableClass
	stream      *types.StreamSpecification
}

// index is a global secondary index.
type index struct {
	name       string
	keySchema  []types.KeySchemaElement
	key        expression.Key
	projection types.Projection
	throughput *types.ProvisionedThroughput
	maximum    *types.OnDemandThroughput
	settles    time.Time // until then CREATING
}

func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// typeOf returns the declared type of a key attribute.
func (t *table) typeOf(attribute string) string {
	for _, d := range t.definitions {
		if *d.AttributeName == attribute {
			return string(d.AttributeType)
		}
	}
	return ""
}

// replica is the copy of a table in one Region.
type replica struct {
	table   *table
	at      place
	id      string
	created time.Time
	items   *store

	// A state ends by itself when the clock reaches settles.
	state    types.TableStatus
	settles  time.Time
	deleting bool

	protected bool
	sse       *types.SSEDescription
	streams   []*stream // the latest last
	tags      map[string]string
	recovery  recovery
	ttl       timeToLive

	global *global          // nil for a table in one Region
	stamps map[string]stamp // of the last writes, by position: eventually consistent global tables only
	frozen *store           // what an isolated Region still sees of a strongly consistent table
}

func (r *replica) arn() string { return tableARN(r.at, r.table.name) }

func (r *replica) status(now time.Time) types.TableStatus {
	if now.Before(r.settles) {
		return r.state
	}
	return types.TableStatusActive
}

// serves reports whether items can be read and written.
func (r *replica) serves(now time.Time) bool {
	s := r.status(now)
	return s == types.TableStatusActive || s == types.TableStatusUpdating
}

// enter starts a state that lasts for d.
func (r *replica) enter(state types.TableStatus, now time.Time, d time.Duration) {
	r.state, r.settles = state, now.Add(d)
}

// idle fails while the table is in a state in which it cannot be changed.
func (r *replica) idle(now time.Time) error {
	doing := map[types.TableStatus]string{
		types.TableStatusCreating: "created", types.TableStatusUpdating: "updated", types.TableStatusDeleting: "deleted",
	}[r.status(now)]
	if doing == "" {
		return nil
	}
	return inUse("Attempt to change a resource which is still in use: Table is being %s: %s", doing, r.table.name)
}
