package ec2

import (
	"net/netip"
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

var _ world.Network = (*EC2)(nil)

// Route implements world.Network: the most specific route wins; an interface
// with source/destination check drops what is not for its own addresses.
// https://docs.aws.amazon.com/vpc/latest/userguide/route-tables-priority.html
// https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html#EIP_Disable_SrcDestCheck
func (e *EC2) Route(table, ip string) (string, bool) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return "", false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, reg := range e.regions {
		t, ok := reg.routes.get(table)
		if !ok {
			continue
		}
		best, routes := -1, t.routed.see(t.routes, e.world.Clock.Now())
		for i, r := range routes {
			if r.destination.Contains(addr) && (best < 0 || r.destination.Bits() > routes[best].destination.Bits()) {
				best = i
			}
		}
		if t.local.Contains(addr) && (best < 0 || routes[best].destination.Bits() <= t.local.Bits()) {
			return reg.owner(t.vpc, addr)
		}
		if best < 0 {
			return "", false
		}
		i, on, ok := reg.reachable(routes[best].target)
		if !ok || i.check && !slices.Contains(i.addresses, addr) {
			return "", false
		}
		return on.id, true
	}
	return "", false
}

// Owner implements world.Network. The same address in several networks belongs
// to whichever is found first.
func (e *EC2) Owner(ip string) (string, bool) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return "", false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, reg := range e.regions {
		if id, ok := reg.owner("", addr); ok {
			return id, true
		}
	}
	return "", false
}

// RouteTable returns the route table that the subnet of an instance uses: its
// own one, else the main one of the VPC. It is "" for an unknown instance.
// https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html
func (e *EC2) RouteTable(instanceID string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	reg, i, err := e.instance(instanceID)
	if err != nil {
		return ""
	}
	for id, t := range reg.routes.all() {
		if slices.ContainsFunc(t.associations, func(a association) bool { return a.subnet == i.subnet }) {
			return id
		}
	}
	if v, ok := reg.vpcs.get(i.vpc); ok {
		return v.main
	}
	return ""
}

// owner returns the instance that has an address in a VPC, "" = in any.
func (reg *region) owner(vpc string, addr netip.Addr) (string, bool) {
	for _, i := range reg.interfaces.all() {
		if (vpc == "" || i.vpc == vpc) && i.instance != "" && slices.Contains(i.addresses, addr) {
			return i.instance, true
		}
	}
	return "", false
}
