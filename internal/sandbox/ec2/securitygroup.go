package ec2

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type group struct {
	id, vpc, name, description string
	rules                      []rule
}

// newGroup makes a group that lets everything out, as AWS does; the default
// group of a VPC also lets its members in.
// https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
func (e *EC2) newGroup(reg *region, vpc, name, description string) *group {
	g := &group{id: e.world.ID("sg-"), vpc: vpc, name: name, description: description}
	g.rules = []rule{{id: e.world.ID("sgr-"), permission: permission{egress: true, protocol: "-1", from: -1, to: -1, peer: peer{cidr: "0.0.0.0/0"}}}}
	if name == "default" {
		g.rules = append(g.rules, rule{id: e.world.ID("sgr-"), permission: permission{protocol: "-1", from: -1, to: -1, peer: peer{group: g.id}}})
	}
	reg.groups.put(g.id, g)
	return g
}

func (reg *region) ruleExists(id string) bool {
	for _, g := range reg.groups.all() {
		if slices.ContainsFunc(g.rules, func(r rule) bool { return r.id == id }) {
			return true
		}
	}
	return false
}

// CreateSecurityGroup makes a group.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSecurityGroup.html
func (e *EC2) CreateSecurityGroup(r *wire.Request, in *ec2.CreateSecurityGroupInput) (*ec2.CreateSecurityGroupOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	if in.VpcId == nil {
		return nil, wire.Errorf("VPCIdNotSpecified", "No default VPC for this user")
	}
	v, err := one(&reg.vpcs, kindVPC, "vpcId", in.VpcId)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.GroupName)
	switch {
	case name == "":
		return nil, missingParameter("groupName")
	case aws.ToString(in.Description) == "":
		return nil, missingParameter("groupDescription")
	case strings.HasPrefix(name, "sg-") || len(name) > 255:
		return nil, invalidValue("groupName", name, "It has up to 255 characters and does not start with sg-.")
	}
	for _, g := range reg.groups.all() {
		if g.vpc == v.id && g.name == name {
			return nil, wire.Errorf("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.id)
		}
	}
	tags, err := specified(in.TagSpecifications, types.ResourceTypeSecurityGroup)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	g := e.newGroup(reg, v.id, name, *in.Description)
	if err := reg.tag(g.id, tags); err != nil {
		return nil, err
	}
	return &ec2.CreateSecurityGroupOutput{GroupId: aws.String(g.id), SecurityGroupArn: aws.String(reg.arn("security-group/" + g.id)), Tags: reg.shownTags(g.id)}, nil
}

