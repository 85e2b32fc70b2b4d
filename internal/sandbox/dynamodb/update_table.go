package dynamodb

import (
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// UpdateTable changes settings and indexes of a table, all or nothing.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
func (d *DynamoDB) UpdateTable(req *wire.Request, in *dynamodb.UpdateTableInput) (*dynamodb.UpdateTableOutput, error) {
	if err := refuse("UpdateTable", map[string]bool{"VectorIndexUpdates": in.VectorIndexUpdates != nil}); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(*in, dynamodb.UpdateTableInput{TableName: in.TableName}) {
		return nil, invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.described(req, in.TableName)
	if err != nil {
		return nil, err
	}
	now := d.now()
	if err := r.idle(now); err != nil {
		return nil, err
	}
	members, err := parseMembership(in)
	if err != nil {
		return nil, err
	}
	if members.declared || in.ReplicaUpdates != nil || in.GlobalTableWitnessUpdates != nil {
		if err := members.check(d, r); err != nil {
			return nil, err
		}
	}
	if err := r.change(in, now); err != nil {
		return nil, err
	}
	if in.DeletionProtectionEnabled != nil {
		r.protected = *in.DeletionProtectionEnabled
	}
	if in.SSESpecification != nil {
		r.sse = d.encryption(r.at, in.SSESpecification)
	}
	r.enter(types.TableStatusUpdating, now, updateTime)
	d.regroup(r, members, now)
	if len(members.create) > 0 {
		r.enter(types.TableStatusUpdating, now, createTime)
	}
	return &dynamodb.UpdateTableOutput{TableDescription: r.describe(now)}, nil
}

// change applies settings to r and, as they are those of the table, to its
// other replicas. Streams of a strongly consistent table are set in each
// Region; those of an eventually consistent one carry its writes and stay.
func (r *replica) change(in *dynamodb.UpdateTableInput, now time.Time) error {
	if s := in.StreamSpecification; s != nil && r.global != nil && !r.global.strong {
		return invalid("The stream of global table %s cannot be changed", r.table.name)
	}
	elsewhere := *in
	elsewhere.StreamSpecification = nil
	all := append([]*replica{r}, r.others()...)
	tables := make([]*table, len(all))
	for i, m := range all {
		given := in
		if m != r {
			given = &elsewhere
		}
		var err error
		if tables[i], err = m.table.updated(given, now); err != nil {
			return err
		}
	}
	for i, m := range all {
		m.adopt(tables[i], now)
	}
	return nil
}

// adopt replaces the settings of r's table.
func (r *replica) adopt(t *table, now time.Time) {
	was := r.table.streams()
	r.table = t
	r.items.reindex(t)
	switch {
	case t.streams() && !was:
		r.openStream(now)
	case was && !t.streams():
		r.latestStream().closed = true
	}
}

// updated returns a copy of t with the changes of in.
func (t *table) updated(in *dynamodb.UpdateTableInput, now time.Time) (*table, error) {
	c := *t
	c.indexes = slices.Clone(t.indexes)
	if in.AttributeDefinitions != nil {
		c.definitions = nil
		if err := c.define(in.AttributeDefinitions); err != nil {
			return nil, err
		}
		if _, err := c.newKey(c.keySchema); err != nil {
			return nil, err
		}
	}
	if err := c.updateBilling(in, now); err != nil {
		return nil, err
	}
	if err := c.updateStream(in.StreamSpecification); err != nil {
		return nil, err
	}
	if in.TableClass != "" {
		c.class = in.TableClass
	}
	if in.OnDemandThroughput != nil {
		c.maximum = in.OnDemandThroughput
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if err := c.updateIndex(u, now); err != nil {
			return nil, err
		}
	}
	return &c, c.dropUnused(in.AttributeDefinitions != nil)
}

// dropUnused forgets the definitions that only a deleted index needed; given
// definitions must all be used.
func (t *table) dropUnused(given bool) error {
	if given {
		return t.checkDefinitions()
	}
	used := keyNames(t.keySchema)
	for _, x := range t.indexes {
		used = append(used, keyNames(x.keySchema)...)
	}
	t.definitions = slices.DeleteFunc(slices.Clone(t.definitions), func(d types.AttributeDefinition) bool {
		return !slices.Contains(used, *d.AttributeName)
	})
	return nil
}

func (t *table) updateBilling(in *dynamodb.UpdateTableInput, now time.Time) error {
	if in.BillingMode == "" && in.ProvisionedThroughput == nil {
		return nil
	}
	if in.BillingMode != "" {
		if in.BillingMode == types.BillingModePayPerRequest && t.billing != in.BillingMode {
			t.onDemand = now
		}
		t.billing = in.BillingMode
	}
	if err := checkThroughput(t.billing, in.ProvisionedThroughput, "table"); err != nil {
		return err
	}
	t.throughput = in.ProvisionedThroughput
	return nil
}

func (t *table) updateStream(s *types.StreamSpecification) error {
	if s == nil {
		return nil
	}
	if err := checkStream(s); err != nil {
		return err
	}
	switch {
	case aws.ToBool(s.StreamEnabled) && t.streams():
		return invalid("Table already has an enabled stream: TableName: %s", t.name)
	case !aws.ToBool(s.StreamEnabled) && !t.streams():
		return invalid("Table has no stream to disable: TableName: %s", t.name)
	}
	t.stream = s
	return nil
}

func (t *table) updateIndex(u types.GlobalSecondaryIndexUpdate, now time.Time) error {
	switch {
	case u.Create != nil:
		x, err := t.newIndex(*u.Create)
		if err == nil {
			x.settles = now.Add(createTime)
		}
		return err
	case u.Delete != nil:
		name := aws.ToString(u.Delete.IndexName)
		if t.index(name) == nil {
			return notFound("Requested resource not found: Index: %s not found", name)
		}
		t.indexes = slices.DeleteFunc(t.indexes, func(x *index) bool { return x.name == name })
		return nil
	case u.Update != nil:
		name := aws.ToString(u.Update.IndexName)
		i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.name == name })
		if i < 0 {
			return notFound("Requested resource not found: Index: %s not found", name)
		}
		if err := checkThroughput(t.billing, u.Update.ProvisionedThroughput, "index "+name); err != nil {
			return err
		}
		x := *t.indexes[i]
		x.throughput, x.maximum = u.Update.ProvisionedThroughput, u.Update.OnDemandThroughput
		t.indexes[i] = &x
		return nil
	}
	return invalid("One or more parameter values were invalid: a global secondary index update needs one of Create, Update and Delete")
}

// DeleteTable starts the deletion of a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteTable.html
func (d *DynamoDB) DeleteTable(req *wire.Request, in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.described(req, in.TableName)
	if err != nil {
		return nil, err
	}
	now := d.now()
	if err := r.idle(now); err != nil {
		return nil, err
	}
	if r.protected {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	if r.global != nil && r.global.strong {
		return nil, invalid("Table %s cannot be deleted while it is a replica of a multi-Region strongly consistent global table: delete its other replicas and its witness first", r.table.name)
	}
	r.deleting = true
	r.enter(types.TableStatusDeleting, now, deleteTime)
	return &dynamodb.DeleteTableOutput{TableDescription: r.describe(now)}, nil
}
