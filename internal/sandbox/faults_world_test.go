package sandbox_test

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// site is a sandbox with hosts in the zones eu-central-1a and eu-central-1b.
type site struct {
	*sandbox.Sandbox
	landscape.Landscape
	cfg  aws.Config
	puts atomic.Int32 // parameters that were written
}

func build(t *testing.T, o sandbox.Options) *site {
	t.Helper()
	s := &site{Sandbox: start(t, o)}
	s.cfg = once(s.Config("eu-central-1"))
	b := landscape.Builder{EC2: ec2.NewFromConfig(s.cfg), IAM: iamapi.NewFromConfig(s.cfg), Clock: clock.System(), Region: "eu-central-1"}
	s.Landscape = must[landscape.Landscape](t)(b.Build(t.Context()))
	return s
}

func (s *site) host(node string) string { return s.Databases[node].InstanceID }

// run sends a command and returns its status details after some time.
func (s *site) run(t *testing.T, instance string, after time.Duration) string {
	t.Helper()
	commands := ssm.NewFromConfig(s.cfg)
	c := must[*ssm.SendCommandOutput](t)(commands.SendCommand(t.Context(), &ssm.SendCommandInput{InstanceIds: []string{instance}, DocumentName: aws.String("AWS-RunShellScript"),
		TimeoutSeconds: aws.Int32(30), Parameters: map[string][]string{"commands": {"true"}}}))
	time.Sleep(after)
	synctest.Wait()
	i := must[*ssm.GetCommandInvocationOutput](t)(commands.GetCommandInvocation(t.Context(), &ssm.GetCommandInvocationInput{CommandId: c.Command.CommandId, InstanceId: &instance}))
	return *i.StatusDetails
}

// TestFaultsOfCommands: commands come late or not at all; with the delivery
// timeout of 30 s they are not delivered then.
func TestFaultsOfCommands(t *testing.T) { synctest.Test(t, testFaultsOfCommands) }

func testFaultsOfCommands(t *testing.T) {
	s := build(t, sandbox.Options{})
	a := s.host("a")
	delay := fault.Effect{Delay: fault.Duration(10 * time.Second)}
	for _, tt := range []struct {
		name  string
		fault fault.Fault
		after time.Duration
		want  string
	}{
		{"late", fault.Fault{Kind: fault.CommandDelay, Effect: delay}, 10 * time.Second, "Pending"},
		{"late, but there", fault.Fault{Kind: fault.CommandDelay, Effect: delay}, 11 * time.Second, "Success"},
		{"late on another host", fault.Fault{Kind: fault.CommandDelay, Selector: fault.Selector{Instance: s.host("b")}, Effect: delay}, time.Second, "Success"},
		{"late with another document", fault.Fault{Kind: fault.CommandDelay, Selector: fault.Selector{Resource: "other"}, Effect: delay}, time.Second, "Success"},
		{"late with this document here", fault.Fault{Kind: fault.CommandDelay, Selector: fault.Selector{Resource: "AWS-Run*", Region: "eu-*", Instance: a}, Effect: delay}, time.Second, "Pending"},
		{"too late", fault.Fault{Kind: fault.CommandDelay, Effect: fault.Effect{Delay: fault.Duration(time.Hour)}}, 31 * time.Second, "DeliveryTimedOut"},
		{"no agent", fault.Fault{Kind: fault.AgentOffline, Selector: fault.Selector{Instance: a}}, 5 * time.Second, "Delayed"},
		{"no agent for the timeout", fault.Fault{Kind: fault.AgentOffline, Selector: fault.Selector{Instance: a}}, 31 * time.Second, "DeliveryTimedOut"},
		{"no agent for a while", fault.Fault{Kind: fault.AgentOffline, Selector: fault.Selector{Instance: a}, Limits: fault.Limits{For: fault.Duration(10 * time.Second)}}, 12 * time.Second, "Success"},
		{"the host cut off", fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: a}}, 5 * time.Second, "Delayed"},
		{"its zone cut off, inwards", fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-central-1a", Direction: fault.In}}, 5 * time.Second, "Delayed"},
		{"the host cut off from the endpoints of AWS", fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: a, Peer: fault.Endpoints}}, 5 * time.Second, "Delayed"},
		{"its zone cut off from the other one", fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-central-1a", Peer: "eu-central-1b"}}, 5 * time.Second, "Success"},
		{"the other zone cut off", fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-central-1b"}}, 5 * time.Second, "Success"},
	} {
		inject(t, s.Sandbox, tt.fault)
		if got := s.run(t, a, tt.after); got != tt.want {
			t.Errorf("%s: after %s the command is %s, want %s", tt.name, tt.after, got, tt.want)
		}
		s.Faults.Clear()
		time.Sleep(time.Minute)
	}
	inject(t, s.Sandbox, fault.Fault{Kind: fault.AgentOffline, Selector: fault.Selector{Instance: a}})
	time.Sleep(10 * time.Minute)
	seen := must[*ssm.DescribeInstanceInformationOutput](t)(ssm.NewFromConfig(s.cfg).DescribeInstanceInformation(t.Context(), nil))
	for _, i := range seen.InstanceInformationList {
		want := ssmtypes.PingStatusOnline
		if *i.InstanceId == a {
			want = ssmtypes.PingStatusConnectionLost
		}
		if i.PingStatus != want {
			t.Errorf("%s is %s, want %s", *i.InstanceId, i.PingStatus, want)
		}
	}
}

