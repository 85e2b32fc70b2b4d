package iam

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
)

// Most of EC2's Describe operations have no resource type.
//
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
var ec2Rules = map[string]rule{
	"DescribeAccountAttributes":              on(),
	"DescribeAddresses":                      on(),
	"DescribeAddressesAttribute":             on(),
	"DescribeAvailabilityZones":              on(),
	"DescribeIamInstanceProfileAssociations": on(),
	"DescribeImages":                         on(),
	"DescribeInstanceCreditSpecifications":   on(),
	"DescribeInstanceStatus":                 on(),
	"DescribeInstanceTypes":                  on(),
	"DescribeInstances":                      on(),
	"DescribeInternetGateways":               on(),
	"DescribeKeyPairs":                       on(),
	"DescribeManagedPrefixLists":             on(),
	"DescribeNetworkAcls":                    on(),
	"DescribeNetworkInterfaceAttribute":      on(),
	"DescribeNetworkInterfaces":              on(),
	"DescribePrefixLists":                    on(),
	"DescribeRegions":                        on(),
	"DescribeRouteTables":                    on(),
	"DescribeSecurityGroupRules":             on(),
	"DescribeSecurityGroups":                 on(),
	"DescribeSubnets":                        on(),
	"DescribeTags":                           on(),
	"DescribeVolumes":                        on(),
	"DescribeVpcEndpoints":                   on(),
	"DescribeVpcs":                           on(),
	"DescribeInstanceAttribute":              on("instance/{InstanceId}"),
	"DescribeVpcAttribute":                   on("vpc/{VpcId}"),

	"StartInstances":                   on("instance/{InstanceIds}"),
	"StopInstances":                    on("instance/{InstanceIds}"),
	"RebootInstances":                  on("instance/{InstanceIds}"),
	"TerminateInstances":               on("instance/{InstanceIds}"),
	"MonitorInstances":                 on("instance/{InstanceIds}"),
	"UnmonitorInstances":               on("instance/{InstanceIds}"),
	"GetConsoleOutput":                 on("instance/{InstanceId}"),
	"ModifyInstanceAttribute":          on("instance/{InstanceId}", "security-group/{Groups?}"),
	"ModifyInstanceMetadataOptions":    on("instance/{InstanceId}"),
	"ModifyInstanceMaintenanceOptions": on("instance/{InstanceId}"),
	"AssociateIamInstanceProfile":      on("instance/{InstanceId}").and(passingProfile),
	"DisassociateIamInstanceProfile":   on("instance/*"),
	"RunInstances": on("instance/*", "network-interface/*", "volume/*", "arn:aws:ec2:{region}::image/{ImageId}",
		"subnet/{SubnetId?}", "subnet/{NetworkInterfaces.SubnetId?}", "security-group/{SecurityGroupIds?}",
		"security-group/{NetworkInterfaces.Groups?}", "network-interface/{NetworkInterfaces.NetworkInterfaceId?}",
		"key-pair/{KeyName?}", "launch-template/{LaunchTemplate.LaunchTemplateId?}",
	).with(tagSpecified).and(tagOnCreate, passingProfile),

	"CreateRoute":                  on("route-table/{RouteTableId}"),
	"ReplaceRoute":                 on("route-table/{RouteTableId}"),
	"DeleteRoute":                  on("route-table/{RouteTableId}"),
	"CreateRouteTable":             on("route-table/*", "vpc/{VpcId}").with(tagSpecified).and(tagOnCreate),
	"DeleteRouteTable":             on("route-table/{RouteTableId}"),
	"AssociateRouteTable":          on("route-table/{RouteTableId}", "subnet/{SubnetId?}", "internet-gateway/{GatewayId?}"),
	"DisassociateRouteTable":       on("route-table/*"),
	"ReplaceRouteTableAssociation": on("route-table/{RouteTableId}"),

	"CreateVpc":                       on("vpc/*").with(tagSpecified).and(tagOnCreate),
	"DeleteVpc":                       on("vpc/{VpcId}"),
	"ModifyVpcAttribute":              on("vpc/{VpcId}"),
	"CreateSubnet":                    on("subnet/*", "vpc/{VpcId}").with(tagSpecified).and(tagOnCreate),
	"DeleteSubnet":                    on("subnet/{SubnetId}"),
	"ModifySubnetAttribute":           on("subnet/{SubnetId}"),
	"CreateInternetGateway":           on("internet-gateway/*").with(tagSpecified).and(tagOnCreate),
	"AttachInternetGateway":           on("internet-gateway/{InternetGatewayId}", "vpc/{VpcId}"),
	"DetachInternetGateway":           on("internet-gateway/{InternetGatewayId}", "vpc/{VpcId}"),
	"DeleteInternetGateway":           on("internet-gateway/{InternetGatewayId}"),
	"CreateVpcEndpoint":               on("vpc-endpoint/*", "vpc/{VpcId}", "subnet/{SubnetIds?}", "security-group/{SecurityGroupIds?}", "route-table/{RouteTableIds?}").with(tagSpecified).and(tagOnCreate),
	"ModifyVpcEndpoint":               on("vpc-endpoint/{VpcEndpointId}"),
	"DeleteVpcEndpoints":              on("vpc-endpoint/{VpcEndpointIds}"),
	"CreateSecurityGroup":             on("security-group/*", "vpc/{VpcId?}").with(tagSpecified).and(tagOnCreate),
	"DeleteSecurityGroup":             on("security-group/{GroupId}"),
	"AuthorizeSecurityGroupIngress":   on("security-group/{GroupId}"),
	"AuthorizeSecurityGroupEgress":    on("security-group/{GroupId}"),
	"RevokeSecurityGroupIngress":      on("security-group/{GroupId}"),
	"RevokeSecurityGroupEgress":       on("security-group/{GroupId}"),
	"ModifySecurityGroupRules":        on("security-group/{GroupId}"),
	"CreateNetworkInterface":          on("network-interface/*", "subnet/{SubnetId}", "security-group/{Groups?}").with(tagSpecified).and(tagOnCreate),
	"DeleteNetworkInterface":          on("network-interface/{NetworkInterfaceId}"),
	"AttachNetworkInterface":          on("network-interface/{NetworkInterfaceId}", "instance/{InstanceId}"),
	"DetachNetworkInterface":          on("network-interface/*", "instance/*"),
	"ModifyNetworkInterfaceAttribute": on("network-interface/{NetworkInterfaceId}", "security-group/{Groups?}"),
	"AssignPrivateIpAddresses":        on("network-interface/{NetworkInterfaceId}"),
	"UnassignPrivateIpAddresses":      on("network-interface/{NetworkInterfaceId}"),
	"AllocateAddress":                 on("elastic-ip/*").with(tagSpecified).and(tagOnCreate),
	"AssociateAddress":                on("elastic-ip/{AllocationId}", "instance/{InstanceId?}", "network-interface/{NetworkInterfaceId?}"),
	"DisassociateAddress":             on("elastic-ip/*", "network-interface/*"),
	"ReleaseAddress":                  on("elastic-ip/{AllocationId}"),

	"CreateTags": by(taggable("ec2:CreateTags")),
	"DeleteTags": by(taggable("ec2:DeleteTags")),
}

