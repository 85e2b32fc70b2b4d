package ec2

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// inProcess serves requests without a network.
type inProcess struct{ http.Handler }

func (p inProcess) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// The SDK's own client sees what the service means.
func TestThroughTheSDK(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		server := wire.NewServer(wire.Options{Account: c.req.Account})
		server.Register(c.Service())
		client := ec2.New(ec2.Options{
			Region: c.req.Region, BaseEndpoint: aws.String("http://127.0.0.1"), HTTPClient: inProcess{server}, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		})
		id := c.launch(0, nil)
		i := must(client.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: filters("instance-state-name=running", "subnet-id="+c.subnets[0])}))
		if len(i.Reservations) != 1 || *i.Reservations[0].Instances[0].InstanceId != id {
			t.Fatalf("%d reservations", len(i.Reservations))
		}
		eni := i.Reservations[0].Instances[0].NetworkInterfaces[0].NetworkInterfaceId
		must(client.ModifyNetworkInterfaceAttribute(t.Context(), &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: eni, SourceDestCheck: &types.AttributeBooleanValue{Value: aws.Bool(false)}}))
		n := must(client.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{*eni}})).NetworkInterfaces[0]
		if *n.SourceDestCheck || n.Status != "in-use" || len(n.PrivateIpAddresses) != 1 || len(n.Groups) != 1 {
			t.Errorf("interface: %+v", n)
		}
		must(client.CreateRoute(t.Context(), &ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: eni}))
		r := must(client.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{RouteTableIds: []string{c.table}})).RouteTables[0]
		if len(r.Routes) != 2 || *r.Routes[1].NetworkInterfaceId != *eni || r.Routes[1].State != "active" || len(r.Associations) != 1 {
			t.Errorf("route table: %+v", r)
		}
		s := must(client.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}, Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true)}))
		if s.StoppingInstances[0].CurrentState.Name != "stopping" {
			t.Errorf("state is %s", s.StoppingInstances[0].CurrentState.Name)
		}
		_, err := client.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}})
		if e := smithy.APIError(nil); !errors.As(err, &e) || e.ErrorCode() != "InvalidInstanceID.NotFound" {
			t.Errorf("error is %v", err)
		}
		_, err = client.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}, DryRun: aws.Bool(true)})
		if e := smithy.APIError(nil); !errors.As(err, &e) || e.ErrorCode() != "DryRunOperation" {
			t.Errorf("error is %v", err)
		}
	})
}
