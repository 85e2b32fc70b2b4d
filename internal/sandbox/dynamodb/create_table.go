package dynamodb

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// CreateTable makes a table, which is CREATING for a short time.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html
func (d *DynamoDB) CreateTable(req *wire.Request, in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	if err := refuse("CreateTable", map[string]bool{
		"LocalSecondaryIndexes": in.LocalSecondaryIndexes != nil, "VectorIndexes": in.VectorIndexes != nil,
		"ResourcePolicy": in.ResourcePolicy != nil, "GlobalTableSourceArn": in.GlobalTableSourceArn != nil,
	}); err != nil {
		return nil, err
	}
	at, name, err := locate(req, in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := newTable(name, in)
	if err != nil {
		return nil, err
	}
	tags, err := withTags(nil, in.Tags)
	if err != nil {
		return nil, err
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lookup(at, name) != nil {
		return nil, inUse("Table already exists: %s", name)
	}
	now := d.now()
	if t.billing == types.BillingModePayPerRequest {
		t.onDemand = now
	}
	r := &replica{table: t, at: at, id: d.world.UUID(), created: now, items: newStore(t), tags: tags, protected: aws.ToBool(in.DeletionProtectionEnabled)}
	r.sse = d.encryption(at, in.SSESpecification)
	if t.streams() {
		r.openStream(now)
	}
	r.enter(types.TableStatusCreating, now, createTime)
	for _, x := range t.indexes {
		x.settles = r.settles
	}
	if d.replicas[at] == nil {
		d.replicas[at] = map[string]*replica{}
	}
	d.replicas[at][name] = r
	return &dynamodb.CreateTableOutput{TableDescription: r.describe(now)}, nil
}

func newTable(name string, in *dynamodb.CreateTableInput) (*table, error) {
	t := &table{name: name, keySchema: in.KeySchema, billing: in.BillingMode, throughput: in.ProvisionedThroughput, maximum: in.OnDemandThroughput, class: in.TableClass, stream: in.StreamSpecification}
	if t.billing == "" {
		t.billing = types.BillingModeProvisioned
	}
	if !slices.Contains(t.billing.Values(), t.billing) {
		return nil, invalid("1 validation error detected: Value '%s' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]", t.billing)
	}
	if err := checkThroughput(t.billing, t.throughput, "table"); err != nil {
		return nil, err
	}
	if err := checkStream(t.stream); err != nil {
		return nil, err
	}
	if err := t.define(in.AttributeDefinitions); err != nil {
		return nil, err
	}
	var err error
	if t.key, err = t.newKey(in.KeySchema); err != nil {
		return nil, err
	}
	for _, g := range in.GlobalSecondaryIndexes {
		if _, err := t.newIndex(types.CreateGlobalSecondaryIndexAction{IndexName: g.IndexName, KeySchema: g.KeySchema, Projection: g.Projection,
			ProvisionedThroughput: g.ProvisionedThroughput, OnDemandThroughput: g.OnDemandThroughput}); err != nil {
			return nil, err
		}
	}
	return t, t.checkDefinitions()
}

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_StreamSpecification.html
func checkStream(s *types.StreamSpecification) error {
	if s == nil {
		return nil
	}
	enabled := aws.ToBool(s.StreamEnabled)
	if enabled && !slices.Contains(s.StreamViewType.Values(), s.StreamViewType) {
		return invalid("One or more parameter values were invalid: StreamViewType must be one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES when StreamEnabled is true")
	}
	if !enabled && s.StreamViewType != "" {
		return invalid("One or more parameter values were invalid: Table is being created or updated without a stream, but a StreamViewType was specified")
	}
	return nil
}

func (t *table) streams() bool { return t.stream != nil && aws.ToBool(t.stream.StreamEnabled) }

// encryption describes server-side encryption; without a specification the
// table uses a key that AWS owns, and nothing is described.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SSESpecification.html
func (d *DynamoDB) encryption(at place, s *types.SSESpecification) *types.SSEDescription {
	if s == nil || !aws.ToBool(s.Enabled) {
		return nil
	}
	key := aws.ToString(s.KMSMasterKeyId)
	if key == "" {
		key = d.managedKey(at)
	}
	if strings.HasPrefix(key, "alias/") {
		key = d.world.UUID()
	}
	if !strings.HasPrefix(key, "arn:") {
		key = "arn:aws:kms:" + at.region + ":" + at.account + ":key/" + key
	}
	return &types.SSEDescription{Status: types.SSEStatusEnabled, SSEType: types.SSETypeKms, KMSMasterKeyArn: &key}
}

// managedKey is the KMS key that AWS manages for DynamoDB in an account and
// Region, alias/aws/dynamodb.
func (d *DynamoDB) managedKey(at place) string {
	if d.keys[at] == "" {
		d.keys[at] = "arn:aws:kms:" + at.region + ":" + at.account + ":key/" + d.world.UUID()
	}
	return d.keys[at]
}

// ManagesKey reports whether a KMS key is one that AWS manages for DynamoDB.
func (d *DynamoDB) ManagesKey(arn string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(d.keys)), arn)
}
