package agent

import (
	"errors"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
)

// inNetwork runs f in a network of its own, with a loopback interface and
// another one. The thread, which is in it for good, ends with its goroutine.
func inNetwork(t *testing.T, f func()) {
	t.Helper()
	skipped := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(skipped)
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			skipped <- err
			return
		}
		f()
	}()
	switch err := <-skipped; {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL):
		t.Skipf("no network of its own for the test (%v): run it as root", err)
	case err != nil:
		t.Fatal(err)
	}
}

// bound are the addresses of all interfaces, as INTERFACE ADDRESS/MASK.
func bound(t *testing.T) string {
	t.Helper()
	links, err := netlink.LinkList()
	if err != nil {
		t.Error(err)
	}
	var all []string
	for _, link := range links {
		addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
		if err != nil {
			t.Error(err)
		}
		for _, a := range addresses {
			all = append(all, link.Attrs().Name+" "+a.IPNet.String())
		}
	}
	return strings.Join(all, ", ")
}

// TestNetlink binds and releases the address in the kernel.
func TestNetlink(t *testing.T) {
	inNetwork(t, func() {
		const vip = "192.168.77.10"
		n, ctx := Netlink{}, t.Context()
		want := func(after string, err error, addresses string) {
			t.Helper()
			if got := bound(t); err != nil || got != addresses {
				t.Errorf("after %s: %q, want %q (%v)", after, got, addresses, err)
			}
		}
		want("a release of what is not bound", n.Release(ctx, vip), "")
		want("a hold", n.Hold(ctx, vip), "lo "+vip+"/32")
		want("another hold", n.Hold(ctx, vip), "lo "+vip+"/32")
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			t.Error(err)
			return
		}
		held := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(vip), Mask: net.CIDRMask(32, 32)}}
		want("a network manager that drops it", netlink.AddrDel(lo, held), "")
		want("a hold that asserts it again", n.Hold(ctx, vip), "lo "+vip+"/32")
		want("a release", n.Release(ctx, vip), "")

		for _, bad := range []string{"", "::1", "192.168.77", "192.168.77.10/32"} {
			if err := n.Hold(ctx, bad); err == nil {
				t.Errorf("%q is held", bad)
			}
		}

		other := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth9"}, PeerName: "peer9"}
		if err := netlink.LinkAdd(other); err != nil {
			t.Logf("no second interface (%v): the rest is not tried", err)
			return
		}
		wide := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(vip), Mask: net.CIDRMask(24, 32)}}
		want("a takeover's script that bound it elsewhere", netlink.AddrAdd(other, wide), "eth9 "+vip+"/24")
		want("a hold of what is bound there", n.Hold(ctx, vip), "eth9 "+vip+"/24")
		want("a release of what is bound there", n.Release(ctx, vip), "")
	})
}
