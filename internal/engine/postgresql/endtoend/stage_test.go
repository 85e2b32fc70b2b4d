package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

const (
	region = "eu-central-1"
	group  = "orders"
	vip    = "192.168.77.10"
	owner  = "postgres"
	source = "../../../.." // of the project
)

// patience is how long a test waits for what must happen: on a busy machine
// everything takes long, and no test fails for that.
const patience = 3 * time.Minute

// stage is a sandbox with a declared pair, in real time.
type stage struct {
	*sandbox.Sandbox
	tb       testing.TB
	template *pgtest.Template
	land     landscape.Landscape
	hosts    map[string]*pgtest.Host
	port     int
	path     string // address at which clients find the endpoint
	table    *statetable.Table
	bin      string
}

// options are what differs between stages.
type options struct {
	postgresql map[string]any // besides the paths
	lease      map[string]any
	agent      string            // further lines of the agents' environment
	strict     bool              // all bounds are the defaults
	fencing    *failover.Fencing // the module's default if nil
}

// servers returns the template of the pair, or skips the test where nobody asked
// for real servers, or there is no terraform.
func servers(tb testing.TB) *pgtest.Template {
	tb.Helper()
	for _, name := range []string{pgtest.Variable, binVariable} {
		if os.Getenv(name) == "" {
			tb.Skipf("%s is not set: make test-postgresql runs the tests with real servers", name)
		}
	}
	if _, err := exec.LookPath("terraform"); err != nil {
		tb.Skip("terraform is not on PATH (https://developer.hashicorp.com/terraform/install)")
	}
	template, err := pgtest.Shared()
	must(tb, err)
	return template
}

func newStage(tb testing.TB, o options) *stage {
	tb.Helper()
	template := servers(tb)
	bin := os.Getenv(binVariable)
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // paths of sockets are short
	must(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	sb, err := sandbox.Start(tb.Context(), sandbox.Options{
		Clock: clock.System(), Dir: filepath.Join(dir, "h"), Listen: "127.0.0.1:0",
		Binary: filepath.Join(bin, "hadr-host"), Agent: filepath.Join(bin, "hadr-agent"),
	})
	must(tb, err)
	tb.Cleanup(sb.Close)
	cfg := sb.Config(region)
	s := &stage{Sandbox: sb, tb: tb, template: template, bin: bin, table: statetable.New(dynamodb.NewFromConfig(cfg), "hadr-"+group, clock.System())}
	s.land, err = landscape.Builder{EC2: ec2.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), Clock: clock.System(), Region: region}.Build(tb.Context())
	must(tb, err)
	addresses := s.install()
	s.declare(dir, o, addresses)
	s.allowBusyHosts(o)
	s.startAgents(o.agent)
	a, err := sb.Hosts.Fabric().ListenVIP(s.land.RouteTables[0], vip, s.port)
	must(tb, err)
	s.path = a.String()
	s.await("both agents", func(st failover.State) bool { return st.Primary == "a" && s.agentsAreWell("a") })
	return s
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (s *stage) instance(node string) string { return s.land.Databases[node].InstanceID }

// run runs a script on a node as root, past AWS.
func (s *stage) run(node, script string) string {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), patience)
	defer cancel()
	r, err := s.Hosts.Run(ctx, world.Command{ID: "stage", InstanceID: s.instance(node), Script: script, Timeout: patience})
	if err != nil || r.Code != 0 {
		s.tb.Fatalf("script on node %s: code %d: %v\n%s%s", node, r.Code, err, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// install puts servers on both hosts, and returns where each is reached from the
// other one through the network of the sandbox.
func (s *stage) install() map[string]string {
	tb := s.tb
	port, ips := pgtest.FreePort(tb)
	s.port, _ = strconv.Atoi(port)
	s.hosts = map[string]*pgtest.Host{}
	addresses := map[string]string{}
	for i, node := range []string{"a", "b"} {
		root := s.Hosts.Root(s.instance(node))
		must(tb, os.MkdirAll(filepath.Join(root, "home", owner), 0o755))
		s.hosts[node] = s.template.Install(tb, node, root, ips[i], port)
		must(tb, s.Hosts.Publish(s.instance(node), s.port, net.JoinHostPort(ips[i], port)))
		other := map[string]string{"a": "b", "b": "a"}[node]
		var err error
		addresses[other], err = s.Hosts.Reach(s.instance(node), s.land.Databases[other].PrivateIP, s.port)
		must(tb, err)
	}
	return addresses
}

// start starts the servers, node a as primary.
func (s *stage) start(synchronous bool, addresses map[string]string) {
	host, port, err := net.SplitHostPort(addresses["a"])
	must(s.tb, err)
	s.hosts["b"].Configure(s.tb, "postgresql.auto.conf", "primary_conninfo = 'host="+host+" port="+port+" user="+pgtest.ReplicationUser+" application_name=b sslmode=disable'")
	s.hosts["b"].Configure(s.tb, "standby.signal", "")
	if synchronous {
		s.hosts["a"].Configure(s.tb, "postgresql.auto.conf", `synchronous_standby_names = '"b"'`)
	}
	for _, node := range []string{"a", "b"} {
		h := s.hosts[node]
		s.run(node, fmt.Sprintf("%s/pg_ctl start -w -t 60 -D %s -l %s.log -o '-p %s' >/dev/null 2>&1", s.template.Bin(), h.Data, h.Data, h.Port))
	}
	s.hosts["b"].Streams(s.tb)
}

// declare applies examples/complete/postgresql-pair.
func (s *stage) declare(dir string, o options, addresses map[string]string) {
	tb := s.tb
	declared := map[string]any{
		"replication_mode": "sync", "data_directory": pgtest.DataDirectory, "socket_directory": pgtest.SocketDirectory,
		"bin_directory": s.template.Bin(), "owner": owner, "replication_user": pgtest.ReplicationUser, "sslmode": "disable",
	}
	maps.Copy(declared, o.postgresql)
	s.start(declared["replication_mode"] == "sync", addresses)
	tf, err := demo.NewTerraform(source, filepath.Join(dir, "t"), filepath.Join(s.bin, "terraform-provider-hadr"), "examples/complete/postgresql-pair", s.env(), nil)
	must(tb, err)
	must(tb, s.land.WriteTFVars(filepath.Join(tf.Dir, "landscape.auto.tfvars")))
	more, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "postgresql": declared, "addresses": addresses, "port": s.port, "lease": o.lease, "fencing": o.fencing, "latency_threshold_milliseconds": 3000,
	})
	must(tb, err)
	must(tb, os.WriteFile(filepath.Join(tf.Dir, "servers.auto.tfvars.json"), more, 0o600))
	for _, command := range [][]string{{"init", "-no-color"}, {"apply", "-auto-approve", "-no-color"}} {
		if _, err := tf.Run(tb.Context(), command...); err != nil {
			tb.Fatal(err)
		}
	}
}

