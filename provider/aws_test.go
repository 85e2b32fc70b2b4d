package provider

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
)

const testRegion = "eu-central-1"

// testAWS is an AWS for one test, and what a customer has before hadr comes.
type testAWS struct {
	*clients
	url    string
	vpc    string
	tables []string
	nodes  map[string]testNode
}

type testNode struct{ instance, eni, zone string }

// startAWS starts an empty AWS without machines behind the instances, and
// makes Terraform and the provider use it.
func startAWS(t *testing.T) *testAWS {
	t.Helper()
	sb, err := sandbox.Start(t.Context(), sandbox.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	must(t, err)
	t.Cleanup(func() { sb.Close() })

	cli := filepath.Join(t.TempDir(), "terraformrc")
	if err := os.WriteFile(cli, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"TF_CLI_CONFIG_FILE": cli, "CHECKPOINT_DISABLE": "1",
		"AWS_ENDPOINT_URL": sb.Endpoint, "AWS_REGION": testRegion, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": cli, "AWS_SHARED_CREDENTIALS_FILE": cli, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(testRegion),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")))
	if err != nil {
		t.Fatal(err)
	}
	return &testAWS{clients: newClients(cfg, settings{}, clock.System(), testCode), url: sb.Endpoint}
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
