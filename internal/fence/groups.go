package fence

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Groups implements control.Instances: the security groups of the node's
// network interface, in order.
func (i *Instances) Groups(ctx context.Context, n failover.NodeConfig) ([]string, error) {
	eni, err := i.networkInterface(ctx, n)
	if err != nil {
		return nil, err
	}
	var groups []string
	for _, g := range eni.Groups {
		groups = append(groups, aws.ToString(g.GroupId))
	}
	slices.Sort(groups)
	return groups, nil
}

// SetGroups implements control.Instances. It reaches new connections only:
// those that are tracked go on
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/security-group-connection-tracking.html).
func (i *Instances) SetGroups(ctx context.Context, n failover.NodeConfig, groups []string) error {
	eni, err := i.networkInterface(ctx, n)
	if err != nil {
		return err
	}
	if err := Owned("network interface", n.ENI, eni.TagSet, i.tableARN, i.group); err != nil {
		return err
	}
	if _, err := i.api.ModifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: &n.ENI, Groups: groups}, once); err != nil {
		return fmt.Errorf("replace the security groups of network interface %s of node %q: %w", n.ENI, n.ID, err)
	}
	return nil
}

func (i *Instances) networkInterface(ctx context.Context, n failover.NodeConfig) (types.NetworkInterface, error) {
	out, err := i.api.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{n.ENI}}, once)
	if err != nil {
		return types.NetworkInterface{}, fmt.Errorf("read network interface %s of node %q: %w", n.ENI, n.ID, err)
	}
	if len(out.NetworkInterfaces) != 1 {
		return types.NetworkInterface{}, fmt.Errorf("read network interface %s of node %q: EC2 knows no such interface", n.ENI, n.ID)
	}
	return out.NetworkInterfaces[0], nil
}
