package provider

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	simulator "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const testRegion = "eu-central-1"

// testAWS is an AWS for one test, and what a customer has before hadr comes.
type testAWS struct {
	*clients
	sb        *sandbox.Sandbox
	url       string
	vpc       string
	landscape landscape.Landscape // of a pair
	tables    []string
	nodes     map[string]testNode
}

type testNode struct{ instance, eni, zone string }

// endpointVar names the address of an AWS to test against instead of the
// sandbox, such as that of moto's server. What needs hosts or another time than
// the machine's is skipped there.
const endpointVar = "HADR_TEST_ENDPOINT"

// startAWS starts an empty AWS without machines behind the instances, and
// makes Terraform and the provider use it.
func startAWS(t *testing.T) *testAWS {
	t.Helper()
	if url := os.Getenv(endpointVar); url != "" {
		return useAWS(t, clock.System(), url)
	}
	return startAWSAt(t, clock.System())
}

// startAWSAt starts one whose time, and that of the provider, is c's.
func startAWSAt(t *testing.T, c clock.Clock) *testAWS {
	t.Helper()
	if os.Getenv(endpointVar) != "" {
		t.Skip("only the sandbox has hosts and another time: unset " + endpointVar)
	}
	sb, err := sandbox.Start(t.Context(), sandbox.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Clock: c})
	must(t, err)
	t.Cleanup(func() { sb.Close() })
	a := useAWS(t, c, sb.Endpoint)
	a.sb = sb
	return a
}

// useAWS makes Terraform, the provider and the test's clients use an AWS.
func useAWS(t *testing.T, c clock.Clock, url string) *testAWS {
	t.Helper()
	cli := filepath.Join(t.TempDir(), "terraformrc")
	if err := os.WriteFile(cli, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"TF_CLI_CONFIG_FILE": cli, "CHECKPOINT_DISABLE": "1",
		"GOMAXPROCS":       "1", // of terraform, which is started some thousand times
		"AWS_ENDPOINT_URL": url, "AWS_REGION": testRegion, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": cli, "AWS_SHARED_CREDENTIALS_FILE": cli, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(testRegion),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")),
		config.WithAPIOptions([]func(*middleware.Stack) error{awsclient.PlainBody}))
	if err != nil {
		t.Fatal(err)
	}
	if scaled, ok := c.(*clock.Scaled); ok {
		t.Setenv(clock.EnvVar, scaled.String())
	}
	return &testAWS{clients: newClients(cfg, settings{}, c, testCode), url: url}
}

// A pair is faster than real time, but not so fast that a busy machine makes
// its documents time out.
const pairSpeed = 10

// startPair starts an AWS with a Db2 pair in peer state, node a primary.
func startPair(t *testing.T) *testAWS {
	t.Helper()
	c := clock.NewScaled(time.Now(), pairSpeed)
	a := startAWSAt(t, c)
	var err error
	a.landscape, err = landscape.Builder{EC2: a.ec2, IAM: a.iam, Clock: c, Region: testRegion}.Build(t.Context())
	must(t, err)
	a.vpc, a.tables, a.nodes = a.landscape.VPC, a.landscape.RouteTables, map[string]testNode{}
	machines := map[string]world.Machine{}
	for id, h := range a.landscape.Databases {
		a.nodes[id] = testNode{h.InstanceID, h.NetworkInterfaceID, h.AvailabilityZone}
		for _, i := range a.sb.EC2.Instances() {
			if i.InstanceID == h.InstanceID {
				machines[id] = i.Machine
			}
		}
	}
	must(t, a.sb.Hosts.SetupDb2(t.Context(), simulator.Pair{PeerWindow: 420 * time.Second, Timeout: 120 * time.Second}, machines["a"], machines["b"]))
	a.waitFor(t, "b", "HADR_STATE = PEER")
	return a
}

// onHost runs a command as the owner of the Db2 instance.
func (a *testAWS) onHost(t *testing.T, node, command string) string {
	t.Helper()
	r, err := a.sb.Hosts.Run(t.Context(), world.Command{ID: "test", InstanceID: a.nodes[node].instance,
		Script: "runuser -l db2inst1 -c '" + command + "'", Timeout: time.Minute})
	must(t, err)
	return r.Stdout + r.Stderr
}

// waitFor waits until db2pd on a node says something.
func (a *testAWS) waitFor(t *testing.T, node, text string) {
	t.Helper()
	said := ""
	for range 300 {
		if said = a.onHost(t, node, "db2pd -db SAMPLE -hadr"); strings.Contains(said, text) {
			return
		}
		must(t, a.clock.Sleep(t.Context(), time.Second))
	}
	t.Fatalf("node %s does not come to %s:\n%s", node, text, said)
}

// switchOver makes a node primary, as an operator does.
func (a *testAWS) switchOver(t *testing.T, node string) {
	t.Helper()
	if said := a.onHost(t, node, "db2 takeover hadr on db SAMPLE"); !strings.Contains(said, "DB20000I") {
		t.Fatalf("switching over to node %s: %s", node, said)
	}
	a.waitFor(t, node, "HADR_ROLE = PRIMARY")
}

// mark writes a mark of a group on a node's disk (R12).
func (a *testAWS) mark(t *testing.T, node, name, content string) {
	t.Helper()
	dir := filepath.Join(a.sb.Hosts.Root(a.nodes[node].instance), "var/lib/hadr/orders")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

// build makes a VPC with two zones, a machine in each and two route tables.
func (a *testAWS) build(t *testing.T) *testAWS {
	t.Helper()
	ctx := t.Context()
	vpc, err := a.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	must(t, err)
	a.vpc = aws.ToString(vpc.Vpc.VpcId)
	a.nodes = map[string]testNode{}
	for i, id := range []string{"a", "b"} {
		zone := testRegion + id
		subnet, err := a.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: &a.vpc, AvailabilityZone: &zone,
			CidrBlock: aws.String([]string{"10.0.1.0/24", "10.0.2.0/24"}[i])})
		must(t, err)
		run, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{ImageId: aws.String("ami-0123456789abcdef0"),
			InstanceType: ec2types.InstanceTypeT3Micro, MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: subnet.Subnet.SubnetId})
		must(t, err)
		instance := run.Instances[0]
		a.nodes[id] = testNode{aws.ToString(instance.InstanceId), aws.ToString(instance.NetworkInterfaces[0].NetworkInterfaceId), zone}
		table, err := a.ec2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: &a.vpc})
		must(t, err)
		a.tables = append(a.tables, aws.ToString(table.RouteTable.RouteTableId))
	}
	return a
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testCode are functions that are uploaded and never run here.
var testCode = fstest.MapFS{
	"zips/bootstrap_arm64.zip": {Data: testZip("arm64")},
	"zips/bootstrap_amd64.zip": {Data: testZip("amd64")},
}

func testZip(content string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.CreateHeader(&zip.FileHeader{Name: "bootstrap", ExternalAttrs: 0o755 << 16, CreatorVersion: 3 << 8})
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

func factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"hadr": providerserver.NewProtocol6WithError(&hadrProvider{version: "test", code: testCode}),
	}
}