// allowBusyHosts lets nodes take longer to tell their own view than the three
// seconds that are the default, where a test must not fail for that.
func (s *stage) allowBusyHosts(o options) {
	if o.strict {
		return
	}
	c, err := s.table.ReadConfig(s.tb.Context(), group)
	must(s.tb, err)
	c.GatherTimeout = 15 * time.Second
	must(s.tb, s.table.PutConfig(s.tb.Context(), group, c))
}

func (s *stage) env() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + s.Endpoint, "AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region,
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// startAgents does what an administrator does after terraform apply.
func (s *stage) startAgents(more string) {
	for _, node := range []string{"b", "a"} {
		s.run(node, fmt.Sprintf("mkdir -p \"$HADR_ROOT/etc/hadr\"\nprintf 'HADR_TABLE=hadr-%s\\nHADR_GROUP=%s\\nHADR_NODE=%s\\n%s' >\"$HADR_ROOT/etc/hadr/agent.env\"\nsystemctl restart hadr-agent\n", group, group, node, more))
	}
}

// hadr runs the operator's command line. That another runner, such as the watch
// function, goes on with an operation is no failure of it.
func (s *stage) hadr(args ...string) string {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "hadr"), args...)
	cmd.Env = append(os.Environ(), append(s.env(), "HADR_TABLE=hadr-"+group)...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "another runner goes on with it") {
		s.tb.Fatalf("hadr %s: %v\n%s\n%s", strings.Join(args, " "), err, out, s.story())
	}
	return string(out)
}

// agentsAreWell reports whether the agents' records show a primary that commits
// and a fit standby that goes on receiving log of it.
func (s *stage) agentsAreWell(primary string) bool {
	now := time.Now()
	for _, node := range []string{"a", "b"} {
		o, err := s.table.Node(s.tb.Context(), group, node)
		switch {
		case err != nil || o.Source != "agent" || now.Sub(o.ReadAt) > 30*time.Second || o.Trouble != "":
			return false
		case node == primary && (!o.ServesAsPrimary() || !o.LastGoodProbe.After(o.LastBadProbe)):
			return false
		case node != primary && (o.Role != failover.RoleStandby || o.Fitness != failover.Fit || o.PartnerLost || o.LogFlows.IsZero()):
			return false
		}
	}
	l, err := s.table.ReadLease(s.tb.Context(), group)
	return err == nil && l.Holder == primary && l.Counter > 0 && !l.Sealed && l.Suspended == ""
}

// await waits until the record is as wanted.
func (s *stage) await(what string, holds func(failover.State) bool) failover.State {
	s.tb.Helper()
	end := time.Now().Add(patience)
	for {
		st, err := s.table.Load(s.tb.Context(), group)
		if err == nil && holds(st) {
			return st
		}
		if time.Now().After(end) {
			s.tb.Fatalf("not within %s: %s\n%s", patience, what, s.story())
		}
		pause(s.tb.Context(), 50*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// story is the history and what the nodes say, for who looks for a fault.
func (s *stage) story() string {
	var b strings.Builder
	ctx := context.WithoutCancel(s.tb.Context())
	st, err := s.table.Load(ctx, group)
	fmt.Fprintf(&b, "state: primary %s, epoch %d, phase %s, operation %+v, refused %+v, %v\n", st.Primary, st.Epoch, st.Phase, st.Operation, st.Refused, err)
	for _, node := range slices.Sorted(maps.Keys(s.hosts)) {
		o, err := s.table.Node(ctx, group, node)
		fmt.Fprintf(&b, "node %s: %+v, %v\n", node, o, err)
		log, _ := os.ReadFile(filepath.Join(s.Hosts.Root(s.instance(node)), "var/log/hadr-agent.log"))
		fmt.Fprintf(&b, "its agent: %s\n", log[max(0, len(log)-3000):])
	}
	entries, err := s.table.History(ctx, group, 0)
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s %s %s: %s -> %s\n", e.At.Format(time.TimeOnly), e.Event, e.Kind, e.Step, e.Reason, e.Next)
	}
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}
