package pgtest

import (
	"net"
	"testing"
	"time"
)

// Pair is a primary and its standby, the network between them and the endpoint
// of clients. Host a is primary at first.
type Pair struct {
	A, B     *Host
	ToA, ToB *Proxy // the paths on which the other host reaches them
	Endpoint *Proxy // leads to a at first
}

// Pair starts two servers with streaming replication. With synchronous, commits
// wait for the standby.
func (t *Template) Pair(tb testing.TB, synchronous bool, configure ...string) *Pair {
	tb.Helper()
	port, ips := FreePort(tb)
	p := &Pair{A: newHost(tb, t, "a", ips[0], port), B: newHost(tb, t, "b", ips[1], port)}
	p.ToA, p.ToB = NewProxy(tb, p.A.Address()), NewProxy(tb, p.B.Address())
	p.Endpoint = NewProxy(tb, p.A.Address())
	for _, line := range configure {
		p.A.Configure(tb, "postgresql.conf", line)
		p.B.Configure(tb, "postgresql.conf", line)
	}
	host, port, err := net.SplitHostPort(p.ToA.Addr())
	must(tb, err)
	p.B.Configure(tb, "postgresql.auto.conf", "primary_conninfo = 'host="+host+" port="+port+" user="+ReplicationUser+" application_name=b sslmode=disable'")
	p.B.Configure(tb, "standby.signal", "")
	if synchronous {
		p.A.Configure(tb, "postgresql.auto.conf", `synchronous_standby_names = '"b"'`)
	}
	p.A.Start(tb)
	p.B.Start(tb)
	p.B.Streams(tb)
	return p
}

// Address is where the server itself listens.
func (h *Host) Address() string { return net.JoinHostPort(h.IP, h.Port) }

// Streams waits until the host receives its primary's log.
func (h *Host) Streams(tb testing.TB) {
	tb.Helper()
	Eventually(tb, time.Minute, "host "+h.ID+" streams", func() bool {
		return h.Query(tb, "SELECT status FROM pg_stat_wal_receiver") == "streaming"
	})
}
