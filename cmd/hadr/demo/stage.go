package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	simdb2 "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// What every stage has. The group's declaration in examples/complete/db2-hadr
// says the same.
const (
	Region     = "eu-central-1"
	Database   = "SAMPLE"
	Owner      = "db2inst1"
	VIP        = "192.168.77.10"
	Port       = 50000
	PeerWindow = 420 * time.Second
	Timeout    = 120 * time.Second
)

// StageOptions configure a stage.
type StageOptions struct {
	Listen string  // address of the endpoint
	Speed  float64 // virtual seconds in a real one
	Dir    string  // for disks; made if it does not exist
	Agent  string  // path of the binary hadr-agent
	Host   string  // path of the binary hadr-host
	// Throttled has the sandbox refuse calls that come too often.
	Throttled bool
	Log       *slog.Logger
}

// Stage is a sandbox with the landscape of a Db2 customer: a VPC over two
// zones, a HADR pair in peer state, application hosts and route tables.
type Stage struct {
	*sandbox.Sandbox
	Landscape landscape.Landscape
	Clock     clock.Clock
	Dir       string

	isolation string // security group without rules, "" where none was made

	virtual bool // hosts and functions are goroutines of this process
	inbox   inbox
	// disturber stands between programs and AWS; nil for nothing.
	disturber Disturber
	killing   *killing // of a function; nil for none
	tuned     []Tuning
	// amend changes the policy of a role before it is put; nil leaves it.
	amend func(role, policy string) (string, error)
}

// CheckSpeed refuses a speed at which time would stand still or run backwards.
func CheckSpeed(speed float64) error {
	if !(speed > 0) || speed > maxSpeed {
		return fmt.Errorf("--speed %g: want a number above 0 and not above %d", speed, maxSpeed)
	}
	return nil
}

// maxSpeed lets the sandbox's shortest tickers still be a millisecond long.
const maxSpeed = 1000

// NewStage builds a stage. Close ends it.
func NewStage(ctx context.Context, o StageOptions) (*Stage, error) {
	for _, binary := range []string{o.Agent, o.Host} {
		if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no %s: run make build", binary)
		}
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	c := clock.NewScaled(time.Now(), o.Speed)
	sb, err := sandbox.Start(ctx, sandbox.Options{
		Clock: c, Dir: filepath.Join(o.Dir, "hosts"), Listen: o.Listen, Binary: o.Host, Agent: o.Agent, Throttled: o.Throttled, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s := &Stage{Sandbox: sb, Clock: c, Dir: o.Dir}
	if err := s.build(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stage) build(ctx context.Context) error {
	cfg := s.Config(Region)
	var err error
	s.Landscape, err = landscape.Builder{EC2: ec2.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), Clock: s.Clock, Region: Region}.Build(ctx)
	if err != nil {
		return fmt.Errorf("building the landscape: %w", err)
	}
	pair := simdb2.Pair{Owner: Owner, Database: Database, SyncMode: simdb2.NearSync, PeerWindow: PeerWindow, Timeout: Timeout, Port: Port}
	for _, t := range s.tuned {
		if t.Pair != nil {
			t.Pair(&pair)
		}
	}
	if err := s.Hosts.SetupDb2(ctx, pair, s.machine("a"), s.machine("b")); err != nil {
		return err
	}
	return s.waitForPeer(ctx)
}

func (s *Stage) machine(node string) world.Machine {
	id := s.Instance(node)
	for _, i := range s.EC2.Instances() {
		if i.InstanceID == id {
			return i.Machine
		}
	}
	return world.Machine{InstanceID: id}
}

// Instance returns the instance id of a node.
func (s *Stage) Instance(node string) string { return s.Landscape.Databases[node].InstanceID }

// waitForPeer returns once the standby reads PEER.
func (s *Stage) waitForPeer(ctx context.Context) error {
	ctx, cancel := clock.WithTimeout(ctx, s.Clock, 5*time.Minute)
	defer cancel()
	last := ""
	for {
		r, err := s.Shell(ctx, "b", fmt.Sprintf("runuser -l %s -c 'db2pd -db %s -hadr'", Owner, Database))
		if err == nil && peerState.MatchString(r.Stdout) {
			return nil
		}
		if err == nil {
			last = r.Stdout + r.Stderr
		}
		if err := s.Clock.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("the Db2 pair did not reach peer state: %w; last output:\n%s", err, last)
		}
	}
}

// peerState finds the state in the output of db2pd.
var peerState = regexp.MustCompile(`(?m)^\s*HADR_STATE = PEER$`)

// Shell runs a script on a node as root, past AWS: for the stage only, never
// for what is shown.
func (s *Stage) Shell(ctx context.Context, node, script string) (world.CommandResult, error) {
	return s.Hosts.Run(ctx, world.Command{ID: "stage", InstanceID: s.Instance(node), Script: script, Timeout: time.Minute})
}

// Env is the environment for any AWS client, such as Terraform or the AWS CLI.
func (s *Stage) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + s.Endpoint, "AWS_REGION=" + Region, "AWS_DEFAULT_REGION=" + Region,
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// TerraformEnv is Env with what Terraform and hadr need besides: the functions
// run on this machine, and the provider, like all in the sandbox, takes its time
// from the stage's clock.
func (s *Stage) TerraformEnv() []string {
	env := append(s.Env(), "TF_VAR_architecture="+runtime.GOARCH)
	if v := clock.Env(s.Clock); v != "" {
		env = append(env, clock.EnvVar+"="+v)
	}
	return env
}

// dial connects to the virtual address as a client behind a route table.
func (s *Stage) dial(ctx context.Context, table string) (net.Conn, error) {
	return s.Hosts.Fabric().Dial(ctx, fabric.Origin{Machine: fabric.Outside, RouteTable: table}, VIP, Port)
}

// Paths opens the virtual address on loopback as it is seen through each route
// table.
func (s *Stage) Paths() (map[string]string, error) {
	paths := map[string]string{}
	for _, table := range s.Landscape.RouteTables {
		a, err := s.Hosts.Fabric().ListenVIP(table, VIP, Port)
		if err != nil {
			return nil, fmt.Errorf("opening %s through %s: %w", VIP, table, err)
		}
		paths[table] = a.String()
	}
	return paths, nil
}