// TestStaleRoutes: a change of a route is seen late by describing the table, by
// packets, or by both, each change on its own.
func TestStaleRoutes(t *testing.T) { synctest.Test(t, testStaleRoutes) }

func testStaleRoutes(t *testing.T) {
	const vip = "192.168.77.10"
	s := build(t, sandbox.Options{})
	routes := ec2.NewFromConfig(s.cfg)
	table := s.RouteTables[0]
	block := netip.PrefixFrom(netip.MustParseAddr(vip), 32).String()
	described := func() string {
		o := must[*ec2.DescribeRouteTablesOutput](t)(routes.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}}))
		for _, r := range o.RouteTables[0].Routes {
			if *r.DestinationCidrBlock == block {
				return *r.InstanceId
			}
		}
		return "nobody"
	}
	routed := func() string {
		if id, ok := s.EC2.Route(table, vip); ok {
			return id
		}
		return "nobody"
	}
	names := strings.NewReplacer(s.host("a"), "a", s.host("b"), "b").Replace
	seen := func() string { return names(described() + " " + routed()) }
	lead := func(node string, create bool) {
		eni := s.Databases[node].NetworkInterfaceID
		var err error
		if create {
			_, err = routes.CreateRoute(t.Context(), &ec2.CreateRouteInput{RouteTableId: &table, DestinationCidrBlock: &block, NetworkInterfaceId: &eni})
		} else {
			_, err = routes.ReplaceRoute(t.Context(), &ec2.ReplaceRouteInput{RouteTableId: &table, DestinationCidrBlock: &block, NetworkInterfaceId: &eni})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stale := func(by fault.SeenBy, d time.Duration, resource string) {
		inject(t, s.Sandbox, fault.Fault{Kind: fault.StaleRoutes, Selector: fault.Selector{Resource: resource}, Effect: fault.Effect{SeenBy: by, Delay: fault.Duration(d)}, Limits: fault.Limits{Count: 1}})
	}
	var got []string
	look := func(after time.Duration) { time.Sleep(after); got = append(got, seen()) }

	stale(fault.Everybody, 10*time.Second, table)
	lead("a", true)
	look(9999 * time.Millisecond)
	look(time.Millisecond)
	stale(fault.Describe, 10*time.Second, "route-table/*")
	s.Faults.Clear() // it is for a table's identifier
	stale(fault.Describe, 10*time.Second, "rtb-*")
	lead("b", false)
	look(0)
	stale(fault.Packets, 20*time.Second, "")
	lead("a", false)
	look(5 * time.Second)  // still from before both changes; and from between them
	look(5 * time.Second)  // describing has caught up
	look(10 * time.Second) // all have
	stale(fault.Everybody, time.Hour, "rtb-00000000000000000")
	lead("b", false)
	look(0)
	want := []string{"nobody nobody", "a a", "a b", "a b", "a b", "a a", "b b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("described and routed to:\n%s", diff)
	}
}

// as is a configuration for a program on a host.
func (s *site) as(t *testing.T, instance, region string) aws.Config {
	t.Helper()
	arn := must[string](t)(s.World.Identity.InstanceProfileRole(landscape.Role))
	c, err := s.World.Identity.ServiceSession(arn, "ec2.amazonaws.com", instance)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg.Copy()
	cfg.Region, cfg.Credentials = region, credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, c.SessionToken)
	return cfg
}

// TestCuts: whom a cut of a place keeps from whom: hosts from each other, and
// callers from the endpoints of Regions. "lost" is a request that did not
// arrive, "unheard" one that was served without an answer.
func TestCuts(t *testing.T) { synctest.Test(t, testCuts) }

