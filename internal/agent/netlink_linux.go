package agent

import (
	"context"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// Netlink binds addresses through the kernel's own interface, without a
// program: on the loopback interface, where they answer on every interface,
// whatever its name, and are gone after a reboot.
type Netlink struct{}

// Hold implements Endpoint.
func (n Netlink) Hold(_ context.Context, ip string) error { return n.change(ip, true) }

// Release implements Endpoint. The address goes wherever it is bound: a
// takeover's script may have bound it elsewhere.
func (n Netlink) Release(_ context.Context, ip string) error { return n.change(ip, false) }

func (Netlink) change(ip string, hold bool) error {
	address := net.ParseIP(ip).To4()
	if address == nil {
		return fmt.Errorf("%q is no IPv4 address", ip)
	}
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("reading the interfaces: %w", err)
	}
	var loopback netlink.Link
	bound := false
	for _, link := range links {
		if link.Attrs().Flags&net.FlagLoopback != 0 {
			loopback = link
		}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
		if err != nil {
			return fmt.Errorf("reading the addresses of %s: %w", link.Attrs().Name, err)
		}
		for _, a := range addresses {
			if !a.IP.Equal(address) {
				continue
			}
			bound = true
			if hold {
				continue
			}
			if err := netlink.AddrDel(link, &a); err != nil {
				return fmt.Errorf("removing %s from %s: %w", ip, link.Attrs().Name, err)
			}
		}
	}
	switch {
	case !hold || bound:
		return nil
	case loopback == nil:
		return fmt.Errorf("binding %s: this host has no loopback interface", ip)
	}
	if err := netlink.AddrAdd(loopback, &netlink.Addr{IPNet: &net.IPNet{IP: address, Mask: net.CIDRMask(32, 32)}}); err != nil {
		return fmt.Errorf("binding %s on %s: %w", ip, loopback.Attrs().Name, err)
	}
	return nil
}
