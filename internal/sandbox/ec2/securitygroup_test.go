package ec2

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func tcp(port int32, blocks ...string) []types.IpPermission {
	p := types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: &port, ToPort: &port}
	for _, b := range blocks {
		p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: &b})
	}
	return []types.IpPermission{p}
}

func TestSecurityGroupRules(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		g := must(c.CreateSecurityGroup(c.req, &ec2.CreateSecurityGroupInput{VpcId: &c.vpc, GroupName: aws.String("db"), Description: aws.String("test")})).GroupId
		show := func() types.SecurityGroup {
			return must(c.DescribeSecurityGroups(c.req, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{*g}})).SecurityGroups[0]
		}
		allow := func(p []types.IpPermission) error {
			_, err := c.AuthorizeSecurityGroupIngress(c.req, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: g, IpPermissions: p})
			return err
		}
		revoke := func(p []types.IpPermission) error {
			_, err := c.RevokeSecurityGroupIngress(c.req, &ec2.RevokeSecurityGroupIngressInput{GroupId: g, IpPermissions: p})
			return err
		}
		if err := allow(tcp(50000, "10.0.0.0/8", "192.168.0.0/16")); err != nil {
			t.Fatal(err)
		}
		wantCode(t, allow(tcp(50000, "10.1.0.0/8")), "InvalidPermission.Duplicate") // same block in canonical form
		wantCode(t, allow(append(tcp(22, "10.0.0.0/8"), tcp(50000, "10.0.0.0/8")...)), "InvalidPermission.Duplicate")
		wantCode(t, allow(tcp(22, "nonsense")), "InvalidParameterValue")
		wantCode(t, revoke(tcp(1234, "10.0.0.0/8")), "InvalidPermission.NotFound")
		if p := show().IpPermissions; len(p) != 1 || len(p[0].IpRanges) != 2 || *p[0].FromPort != 50000 {
			t.Errorf("permissions are joined to %d", len(p))
		}
		rules := must(c.DescribeSecurityGroupRules(c.req, &ec2.DescribeSecurityGroupRulesInput{Filters: []types.Filter{{Name: aws.String("group-id"), Values: []string{*g}}}}))
		if len(rules.SecurityGroupRules) != 3 {
			t.Errorf("%d rules, want two and the default one", len(rules.SecurityGroupRules))
		}
		if err := revoke(tcp(50000, "10.0.0.0/8", "192.168.0.0/16")); err != nil {
			t.Error(err)
		}
		must(c.RevokeSecurityGroupEgress(c.req, &ec2.RevokeSecurityGroupEgressInput{GroupId: g, IpPermissions: []types.IpPermission{{IpProtocol: aws.String("-1"), IpRanges: []types.IpRange{{CidrIp: aws.String("0.0.0.0/0")}}}}}))
		if s := show(); len(s.IpPermissions)+len(s.IpPermissionsEgress) != 0 {
			t.Error("rules are left")
		}
	})
}

func TestGroupOfARuleCannotBeDeleted(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		group := func(name string) *string {
			return must(c.CreateSecurityGroup(c.req, &ec2.CreateSecurityGroupInput{VpcId: &c.vpc, GroupName: &name, Description: aws.String("test")})).GroupId
		}
		app, db := group("app"), group("db")
		out := must(c.AuthorizeSecurityGroupIngress(c.req, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: db, IpPermissions: []types.IpPermission{{IpProtocol: aws.String("-1"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: app}}}}}))
		_, err := c.DeleteSecurityGroup(c.req, &ec2.DeleteSecurityGroupInput{GroupId: app})
		wantCode(t, err, "DependencyViolation")
		must(c.RevokeSecurityGroupIngress(c.req, &ec2.RevokeSecurityGroupIngressInput{GroupId: db, SecurityGroupRuleIds: []string{*out.SecurityGroupRules[0].SecurityGroupRuleId}}))
		must(c.DeleteSecurityGroup(c.req, &ec2.DeleteSecurityGroupInput{GroupId: app}))
		_, err = c.CreateSecurityGroup(c.req, &ec2.CreateSecurityGroupInput{VpcId: &c.vpc, GroupName: aws.String("db"), Description: aws.String("test")})
		wantCode(t, err, "InvalidGroup.Duplicate")
	})
}