func testCuts(t *testing.T) {
	var s *site
	results := make(chan error)
	s = build(t, sandbox.Options{Functions: map[string]lambda.Handler{"caller": func(ctx context.Context, c lambda.Call) ([]byte, error) {
		cfg := s.cfg.Copy()
		cfg.Region = strings.Trim(string(c.Event), `"`)
		cfg.Credentials = credentials.NewStaticCredentialsProvider(c.Credentials.AccessKey, c.Credentials.SecretKey, c.Credentials.SessionToken)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		results <- put(ctx, cfg)
		return []byte("{}"), nil
	}}})
	s.Server.Intercept(func(r *wire.Request, next func() (any, error)) (any, error) {
		out, err := next()
		if err == nil && r.Operation == "PutParameter" {
			s.puts.Add(1)
		}
		return out, err
	})
	roles := iamapi.NewFromConfig(s.cfg)
	must[*iamapi.PutRolePolicyOutput](t)(roles.PutRolePolicy(t.Context(), &iamapi.PutRolePolicyInput{RoleName: aws.String(landscape.Role), PolicyName: aws.String("p"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ssm:PutParameter","Resource":"*"}]}`)}))
	arn := role(t, s.cfg, "caller", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ssm:PutParameter","Resource":"*"}]}`)
	functions := lambdaapi.NewFromConfig(s.cfg)
	f := must[*lambdaapi.CreateFunctionOutput](t)(functions.CreateFunction(t.Context(), &lambdaapi.CreateFunctionInput{FunctionName: aws.String("caller"), Role: &arn, Timeout: aws.Int32(60),
		Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("caller"), Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}}))
	time.Sleep(time.Minute)
	for _, node := range []string{"a", "b"} {
		must[*fabric.Listener](t)(s.Hosts.Fabric().Listen(s.host(node), 9999, false))
	}
	const here, there = "eu-central-1", "eu-west-1"
	// The function is called past the API, which a caller may not reach.
	invoke := func(region string) func(context.Context) error {
		return func(context.Context) error {
			if err := s.Lambda.Enqueue(*f.FunctionArn, []byte(`"`+region+`"`)); err != nil {
				return err
			}
			return <-results
		}
	}
	ways := []struct {
		name string
		try  func(context.Context) error
	}{
		{"a to b", s.dial("a", "b")}, {"b to a", s.dial("b", "a")}, {"outside to a", s.dial("", "a")},
		{"a calls", func(ctx context.Context) error { return put(ctx, s.as(t, s.host("a"), here)) }},
		{"b calls", func(ctx context.Context) error { return put(ctx, s.as(t, s.host("b"), here)) }},
		{"a calls abroad", func(ctx context.Context) error { return put(ctx, s.as(t, s.host("a"), there)) }},
		{"outside calls", func(ctx context.Context) error { return put(ctx, s.cfg) }},
		{"outside calls abroad", func(ctx context.Context) error { c := s.cfg.Copy(); c.Region = there; return put(ctx, c) }},
		{"the function calls", invoke(here)}, {"the function calls abroad", invoke(there)},
	}
	for _, tt := range []struct {
		name string
		cut  fault.Effect
		want map[string]string // of what does not pass
	}{
		{"a zone", fault.Effect{Place: here + "a"}, map[string]string{
			"a to b": "lost", "b to a": "lost", "outside to a": "lost", "a calls": "lost", "a calls abroad": "lost"}},
		{"a zone, outwards", fault.Effect{Place: here + "a", Direction: fault.Out}, map[string]string{
			"a to b": "lost", "b to a": "lost", "outside to a": "lost", "a calls": "lost", "a calls abroad": "lost"}}, // no connection without both directions
		{"a zone, inwards", fault.Effect{Place: here + "a", Direction: fault.In}, map[string]string{
			"a to b": "lost", "b to a": "lost", "outside to a": "lost", "a calls": "unheard", "a calls abroad": "unheard"}},
		{"two zones from each other", fault.Effect{Place: here + "a", Peer: here + "b"}, map[string]string{"a to b": "lost", "b to a": "lost"}},
		{"a host", fault.Effect{Place: s.host("b")}, map[string]string{"a to b": "lost", "b to a": "lost", "b calls": "lost"}},
		{"a host from another one", fault.Effect{Place: s.host("b"), Peer: s.host("a")}, map[string]string{"a to b": "lost", "b to a": "lost"}},
		{"a host from the endpoints of AWS", fault.Effect{Place: s.host("a"), Peer: fault.Endpoints}, map[string]string{"a calls": "lost", "a calls abroad": "lost"}},
		{"a host from the endpoints of AWS, inwards", fault.Effect{Place: s.host("a"), Peer: fault.Endpoints, Direction: fault.In}, map[string]string{
			"a calls": "unheard", "a calls abroad": "unheard"}},
		{"a zone from the endpoints of AWS", fault.Effect{Place: here + "b", Peer: fault.Endpoints}, map[string]string{"b calls": "lost"}},
		{"the other Region", fault.Effect{Place: there}, map[string]string{"a calls abroad": "lost", "outside calls abroad": "lost", "the function calls abroad": "lost"}},
		{"the other Region, outwards", fault.Effect{Place: there, Direction: fault.Out}, map[string]string{
			"a calls abroad": "unheard", "outside calls abroad": "unheard", "the function calls abroad": "unheard"}},
		{"this Region", fault.Effect{Place: here}, map[string]string{
			"outside to a": "lost", "outside calls": "lost", "a calls abroad": "lost", "the function calls abroad": "lost"}},
		{"the Regions from each other", fault.Effect{Place: here, Peer: there}, map[string]string{"a calls abroad": "lost", "the function calls abroad": "lost"}},
	} {
		inject(t, s.Sandbox, fault.Fault{Kind: fault.Cut, Effect: tt.cut})
		got := map[string]string{}
		for _, w := range ways {
			before := s.puts.Load()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			err := w.try(ctx)
			cancel()
			switch {
			case err == nil:
			case s.puts.Load() > before:
				got[w.name] = "unheard"
			default:
				got[w.name] = "lost"
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		s.Faults.Clear()
		synctest.Wait()
		for _, w := range ways {
			if err := w.try(t.Context()); err != nil {
				t.Errorf("%s: %s after the end: %v", tt.name, w.name, err)
			}
		}
	}
}

// put writes a parameter.
func put(ctx context.Context, cfg aws.Config) error {
	_, err := ssm.NewFromConfig(cfg).PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String("calls"), Value: aws.String("x"), Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
	return err
}

// dial returns what connects a host, or "" for a client, to another host.
func (s *site) dial(from, to string) func(context.Context) error {
	origin := fabric.Origin{Machine: fabric.Outside, RouteTable: s.RouteTables[0]}
	if from != "" {
		origin.Machine = s.host(from)
	}
	return func(ctx context.Context) error {
		c, err := s.Hosts.Fabric().Dial(ctx, origin, s.Databases[to].PrivateIP, 9999)
		if err == nil {
			err = c.Close()
		}
		return err
	}
}

// TestACallWaitsForTheEndOfACut: packets are sent again, so a call that meets a
// cut goes on when that ends; a caller that waits too long sees a broken
// connection.
func TestACallWaitsForTheEndOfACut(t *testing.T) { synctest.Test(t, testCallWaits) }

func testCallWaits(t *testing.T) {
	s := start(t, sandbox.Options{})
	tables := dynamodb.NewFromConfig(once(s.Config("eu-west-1")))
	cut := fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-west-1"}, Limits: fault.Limits{For: fault.Duration(20 * time.Second)}}
	inject(t, s, cut)
	began := time.Now()
	if _, err := tables.ListTables(t.Context(), nil); err != nil || time.Since(began) != 20*time.Second {
		t.Errorf("the call took %s: %v", time.Since(began), err)
	}
	cut.For = 0
	inject(t, s, cut)
	began = time.Now()
	if _, err := tables.ListTables(t.Context(), nil); outcome(err) != "broken" || time.Since(began) != 127*time.Second {
		t.Errorf("the call took %s: %v", time.Since(began), err)
	}
}

// TestFaultsOfReplication: a write reaches the other Region late, and not at all
// while a Region is cut off.
func TestFaultsOfReplication(t *testing.T) { synctest.Test(t, testFaultsOfReplication) }

func testFaultsOfReplication(t *testing.T) {
	s := start(t, sandbox.Options{})
	ctx := t.Context()
	here, there := dynamodb.NewFromConfig(s.Config("eu-central-1")), dynamodb.NewFromConfig(s.Config("eu-west-1"))
	must[*dynamodb.CreateTableOutput](t)(here.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("orders"), BillingMode: ddbtypes.BillingModePayPerRequest,
		StreamSpecification:  &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: ddbtypes.StreamViewTypeNewAndOldImages},
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}}, KeySchema: []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}}))
	time.Sleep(time.Minute)
	must[*dynamodb.UpdateTableOutput](t)(here.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("orders"),
		ReplicaUpdates: []ddbtypes.ReplicationGroupUpdate{{Create: &ddbtypes.CreateReplicationGroupMemberAction{RegionName: aws.String("eu-west-1")}}}}))
	time.Sleep(10 * time.Minute)
	arrives := func(pk string, after time.Duration) bool {
		key := map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: pk}}
		must[*dynamodb.PutItemOutput](t)(here.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key}))
		time.Sleep(after)
		return len(must[*dynamodb.GetItemOutput](t)(there.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})).Item) > 0
	}
	lag := inject(t, s, fault.Fault{Kind: fault.ReplicationLag, Effect: fault.Effect{Delay: fault.Duration(time.Minute)}})
	if arrives("1", 59*time.Second) || !arrives("2", time.Minute) {
		t.Error("the lag is not a minute")
	}
	if err := s.Faults.Remove(lag.ID); err != nil {
		t.Fatal(err)
	}
	if !arrives("3", time.Second) {
		t.Error("the lag does not end")
	}
	inject(t, s, fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: "eu-west-1", Direction: fault.In}, Limits: fault.Limits{For: fault.Duration(time.Hour)}})
	key := map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "4"}}
	must[*dynamodb.PutItemOutput](t)(here.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key}))
	time.Sleep(30 * time.Minute)
	s.Faults.Clear()
	if o := must[*dynamodb.GetItemOutput](t)(there.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})); len(o.Item) == 0 {
		t.Error("what was written during the cut does not arrive after it")
	}
}

