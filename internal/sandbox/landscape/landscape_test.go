package landscape

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	sandbox "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/ec2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// access is an IAM that remembers roles and profiles.
type access struct{ calls []string }

func (a *access) CreateRole(_ context.Context, in *iam.CreateRoleInput, _ ...func(*iam.Options)) (*iam.CreateRoleOutput, error) {
	a.calls = append(a.calls, "role "+*in.RoleName)
	return &iam.CreateRoleOutput{}, nil
}

func (a *access) AttachRolePolicy(_ context.Context, in *iam.AttachRolePolicyInput, _ ...func(*iam.Options)) (*iam.AttachRolePolicyOutput, error) {
	a.calls = append(a.calls, "policy "+*in.PolicyArn)
	return &iam.AttachRolePolicyOutput{}, nil
}

func (a *access) CreateInstanceProfile(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
	a.calls = append(a.calls, "profile "+*in.InstanceProfileName)
	return &iam.CreateInstanceProfileOutput{}, nil
}

func (a *access) AddRoleToInstanceProfile(_ context.Context, in *iam.AddRoleToInstanceProfileInput, _ ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
	a.calls = append(a.calls, *in.RoleName+" in "+*in.InstanceProfileName)
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

// identity is how EC2 sees the same role.
type identity struct{}

func (identity) ServiceSession(string, string, string) (world.Credentials, error) {
	return world.Credentials{}, nil
}
func (identity) InstanceProfileRole(string) (string, error) {
	return "arn:aws:iam::1:role/" + Role, nil
}
func (identity) CheckPassRole(string, string, string) error { return nil }

// machines run, unless err is set.
type machines struct{ err error }

func (m machines) Boot(world.Machine) error             { return m.err }
func (machines) Off(string)                             {}
func (machines) Shutdown(context.Context, string) error { return nil }
func (machines) Destroy(string)                         {}
func (machines) Healthy(string) (bool, bool)            { return true, true }
func (machines) AgentOnline(string) bool                { return true }
func (machines) Run(context.Context, world.Command) (world.CommandResult, error) {
	return world.CommandResult{}, nil
}

type inProcess struct{ http.Handler }

func (p inProcess) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// cloud returns an EC2 and a client of it.
func cloud(m machines) (*sandbox.EC2, *ec2.Client) {
	w := world.New(clock.System())
	w.Hosts, w.Identity = m, identity{}
	e := sandbox.New(w)
	server := wire.NewServer(wire.Options{Account: w.Account})
	server.Register(e.Service())
	return e, ec2.New(ec2.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String("http://127.0.0.1"), HTTPClient: inProcess{server}, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
}

func TestBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, client := cloud(machines{})
		defer e.Close()
		roles := &access{}
		l, err := Builder{EC2: client, IAM: roles, Clock: clock.System(), Region: "eu-west-1"}.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"role hadr-db-host", "policy arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore", "profile hadr-db-host", "hadr-db-host in hadr-db-host"}, roles.calls); diff != "" {
			t.Errorf("IAM (-want +got):\n%s", diff)
		}
		type seen struct {
			State, IP, Zone, Software, Table string
			Check                            bool
		}
		want := map[string]seen{
			"db2-a": {"running", "10.20.1.10", "eu-west-1a", "db2", l.RouteTables[0], false},
			"db2-b": {"running", "10.20.2.10", "eu-west-1b", "db2", l.RouteTables[1], false},
			"app-a": {"running", "10.20.1.20", "eu-west-1a", "app", l.RouteTables[0], true},
			"app-b": {"running", "10.20.2.20", "eu-west-1b", "app", l.RouteTables[1], true},
		}
		o, err := client.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]seen{}
		for _, r := range o.Reservations {
			for _, i := range r.Instances {
				tags := map[string]string{}
				for _, tag := range i.Tags {
					tags[*tag.Key] = *tag.Value
				}
				tables, err := client.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{Filters: []types.Filter{{Name: aws.String("association.subnet-id"), Values: []string{*i.SubnetId}}}})
				if err != nil || len(tables.RouteTables) != 1 {
					t.Fatalf("route table of subnet %s: %v", *i.SubnetId, err)
				}
				got[tags["Name"]] = seen{string(i.State.Name), *i.PrivateIpAddress, *i.Placement.AvailabilityZone, tags[SoftwareTag], *tables.RouteTables[0].RouteTableId, *i.SourceDestCheck}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("hosts (-want +got):\n%s", diff)
		}
		for node, h := range l.Databases {
			if id, ok := e.Owner(h.PrivateIP); !ok || id != h.InstanceID {
				t.Errorf("node %s: %s belongs to %s", node, h.PrivateIP, id)
			}
		}
	})
}

func TestBuildFailsIfAHostDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, client := cloud(machines{err: errors.New("no room")})
		defer e.Close()
		_, err := Builder{EC2: client, IAM: &access{}, Clock: clock.System(), Region: "eu-west-1"}.Build(t.Context())
		if err == nil || !strings.Contains(err.Error(), "is stopped instead of running") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestTFVars(t *testing.T) {
	l := Landscape{
		Region: "eu-west-1", VPC: "vpc-1", RouteTables: []string{"rtb-a", "rtb-b"},
		Databases: map[string]Host{
			"a": {Name: "db2-a", InstanceID: "i-a", NetworkInterfaceID: "eni-a", AvailabilityZone: "eu-west-1a", PrivateIP: "10.20.1.10"},
			"b": {Name: "db2-b", InstanceID: "i-b", NetworkInterfaceID: "eni-b", AvailabilityZone: "eu-west-1b", PrivateIP: "10.20.2.10"},
		},
		Applications: map[string]Host{"a": {InstanceID: "i-app-a"}, "b": {InstanceID: "i-app-b"}},
	}
	want := `region                     = "eu-west-1"
vpc_id                     = "vpc-1"
vpc_cidr                   = "10.20.0.0/16"
instance_profile_role_name = "hadr-db-host"
route_table_ids = [
  "rtb-a",
  "rtb-b",
]
nodes = {
  a = {
    instance_id          = "i-a"
    network_interface_id = "eni-a"
    availability_zone    = "eu-west-1a"
    private_ip           = "10.20.1.10"
  }
  b = {
    instance_id          = "i-b"
    network_interface_id = "eni-b"
    availability_zone    = "eu-west-1b"
    private_ip           = "10.20.2.10"
  }
}
path_checkers = {
  "rtb-a" = "i-app-a"
  "rtb-b" = "i-app-b"
}
`
	path := filepath.Join(t.TempDir(), "landscape.auto.tfvars")
	if err := l.WriteTFVars(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if err := l.WriteTFVars(filepath.Join(t.TempDir(), "landscape.json")); err == nil {
		t.Error("a name that Terraform does not read was accepted")
	}
}