// ec2Types are the resource types behind the prefixes of identifiers.
var ec2Types = map[string]string{
	"i": "instance", "rtb": "route-table", "eni": "network-interface", "sg": "security-group", "sgr": "security-group-rule",
	"subnet": "subnet", "vpc": "vpc", "vol": "volume", "ami": "image", "igw": "internet-gateway", "eipalloc": "elastic-ip",
	"vpce": "vpc-endpoint", "acl": "network-acl", "key": "key-pair", "lt": "launch-template", "nat": "natgateway", "snap": "snapshot",
}

func taggable(action string) func(*call) []permission {
	return func(c *call) []permission {
		var out []permission
		for _, id := range fields(c.input, "Resources") {
			prefix, _, _ := strings.Cut(id, "-")
			kind := ec2Types[prefix]
			if kind == "" {
				kind = "*"
			}
			out = append(out, want(action, c.base()+kind+"/"+id)...)
		}
		return out
	}
}

// passingProfile needs iam:PassRole on the role of the instance profile.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/iam-roles-for-amazon-ec2.html
func passingProfile(c *call) []permission {
	profile := field(c.input, "IamInstanceProfile.Arn")
	if name := field(c.input, "IamInstanceProfile.Name"); name != "" {
		profile = "arn:aws:iam::" + c.Account + ":instance-profile/" + name
	}
	if profile == "" {
		return nil
	}
	role, err := c.auth.iam.InstanceProfileRole(profile)
	if err != nil {
		return nil // there is no role to pass: EC2 itself refuses the profile
	}
	return passRole("ec2.amazonaws.com", role)
}

// specifications returns the tags that the operation gives to new resources,
// by resource type.
func (c *call) specifications() map[string]map[string]string {
	out := map[string]map[string]string{}
	v := reflect.Indirect(reflect.ValueOf(c.input))
	if v.Kind() != reflect.Struct {
		return out
	}
	list := v.FieldByName("TagSpecifications")
	if list.Kind() != reflect.Slice {
		return out
	}
	for n := range list.Len() {
		spec := list.Index(n).Interface()
		if tags := pairs(spec, "Tags"); len(tags) > 0 {
			out[field(spec, "ResourceType")] = tags
		}
	}
	return out
}

// tagSpecified adds the tags of a resource that is about to be created.
func tagSpecified(c *call, p *permission) {
	for kind, tags := range c.specifications() {
		if strings.Contains(p.resource, ":"+kind+"/") {
			setRequestTags(p.keys, tags)
		}
	}
}

// tagOnCreate needs ec2:CreateTags where a new resource gets tags.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
func tagOnCreate(c *call) []permission {
	var out []permission
	specs := c.specifications()
	for _, kind := range slices.Sorted(maps.Keys(specs)) {
		p := permission{action: "ec2:CreateTags", resource: c.base() + kind + "/*", keys: policy.Context{}}
		p.keys.Set("ec2:CreateAction", c.Operation)
		setRequestTags(p.keys, specs[kind])
		out = append(out, p)
	}
	return out
}

func setRequestTags(ctx policy.Context, tags map[string]string) {
	for k, v := range tags {
		ctx.Set("aws:RequestTag/"+k, v)
	}
	ctx.Set("aws:TagKeys", slices.Sorted(maps.Keys(tags))...)
}
