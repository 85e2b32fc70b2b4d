package ec2

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// permission is one rule's meaning: traffic of a protocol and port range from
// or to one peer. It is comparable: equal permissions are the same rule.
type permission struct {
	egress   bool
	protocol string // tcp, udp, icmp, a number, or -1 for everything
	from, to int32  // -1 for all
	peer     peer
}

// peer is a block of addresses, a security group or a prefix list.
type peer struct{ cidr, cidr6, group, prefixList string }

func (p peer) name() string { return p.cidr + p.cidr6 + p.group + p.prefixList }

type rule struct {
	id          string
	description string
	permission
}

var protocolNames = map[string]string{"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}

// rules takes the permissions of a call apart.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_IpPermission.html
func (reg *region) rules(egress bool, permissions []types.IpPermission) ([]rule, error) {
	var all []rule
	for _, p := range permissions {
		base := permission{egress: egress, from: -1, to: -1}
		if err := base.setPorts(p); err != nil {
			return nil, err
		}
		add := func(to peer, description *string) {
			r := rule{permission: base, description: aws.ToString(description)}
			r.peer = to
			all = append(all, r)
		}
		for _, c := range p.IpRanges {
			block, err := netip.ParsePrefix(aws.ToString(c.CidrIp))
			if err != nil || !block.Addr().Is4() {
				return nil, wire.Errorf("InvalidParameterValue", "CIDR block %s is malformed", aws.ToString(c.CidrIp))
			}
			add(peer{cidr: block.Masked().String()}, c.Description)
		}
		for _, c := range p.Ipv6Ranges {
			block, err := netip.ParsePrefix(aws.ToString(c.CidrIpv6))
			if err != nil || !block.Addr().Is6() {
				return nil, wire.Errorf("InvalidParameterValue", "CIDR block %s is malformed", aws.ToString(c.CidrIpv6))
			}
			add(peer{cidr6: block.Masked().String()}, c.Description)
		}
		for _, g := range p.UserIdGroupPairs {
			if _, err := one(&reg.groups, kindGroup, "groupId", g.GroupId); err != nil {
				return nil, err
			}
			add(peer{group: *g.GroupId}, g.Description)
		}
		for _, l := range p.PrefixListIds {
			add(peer{prefixList: aws.ToString(l.PrefixListId)}, l.Description)
		}
	}
	if all == nil {
		return nil, missingParameter("ipPermissions")
	}
	return all, nil
}

func (p *permission) setPorts(in types.IpPermission) error {
	p.protocol = strings.ToLower(aws.ToString(in.IpProtocol))
	if name, ok := protocolNames[p.protocol]; ok {
		p.protocol = name
	}
	switch p.protocol {
	case "":
		return missingParameter("ipProtocol")
	case "-1":
		return nil
	case "tcp", "udp":
		if in.FromPort == nil || in.ToPort == nil {
			return wire.Errorf("InvalidParameterValue", "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.")
		}
		p.from, p.to = *in.FromPort, *in.ToPort
		if p.from < 0 || p.to > 65535 || p.from > p.to {
			return wire.Errorf("InvalidParameterValue", "Invalid TCP/UDP port range %d-%d", p.from, p.to)
		}
	case "icmp", "icmpv6":
		p.from, p.to = aws.ToInt32(in.FromPort), aws.ToInt32(in.ToPort)
	default:
		if n, err := strconv.Atoi(p.protocol); err != nil || n < 0 || n > 255 {
			return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for IP protocol. Unknown protocol.", p.protocol)
		}
	}
	return nil
}

// simple is the older form of a call: one permission in its own parameters.
func simple(permissions []types.IpPermission, protocol *string, from, to *int32, cidr *string) []types.IpPermission {
	if protocol == nil && cidr == nil {
		return permissions
	}
	p := types.IpPermission{IpProtocol: protocol, FromPort: from, ToPort: to}
	if cidr != nil {
		p.IpRanges = []types.IpRange{{CidrIp: cidr}}
	}
	return append(permissions, p)
}

// joined renders rules of one direction as AWS does: one permission for all
// peers with the same protocol and ports.
func (reg *region) joined(rules []rule, egress bool) []types.IpPermission {
	type key struct {
		protocol string
		from, to int32
	}
	index := map[key]int{}
	var all []types.IpPermission
	for _, r := range rules {
		if r.egress != egress {
			continue
		}
		k := key{r.protocol, r.from, r.to}
		i, ok := index[k]
		if !ok {
			i = len(all)
			index[k] = i
			p := types.IpPermission{IpProtocol: aws.String(r.protocol)}
			if r.protocol != "-1" {
				p.FromPort, p.ToPort = aws.Int32(r.from), aws.Int32(r.to)
			}
			all = append(all, p)
		}
		var description *string
		if r.description != "" {
			description = aws.String(r.description)
		}
		p := &all[i]
		switch {
		case r.peer.cidr != "":
			p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(r.peer.cidr), Description: description})
		case r.peer.cidr6 != "":
			p.Ipv6Ranges = append(p.Ipv6Ranges, types.Ipv6Range{CidrIpv6: aws.String(r.peer.cidr6), Description: description})
		case r.peer.group != "":
			p.UserIdGroupPairs = append(p.UserIdGroupPairs, types.UserIdGroupPair{GroupId: aws.String(r.peer.group), UserId: aws.String(reg.account), Description: description})
		default:
			p.PrefixListIds = append(p.PrefixListIds, types.PrefixListId{PrefixListId: aws.String(r.peer.prefixList), Description: description})
		}
	}
	return all
}

func (reg *region) showRule(g *group, r rule) types.SecurityGroupRule {
	shown := types.SecurityGroupRule{
		SecurityGroupRuleId: aws.String(r.id), SecurityGroupRuleArn: aws.String(reg.arn("security-group-rule/" + r.id)),
		GroupId: aws.String(g.id), GroupOwnerId: aws.String(reg.account), IsEgress: aws.Bool(r.egress),
		IpProtocol: aws.String(r.protocol), FromPort: aws.Int32(r.from), ToPort: aws.Int32(r.to), Tags: reg.shownTags(r.id),
	}
	if r.description != "" {
		shown.Description = aws.String(r.description)
	}
	switch {
	case r.peer.cidr != "":
		shown.CidrIpv4 = aws.String(r.peer.cidr)
	case r.peer.cidr6 != "":
		shown.CidrIpv6 = aws.String(r.peer.cidr6)
	case r.peer.group != "":
		shown.ReferencedGroupInfo = &types.ReferencedSecurityGroup{GroupId: aws.String(r.peer.group), UserId: aws.String(reg.account), VpcId: aws.String(g.vpc)}
	default:
		shown.PrefixListId = aws.String(r.peer.prefixList)
	}
	return shown
}
