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
		best := -1
		for i, r := range t.routes {
			if r.destination.Contains(addr) && (best < 0 || r.destination.Bits() > t.routes[best].destination.Bits()) {
				best = i
			}
		}
		if t.local.Contains(addr) && (best < 0 || t.routes[best].destination.Bits() <= t.local.Bits()) {
			return reg.owner(t.vpc, addr)
		}
		if best < 0 {
			return "", false
		}
		i, on, ok := reg.reachable(t.routes[best].target)
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

// owner returns the instance that has an address in a VPC, "" = in any.
func (reg *region) owner(vpc string, addr netip.Addr) (string, bool) {
	for _, i := range reg.interfaces.all() {
		if (vpc == "" || i.vpc == vpc) && i.instance != "" && slices.Contains(i.addresses, addr) {
			return i.instance, true
		}
	}
	return "", false
}