// TestFaultsOfInstances: stops hang, machines lose their power, freeze and show
// a wrong time.
func TestFaultsOfInstances(t *testing.T) { synctest.Test(t, testFaultsOfInstances) }

func testFaultsOfInstances(t *testing.T) {
	s := build(t, sandbox.Options{})
	instances := ec2.NewFromConfig(s.cfg)
	a := s.host("a")
	on := func(kind fault.Kind, e fault.Effect) fault.Active {
		return inject(t, s.Sandbox, fault.Fault{Kind: kind, Selector: fault.Selector{Instance: a}, Effect: e})
	}
	state := func() ec2types.InstanceStateName {
		o := must[*ec2.DescribeInstancesOutput](t)(instances.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{a}}))
		return o.Reservations[0].Instances[0].State.Name
	}
	stop := func() {
		must[*ec2.StopInstancesOutput](t)(instances.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{a}, SkipOsShutdown: aws.Bool(true)}))
	}
	f := on(fault.StuckStopping, fault.Effect{Powered: true})
	if _, err := s.Faults.Inject(t.Context(), f.Fault); err == nil || !strings.Contains(err.Error(), f.ID) {
		t.Errorf("the same fault twice: %v", err)
	}
	stop()
	time.Sleep(time.Hour)
	if got := state(); got != "stopping" || !s.Hosts.AgentOnline(a) {
		t.Errorf("a stuck instance is %s, its agent works: %t", got, s.Hosts.AgentOnline(a))
	}
	if err := s.Faults.Remove(f.ID); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Minute)
	if got := state(); got != "stopped" {
		t.Errorf("the released instance is %s", got)
	}
	must[*ec2.StartInstancesOutput](t)(instances.StartInstances(t.Context(), &ec2.StartInstancesInput{InstanceIds: []string{a}}))
	time.Sleep(time.Minute)

	offset := on(fault.ClockOffset, fault.Effect{Delay: fault.Duration(-time.Hour)})
	if err := s.Faults.Remove(offset.ID); err != nil {
		t.Error(err)
	}
	frozen := on(fault.Freeze, fault.Effect{})
	if s.Hosts.AgentOnline(a) {
		t.Error("the agent of a frozen machine answers")
	}
	if err := s.Faults.Remove(frozen.ID); err != nil || !s.Hosts.AgentOnline(a) {
		t.Errorf("the machine does not thaw: %v", err)
	}
	if _, err := s.Faults.Inject(t.Context(), fault.Fault{Kind: fault.KillProcess, Selector: fault.Selector{Instance: a}, Effect: fault.Effect{Process: "db2sysc"}}); err == nil {
		t.Error("a process that is not there is killed")
	}
	on(fault.PowerLoss, fault.Effect{})
	if got := state(); got != "running" || s.Hosts.AgentOnline(a) {
		t.Errorf("without power the instance is %s, its agent works: %t", got, s.Hosts.AgentOnline(a))
	}
	if left := s.Faults.List(); len(left) != 0 {
		t.Errorf("in force: %+v", left)
	}
}
