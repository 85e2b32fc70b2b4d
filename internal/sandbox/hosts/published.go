package hosts

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
)

// Publish makes a server that listens at an address of this computer, such as
// "127.0.0.2:5432", the one behind a port of a machine, through all its boots.
// It stands for a program that knows no simulated network, such as a real
// database. Its processes must work below the machine's root: then they end and
// freeze with it.
func (h *Hosts) Publish(instanceID string, port int, address string) error {
	m := h.machine(instanceID)
	if m == nil {
		return fmt.Errorf("publish %s as port %d: there is no machine of %s", address, port, instanceID)
	}
	m.mu.Lock()
	if m.published == nil {
		m.published = map[int]string{}
	}
	m.published[port] = address
	on := m.on
	m.mu.Unlock()
	if !on {
		return nil
	}
	return m.openPort(port, address)
}

// Reach opens an address of this computer that leads from a machine to ip:port
// through the simulated network.
func (h *Hosts) Reach(instanceID, ip string, port int) (address string, err error) {
	m := h.machine(instanceID)
	if m == nil {
		return "", fmt.Errorf("reach %s:%d: there is no machine of %s", ip, port, instanceID)
	}
	a, err := h.fabric.ListenFor(m.origin(), ip, port)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// openPublished opens the published ports of a machine that was just switched
// on.
func (m *machine) openPublished() {
	m.mu.Lock()
	ports := make(map[int]string, len(m.published))
	for port, address := range m.published {
		ports[port] = address
	}
	m.mu.Unlock()
	for port, address := range ports {
		if err := m.openPort(port, address); err != nil {
			m.h.log.Warn("publish a port", "instance", m.id(), "error", err)
		}
	}
}

// publishedLimit is how long a server may take to accept a connection.
const publishedLimit = 5 * time.Second

func (m *machine) openPort(port int, address string) error {
	l, err := m.Listen(port, false)
	if err != nil {
		return fmt.Errorf("publish %s as port %d: %w", address, port, err)
	}
	m.mu.Lock()
	power := m.power
	m.mu.Unlock()
	m.atPowerOff(func() { _ = l.Close() })
	m.background(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			m.background(func() { relay(power, client, address) })
		}
	})
	return nil
}

func relay(power context.Context, client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(power, publishedLimit)
	defer cancel()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	stop := context.AfterFunc(power, func() { _ = server.Close() })
	defer stop()
	fabric.Relay(server, client)
}
