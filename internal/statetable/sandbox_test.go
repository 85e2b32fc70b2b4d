package statetable_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// The record through the SDK's client and the sandbox's DynamoDB: every
// expression is understood by somebody who did not write it.
func TestRecordInTheSandbox(t *testing.T) {
	box, err := sandbox.Start(t.Context(), sandbox.Options{Dir: t.TempDir(), Clock: clock.NewScaled(time.Now(), 1000)})
	must(t, err)
	defer box.Close()
	tab := newTable(t, box)
	ctx, now := t.Context(), time.Now().UTC()
	must(t, tab.PutConfig(ctx, "orders", failover.Config{Engine: "db2", Nodes: []failover.NodeConfig{{ID: "a"}, {ID: "b"}}}))
	must(t, tab.CreateState(ctx, "orders", failover.State{Epoch: 1, Primary: "a", Phase: failover.Steady, Changed: now}))
	if err := tab.CreateState(ctx, "orders", failover.State{Epoch: 1, Primary: "b"}); !errors.Is(err, statetable.ErrExists) {
		t.Errorf("CreateState again: %v", err)
	}

	steady, err := tab.Load(ctx, "orders")
	must(t, err)
	claimed := steady
	claimed.Epoch, claimed.Phase, claimed.Version = 2, failover.TakingOver, steady.Version+1
	claimed.Operation = &failover.Operation{ID: "01HX", Kind: failover.Takeover, From: "a", To: "b", Started: now, Config: steady.Config}
	claimed.Fenced = map[string]failover.Fence{"a": {Epoch: 2, Method: "stop", At: now}}

	must(t, tab.SetMaintenance(ctx, "orders", failover.Maintenance{On: true, Reason: "patches"}))
	if err := tab.Claim(ctx, steady, claimed); !errors.Is(err, control.ErrMaintenance) {
		t.Errorf("Claim in maintenance: %v", err)
	}
	must(t, tab.SetMaintenance(ctx, "orders", failover.Maintenance{On: true, Until: now.Add(-time.Minute)}))
	if sealed, why, err := tab.Seal(ctx, "orders", "a", 1, "01HX"); !sealed || err != nil {
		t.Errorf("Seal: %v, %q, %v", sealed, why, err)
	}
	must(t, tab.Claim(ctx, steady, claimed))
	must(t, tab.Claim(ctx, steady, claimed)) // R2: my own
	other := claimed
	other.Operation = &failover.Operation{ID: "02HX"}
	if err := tab.Claim(ctx, steady, other); !errors.Is(err, control.ErrConflict) {
		t.Errorf("Claim of a second: %v", err)
	}
	got, err := tab.Load(ctx, "orders")
	must(t, err)
	if diff := cmp.Diff(claimed, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(failover.State{}, "Maintenance")); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if err := tab.DeleteGroup(ctx, "orders", false); !errors.Is(err, statetable.ErrBusy) {
		t.Errorf("DeleteGroup: %v", err)
	}

	for _, event := range []string{"started", "ended"} {
		must(t, tab.Append(ctx, "orders", failover.Entry{At: now, OperationID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Event: event}))
	}
	if h, err := tab.History(ctx, "orders", 1); err != nil || len(h) != 1 || h[0].Event != "ended" {
		t.Errorf("history %+v, %v", h, err)
	}
	must(t, tab.BindAlarms(ctx, "orders", "a", []string{"arn:1"}))
	if err := tab.BindAlarms(ctx, "orders", "b", []string{"arn:1"}); !errors.Is(err, statetable.ErrBound) {
		t.Errorf("BindAlarms elsewhere: %v", err)
	}
	for _, id := range []string{"first", "second"} {
		if seen, err := tab.See(ctx, "arn:1", now, id, now.Add(time.Hour)); seen != "first" || err != nil {
			t.Errorf("See = %s, %v", seen, err)
		}
	}
	must(t, tab.PutNode(ctx, "orders", failover.Observation{Node: "a", ReadAt: now}))
	must(t, tab.PutNode(ctx, "orders", failover.Observation{Node: "a", ReadAt: now.Add(-time.Second), Role: failover.RoleStandby}))
	if o, err := tab.Node(ctx, "orders", "a"); err != nil || o.Role != "" {
		t.Errorf("node %+v, %v", o, err)
	}
	if groups, err := tab.ListGroups(ctx); err != nil || len(groups) != 1 {
		t.Errorf("groups %v, %v", groups, err)
	}
	must(t, tab.DeleteGroup(ctx, "orders", true))
	if _, err := tab.Load(ctx, "orders"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("Load after deletion: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newTable makes an empty state table.
func newTable(t *testing.T, box *sandbox.Sandbox) *statetable.Table {
	t.Helper()
	client := dynamodb.NewFromConfig(box.Config("eu-central-1"))
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("hadr"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	must(t, err)
	must(t, dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("hadr")}, time.Minute,
		func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Millisecond, 10*time.Millisecond
		}))
	return statetable.New(client, "hadr", clock.System())
}

// TestSweepInTheSandbox: what has expired goes, what has not stays, and nothing
// else is touched.
func TestSweepInTheSandbox(t *testing.T) {
	box, err := sandbox.Start(t.Context(), sandbox.Options{Dir: t.TempDir(), Clock: clock.NewScaled(time.Now(), 1000)})
	must(t, err)
	defer box.Close()
	tab := newTable(t, box)
	ctx, now := t.Context(), time.Now().UTC()
	const alarm = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:x"
	see := func(changed time.Time, id string, expires time.Time) string {
		t.Helper()
		first, err := tab.See(ctx, alarm, changed, id, expires)
		must(t, err)
		return first
	}
	see(now.Add(-48*time.Hour), "old", now.Add(-24*time.Hour))
	see(now, "young", now.Add(24*time.Hour))
	must(t, tab.PutConfig(ctx, "orders", failover.Config{Engine: "db2"}))
	n, err := tab.Sweep(ctx, now)
	must(t, err)
	if n != 1 {
		t.Errorf("swept %d items, want 1", n)
	}
	if id := see(now, "again", now.Add(24*time.Hour)); id != "young" {
		t.Errorf("the young event is handled by %s, want young", id)
	}
	if id := see(now.Add(-48*time.Hour), "again", now.Add(24*time.Hour)); id != "again" {
		t.Errorf("the old event is still handled by %s", id)
	}
	if _, err := tab.ReadConfig(ctx, "orders"); err != nil {
		t.Errorf("the sweep took the configuration: %v", err)
	}
}
