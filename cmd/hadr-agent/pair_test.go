package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	simulator "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
	"github.com/hadr-dev/terraform-provider-hadr/provider"
)

const (
	region   = "eu-central-1"
	table    = "hadr"
	group    = "orders"
	function = "arn:aws:lambda:eu-central-1:123456789012:function:orders-takeover"
)

// pair is a sandbox with a Db2 pair and a group, whose agents run in this
// process: the same loop, engine and record as in a process of their own.
type pair struct {
	*sandbox.Sandbox
	landscape.Landscape
	mu     sync.Mutex
	twists map[string]twist // by node
	logs   map[string]*lines
}

// twist changes what a host answers to a script.
type twist func(script, output string, code int) (string, int)

func startPair(tb testing.TB, lease, interval time.Duration, o sandbox.Options) *pair {
	tb.Helper()
	p := &pair{twists: map[string]twist{}, logs: map[string]*lines{"a": {}, "b": {}}}
	if o.Binary == "" {
		o.Commands = map[string]hosts.CommandFunc{"hadr-agent": p.run}
	}
	var err error
	p.Sandbox, err = sandbox.Start(tb.Context(), o)
	must(tb, err)
	tb.Cleanup(func() { p.Close() })
	cfg := p.Config(region)
	p.Landscape, err = landscape.Builder{EC2: ec2.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), Clock: clock.System(), Region: region}.Build(tb.Context())
	must(tb, err)
	must(tb, p.Hosts.SetupDb2(tb.Context(), simulator.Pair{PeerWindow: 420 * time.Second, Timeout: 120 * time.Second}, p.machine("a"), p.machine("b")))
	p.declare(tb, lease, interval)
	for node, h := range p.Databases {
		script := fmt.Sprintf("printf 'HADR_TABLE=%s\\nHADR_GROUP=%s\\nHADR_NODE=%s\\n' >$HADR_ROOT/etc/hadr/agent.env && systemctl restart hadr-agent", table, group, node)
		r, err := p.Hosts.Run(tb.Context(), world.Command{ID: "test", InstanceID: h.InstanceID, Script: script, Timeout: time.Minute})
		must(tb, err)
		if r.Code != 0 {
			tb.Fatalf("starting the agent of node %s: %s%s", node, r.Stdout, r.Stderr)
		}
	}
	return p
}

func (p *pair) machine(node string) world.Machine {
	id := p.Databases[node].InstanceID
	for _, i := range p.EC2.Instances() {
		if i.InstanceID == id {
			return i.Machine
		}
	}
	return world.Machine{InstanceID: id}
}

func (p *pair) record() *statetable.Table {
	return statetable.New(dynamodb.NewFromConfig(p.Config(region)), table, clock.System())
}

// declare makes the record and the hosts' policy, as Terraform does.
func (p *pair) declare(tb testing.TB, lease, interval time.Duration) {
	tb.Helper()
	ctx, client, name := tb.Context(), dynamodb.NewFromConfig(p.Config(region)), aws.String(table)
	key := func(name string, kind ddb.KeyType) ddb.KeySchemaElement {
		return ddb.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	out, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: name, BillingMode: ddb.BillingModePayPerRequest, KeySchema: []ddb.KeySchemaElement{key("pk", ddb.KeyTypeHash), key("sk", ddb.KeyTypeRange)},
		AttributeDefinitions: []ddb.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: ddb.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: ddb.ScalarAttributeTypeS},
		},
	})
	must(tb, err)
	must(tb, dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: name}, time.Minute))
	policy, err := provider.HostPolicy(ctx, *out.TableDescription.TableArn, function, group)
	must(tb, err)
	_, err = iam.NewFromConfig(p.Config(region)).PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(landscape.Role), PolicyName: name, PolicyDocument: &policy})
	must(tb, err)
	c := failover.Config{
		Engine: "db2", Preferred: "a", VIP: "192.168.77.10", Port: 50000, Policy: failover.Automatic, Fencing: failover.Strict,
		Settings: map[string]string{"database": "SAMPLE", "instance_owner": "db2inst1", "syncmode": "NEARSYNC", "peer_window_seconds": "420", "hadr_timeout_seconds": "120"},
	}.WithDefaults()
	record := p.record()
	for _, node := range slices.Sorted(maps.Keys(p.Databases)) {
		c.Nodes = append(c.Nodes, failover.NodeConfig{ID: node, Instance: p.Databases[node].InstanceID})
		must(tb, record.PutProbe(ctx, statetable.Probe{
			Group: group, Node: node, Namespace: "HADR", Metric: "SQLLatency", Interval: 20 * time.Second, Timeout: 19 * time.Second,
			Threshold: 20 * time.Second, Sentinel: 20001 * time.Millisecond, LeaseDuration: lease, LeaseInterval: interval, Function: function,
		}))
	}
	must(tb, record.PutConfig(ctx, group, c))
	must(tb, record.CreateState(ctx, group, failover.State{Group: group, Epoch: 1, Primary: "a", Phase: failover.Steady}))
}

// run is the program hadr-agent of a host.
func (p *pair) run(ctx context.Context, c *hosts.Call) int {
	id := c.Getenv("HADR_NODE")
	role, err := p.World.Identity.InstanceProfileRole(landscape.Role)
	if err != nil {
		return 1
	}
	session, err := p.World.Identity.ServiceSession(role, "ec2.amazonaws.com", c.Getenv("AWS_EC2_INSTANCE_ID"))
	if err != nil {
		return 1
	}
	server := agent.NewServerClock(p.Server.RoundTripper(), c.Clock)
	cfg := p.Config(region)
	cfg.Credentials = credentials.NewStaticCredentialsProvider(session.AccessKey, session.SecretKey, session.SessionToken)
	cfg.HTTPClient = &http.Client{Transport: server}
	shell := twistedShell{hosts.Shell{Call: c}, func(script, output string, code int) (string, int) {
		p.mu.Lock()
		twist := p.twists[id]
		p.mu.Unlock()
		if twist == nil {
			return output, code
		}
		return twist(script, output, code)
	}}
	a := &agent.Agent{
		Group: c.Getenv("HADR_GROUP"), Node: id,
		Record:   statetable.New(dynamodb.NewFromConfig(cfg), c.Getenv("HADR_TABLE"), c.Clock),
		Metrics:  agent.CloudWatch{API: cloudwatch.NewFromConfig(cfg)},
		Database: db2.Local{Group: c.Getenv("HADR_GROUP"), Shell: shell, Clock: c.Clock},
		Takeover: agent.Function{API: lambda.NewFromConfig(cfg)},
		Endpoint: agent.Addresses{Shell: shell}, Offset: server, Clock: c.Clock, Watchdog: 30 * time.Second,
		Log: slog.New(slog.NewTextHandler(p.logs[id], nil)),
	}
	if a.Run(ctx) != nil {
		return 1
	}
	return 0
}

// twistedShell is the shell of a host whose answers a test changes.
type twistedShell struct {
	hosts.Shell
	twist twist
}

func (t twistedShell) Run(ctx context.Context, script string) (output string, code int, err error) {
	if output, code, err = t.Shell.Run(ctx, script); err == nil {
		output, code = t.twist(script, output, code)
	}
	return output, code, err
}

// lines are what an agent has logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

// take returns the lines since the last call.
func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