// DeleteSecurityGroup removes a group that no interface and no rule uses.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSecurityGroup.html
func (e *EC2) DeleteSecurityGroup(r *wire.Request, in *ec2.DeleteSecurityGroupInput) (*ec2.DeleteSecurityGroupOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	g, err := one(&reg.groups, kindGroup, "groupId", in.GroupId)
	if err != nil {
		return nil, err
	}
	if g.name == "default" {
		return nil, wire.Errorf("CannotDelete", "the specified group: %q name: %q cannot be deleted by a user", g.id, g.name)
	}
	for id, i := range reg.interfaces.all() {
		if slices.Contains(i.groups, g.id) {
			return nil, wire.Errorf("DependencyViolation", "resource %s has a dependent object: %s", g.id, id)
		}
	}
	for id, other := range reg.groups.all() {
		if other != g && slices.ContainsFunc(other.rules, func(r rule) bool { return r.peer.group == g.id }) {
			return nil, wire.Errorf("DependencyViolation", "resource %s has a dependent object: a rule of %s", g.id, id)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	reg.groups.remove(g.id)
	delete(reg.tags, g.id)
	return &ec2.DeleteSecurityGroupOutput{Return: aws.Bool(true), GroupId: aws.String(g.id)}, nil
}

// DescribeSecurityGroups lists groups with their rules joined to permissions.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html
func (e *EC2) DescribeSecurityGroups(r *wire.Request, in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	picked, err := pick(reg, &reg.groups, query{in.GroupIds, kindGroup, in.Filters}, func(g *group) attributes {
		return attributes{"group-id": {g.id}, "group-name": {g.name}, "vpc-id": {g.vpc}, "description": {g.description}, "owner-id": {reg.account}}
	})
	if err != nil {
		return nil, err
	}
	var all []types.SecurityGroup
	for _, g := range picked {
		if len(in.GroupNames) > 0 && !slices.Contains(in.GroupNames, g.name) {
			continue
		}
		all = append(all, types.SecurityGroup{
			GroupId: aws.String(g.id), GroupName: aws.String(g.name), Description: aws.String(g.description), VpcId: aws.String(g.vpc),
			OwnerId: aws.String(reg.account), SecurityGroupArn: aws.String(reg.arn("security-group/" + g.id)),
			IpPermissions: reg.joined(g.rules, false), IpPermissionsEgress: reg.joined(g.rules, true), Tags: reg.shownTags(g.id),
		})
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: shown, NextToken: next}, err
}

// DescribeSecurityGroupRules lists single rules.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroupRules.html
func (e *EC2) DescribeSecurityGroupRules(r *wire.Request, in *ec2.DescribeSecurityGroupRulesInput) (*ec2.DescribeSecurityGroupRulesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	for _, id := range in.SecurityGroupRuleIds {
		if !reg.ruleExists(id) {
			return nil, kindRule.unknown(id)
		}
	}
	var all []types.SecurityGroupRule
	for _, g := range reg.groups.all() {
		for _, ru := range g.rules {
			ok, err := matches(in.Filters, attributes{"group-id": {g.id}, "security-group-rule-id": {ru.id}}, reg.tags[ru.id])
			if err != nil {
				return nil, err
			}
			if ok && (len(in.SecurityGroupRuleIds) == 0 || slices.Contains(in.SecurityGroupRuleIds, ru.id)) {
				all = append(all, reg.showRule(g, ru))
			}
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeSecurityGroupRulesOutput{SecurityGroupRules: shown, NextToken: next}, err
}

// authorize adds all rules of a call, or none.
func (e *EC2) authorize(reg *region, groupID *string, egress bool, permissions []types.IpPermission, specs []types.TagSpecification, dry *bool) ([]types.SecurityGroupRule, error) {
	g, err := one(&reg.groups, kindGroup, "groupId", groupID)
	if err != nil {
		return nil, err
	}
	rules, err := reg.rules(egress, permissions)
	if err != nil {
		return nil, err
	}
	tags, err := specified(specs, types.ResourceTypeSecurityGroupRule)
	if err != nil {
		return nil, err
	}
	for _, n := range rules {
		if g.find(n.permission) >= 0 {
			return nil, wire.Errorf("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %d, to port: %d, ALLOW\" already exists", n.peer.name(), n.protocol, n.from, n.to)
		}
	}
	if err := dryRun(dry); err != nil {
		return nil, err
	}
	var shown []types.SecurityGroupRule
	for _, n := range rules {
		n.id = e.world.ID("sgr-")
		g.rules = append(g.rules, n)
		if err := reg.tag(n.id, tags); err != nil {
			return nil, err
		}
		shown = append(shown, reg.showRule(g, n))
	}
	return shown, nil
}

func (g *group) find(p permission) int {
	return slices.IndexFunc(g.rules, func(r rule) bool { return r.permission == p })
}

// revoke removes all rules of a call, or none.
func (reg *region) revoke(groupID *string, egress bool, permissions []types.IpPermission, ids []string, dry *bool) ([]types.RevokedSecurityGroupRule, error) {
	g, err := one(&reg.groups, kindGroup, "groupId", groupID)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, id := range ids {
		i := slices.IndexFunc(g.rules, func(r rule) bool { return r.id == id && r.egress == egress })
		if i < 0 {
			return nil, kindRule.unknown(id)
		}
		gone = append(gone, id)
	}
	if len(ids) == 0 {
		rules, err := reg.rules(egress, permissions)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			i := g.find(r.permission)
			if i < 0 {
				return nil, wire.Errorf("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
			}
			gone = append(gone, g.rules[i].id)
		}
	}
	if err := dryRun(dry); err != nil {
		return nil, err
	}
	var revoked []types.RevokedSecurityGroupRule
	g.rules = slices.DeleteFunc(g.rules, func(r rule) bool {
		if !slices.Contains(gone, r.id) {
			return false
		}
		s := reg.showRule(g, r)
		revoked = append(revoked, types.RevokedSecurityGroupRule{
			SecurityGroupRuleId: s.SecurityGroupRuleId, GroupId: s.GroupId, IsEgress: s.IsEgress, IpProtocol: s.IpProtocol,
			FromPort: s.FromPort, ToPort: s.ToPort, CidrIpv4: s.CidrIpv4, CidrIpv6: s.CidrIpv6, PrefixListId: s.PrefixListId, Description: s.Description,
		})
		delete(reg.tags, r.id)
		return true
	})
	return revoked, nil
}

// AuthorizeSecurityGroupIngress adds rules for what comes in.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupIngress.html
func (e *EC2) AuthorizeSecurityGroupIngress(r *wire.Request, in *ec2.AuthorizeSecurityGroupIngressInput) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	rules, err := e.authorize(reg, in.GroupId, false, simple(in.IpPermissions, in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp), in.TagSpecifications, in.DryRun)
	if err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupIngressOutput{Return: aws.Bool(true), SecurityGroupRules: rules}, nil
}

// AuthorizeSecurityGroupEgress adds rules for what goes out.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupEgress.html
func (e *EC2) AuthorizeSecurityGroupEgress(r *wire.Request, in *ec2.AuthorizeSecurityGroupEgressInput) (*ec2.AuthorizeSecurityGroupEgressOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	rules, err := e.authorize(reg, in.GroupId, true, in.IpPermissions, in.TagSpecifications, in.DryRun)
	if err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupEgressOutput{Return: aws.Bool(true), SecurityGroupRules: rules}, nil
}

// RevokeSecurityGroupIngress removes rules for what comes in.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RevokeSecurityGroupIngress.html
func (e *EC2) RevokeSecurityGroupIngress(r *wire.Request, in *ec2.RevokeSecurityGroupIngressInput) (*ec2.RevokeSecurityGroupIngressOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	revoked, err := reg.revoke(in.GroupId, false, simple(in.IpPermissions, in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp), in.SecurityGroupRuleIds, in.DryRun)
	if err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupIngressOutput{Return: aws.Bool(true), RevokedSecurityGroupRules: revoked}, nil
}

// RevokeSecurityGroupEgress removes rules for what goes out.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RevokeSecurityGroupEgress.html
func (e *EC2) RevokeSecurityGroupEgress(r *wire.Request, in *ec2.RevokeSecurityGroupEgressInput) (*ec2.RevokeSecurityGroupEgressOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	revoked, err := reg.revoke(in.GroupId, true, in.IpPermissions, in.SecurityGroupRuleIds, in.DryRun)
	if err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupEgressOutput{Return: aws.Bool(true), RevokedSecurityGroupRules: revoked}, nil
}
