package ec2

import "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"

// Service returns the operations, ready to be served over HTTP.
func (e *EC2) Service() *wire.Service {
	s := &wire.Service{
		Name:      "ec2",
		Version:   "2016-11-15",
		Namespace: "http://ec2.amazonaws.com/doc/2016-11-15/",
		Default:   wire.EC2Query,
	}
	handle(s, "AssignPrivateIpAddresses", e.AssignPrivateIpAddresses)
	handle(s, "AssociateRouteTable", e.AssociateRouteTable)
	handle(s, "AttachNetworkInterface", e.AttachNetworkInterface)
	handle(s, "AuthorizeSecurityGroupEgress", e.AuthorizeSecurityGroupEgress)
	handle(s, "AuthorizeSecurityGroupIngress", e.AuthorizeSecurityGroupIngress)
	handle(s, "CreateNetworkInterface", e.CreateNetworkInterface)
	handle(s, "CreateRoute", e.CreateRoute)
	handle(s, "CreateRouteTable", e.CreateRouteTable)
	handle(s, "CreateSecurityGroup", e.CreateSecurityGroup)
	handle(s, "CreateSubnet", e.CreateSubnet)
	handle(s, "CreateTags", e.CreateTags)
	handle(s, "CreateVpc", e.CreateVpc)
	handle(s, "DeleteNetworkInterface", e.DeleteNetworkInterface)
	handle(s, "DeleteRoute", e.DeleteRoute)
	handle(s, "DeleteRouteTable", e.DeleteRouteTable)
	handle(s, "DeleteSecurityGroup", e.DeleteSecurityGroup)
	handle(s, "DeleteSubnet", e.DeleteSubnet)
	handle(s, "DeleteTags", e.DeleteTags)
	handle(s, "DeleteVpc", e.DeleteVpc)
	handle(s, "DescribeAvailabilityZones", e.DescribeAvailabilityZones)
	handle(s, "DescribeInstanceAttribute", e.DescribeInstanceAttribute)
	handle(s, "DescribeInstanceStatus", e.DescribeInstanceStatus)
	handle(s, "DescribeInstances", e.DescribeInstances)
	handle(s, "DescribeNetworkInterfaces", e.DescribeNetworkInterfaces)
	handle(s, "DescribeRegions", e.DescribeRegions)
	handle(s, "DescribeRouteTables", e.DescribeRouteTables)
	handle(s, "DescribeSecurityGroupRules", e.DescribeSecurityGroupRules)
	handle(s, "DescribeSecurityGroups", e.DescribeSecurityGroups)
	handle(s, "DescribeSubnets", e.DescribeSubnets)
	handle(s, "DescribeTags", e.DescribeTags)
	handle(s, "DescribeVpcs", e.DescribeVpcs)
	handle(s, "DetachNetworkInterface", e.DetachNetworkInterface)
	handle(s, "DisassociateRouteTable", e.DisassociateRouteTable)
	handle(s, "ModifyInstanceAttribute", e.ModifyInstanceAttribute)
	handle(s, "ModifyInstanceMaintenanceOptions", e.ModifyInstanceMaintenanceOptions)
	handle(s, "ModifyNetworkInterfaceAttribute", e.ModifyNetworkInterfaceAttribute)
	handle(s, "RebootInstances", e.RebootInstances)
	handle(s, "ReplaceRoute", e.ReplaceRoute)
	handle(s, "ReplaceRouteTableAssociation", e.ReplaceRouteTableAssociation)
	handle(s, "RevokeSecurityGroupEgress", e.RevokeSecurityGroupEgress)
	handle(s, "RevokeSecurityGroupIngress", e.RevokeSecurityGroupIngress)
	handle(s, "RunInstances", e.RunInstances)
	handle(s, "StartInstances", e.StartInstances)
	handle(s, "StopInstances", e.StopInstances)
	handle(s, "TerminateInstances", e.TerminateInstances)
	handle(s, "UnassignPrivateIpAddresses", e.UnassignPrivateIpAddresses)
	return s
}
