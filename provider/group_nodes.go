package provider

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// owner is the control plane's group that a machine belongs to (R12).
type owner struct{ tableARN, group string }

func (c *clients) instance(ctx context.Context, id string) (*ec2types.Instance, error) {
	out, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		return nil, err
	}
	for _, r := range out.Reservations {
		for i := range r.Instances {
			return &r.Instances[i], nil
		}
	}
	return nil, nil
}

func (c *clients) networkInterface(ctx context.Context, id string) (*ec2types.NetworkInterface, error) {
	out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	if err != nil {
		return nil, err
	}
	if len(out.NetworkInterfaces) == 0 {
		return nil, nil
	}
	return &out.NetworkInterfaces[0], nil
}

// checkNode says what is wrong with a declared node: no such machine, another
// zone, an interface of another machine, or a machine of another group.
func (c *clients) checkNode(ctx context.Context, n failover.NodeConfig, mine owner) (diags diag.Diagnostics) {
	node := path.Root("nodes").AtMapKey(n.ID)
	i, err := c.instance(ctx, n.Instance)
	switch {
	case notFound(err) || (err == nil && i == nil):
		diags.Append(diagnose.WrongNode(node.AtName("instance_id"), n.ID,
			fmt.Sprintf("There is no instance %s in %s", n.Instance, c.region),
			"Give the id of the database host (`aws ec2 describe-instances` lists them), and check region and account of the provider"))
		return diags
	case err != nil:
		diags.Append(diagnose.FailedAt(node.AtName("instance_id"), "reading instance", n.Instance, err))
		return diags
	}
	if state := instanceState(i); state == ec2types.InstanceStateNameTerminated || state == ec2types.InstanceStateNameShuttingDown {
		diags.Append(diagnose.WrongNode(node.AtName("instance_id"), n.ID,
			fmt.Sprintf("Instance %s is %s and will never run again", n.Instance, state), "Give the id of a database host that exists"))
	}
	if zone := instanceZone(i); n.Zone != "" && zone != n.Zone {
		diags.Append(diagnose.WrongNode(node.AtName("availability_zone"), n.ID,
			fmt.Sprintf("Instance %s is in %s, not in %s", n.Instance, zone, n.Zone), "Correct the zone, or give the instance that is in it"))
	}
	eni, err := c.networkInterface(ctx, n.ENI)
	switch {
	case notFound(err) || (err == nil && eni == nil):
		diags.Append(diagnose.WrongNode(node.AtName("network_interface_id"), n.ID,
			fmt.Sprintf("There is no network interface %s in %s", n.ENI, c.region), "Give the id of a network interface of "+n.Instance))
		return diags
	case err != nil:
		diags.Append(diagnose.FailedAt(node.AtName("network_interface_id"), "reading network interface", n.ENI, err))
		return diags
	}
	if eni.Attachment == nil || aws.ToString(eni.Attachment.InstanceId) != n.Instance {
		diags.Append(diagnose.WrongNode(node.AtName("network_interface_id"), n.ID,
			fmt.Sprintf("Network interface %s is not attached to %s, so that the endpoint would lead to another machine", n.ENI, n.Instance),
			"Give the id of a network interface of "+n.Instance))
	}
	if o := ownerOf(i.Tags); o != (owner{}) && o != mine {
		diags.Append(diagnose.ForeignNode(node.AtName("instance_id"), n.Instance, o.tableARN, o.group))
	}
	if o := ownerOf(eni.TagSet); o != (owner{}) && o != mine {
		diags.Append(diagnose.ForeignNode(node.AtName("network_interface_id"), n.ENI, o.tableARN, o.group))
	}
	return diags
}

func instanceState(i *ec2types.Instance) ec2types.InstanceStateName {
	if i.State == nil {
		return ""
	}
	return i.State.Name
}

func instanceZone(i *ec2types.Instance) string {
	if i.Placement == nil {
		return ""
	}
	return aws.ToString(i.Placement.AvailabilityZone)
}

func ownerOf(tags []ec2types.Tag) (o owner) {
	for _, t := range tags {
		switch aws.ToString(t.Key) {
		case tagTable:
			o.tableARN = aws.ToString(t.Value)
		case tagGroup:
			o.group = aws.ToString(t.Value)
		}
	}
	return o
}

// unclaimed are the nodes whose machine or interface does not carry this
// group's tags any more. What can't be read is not among them.
func (c *clients) unclaimed(ctx context.Context, nodes []failover.NodeConfig, o owner) []string {
	var out []string
	for _, n := range nodes {
		i, errInstance := c.instance(ctx, n.Instance)
		eni, errENI := c.networkInterface(ctx, n.ENI)
		if errInstance == nil && i != nil && !terminated(i) && ownerOf(i.Tags) != o || errENI == nil && eni != nil && ownerOf(eni.TagSet) != o {
			out = append(out, n.ID)
		}
	}
	return out
}

// terminated reports whether a machine is gone: EC2 shows it for a while, and its
// tags no longer
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/terminating-instances.html).
func terminated(i *ec2types.Instance) bool {
	return i.State != nil && i.State.Name == ec2types.InstanceStateNameTerminated
}

// claimNodes tags the machines and interfaces of a group (R12).
func (c *clients) claimNodes(ctx context.Context, nodes []failover.NodeConfig, o owner) error {
	for _, n := range nodes {
		_, err := c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{
			Resources: []string{n.Instance, n.ENI},
			Tags: []ec2types.Tag{
				{Key: aws.String(tagTable), Value: &o.tableARN},
				{Key: aws.String(tagGroup), Value: &o.group},
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// releaseNodes removes the tags where they are still this group's: DeleteTags
// with a value removes the tag only if it has that value.
func (c *clients) releaseNodes(ctx context.Context, nodes []failover.NodeConfig, o owner) error {
	for _, n := range nodes {
		_, err := c.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{
			Resources: []string{n.Instance, n.ENI},
			Tags: []ec2types.Tag{
				{Key: aws.String(tagTable), Value: &o.tableARN},
				{Key: aws.String(tagGroup), Value: &o.group},
			},
		})
		if err != nil && !notFound(err) {
			return err
		}
	}
	return nil
}
