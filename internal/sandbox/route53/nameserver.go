package route53

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// negativeTTL is how long a resolver may remember that there is no such record.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/SOA-NSrecords.html
const negativeTTL = 900

// NameServer answers DNS queries from the zones, over UDP and TCP, as the name
// servers of a zone or the resolver of a VPC do.
type NameServer struct {
	udp, tcp *dns.Server
	address  string
	ended    chan error
}

// Listen starts a name server. An address with port 0 picks a free one.
func (r *Route53) Listen(ctx context.Context, address string) (*NameServer, error) {
	var lc net.ListenConfig
	packets, err := lc.ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for DNS queries: %w", err)
	}
	address = packets.LocalAddr().String()
	streams, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for DNS queries: %w", err), packets.Close())
	}
	n := &NameServer{
		udp: &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(r.serveDNS)}, tcp: &dns.Server{Listener: streams, Handler: dns.HandlerFunc(r.serveDNS)},
		address: address, ended: make(chan error, 2),
	}
	started := make(chan struct{}, 2)
	for _, s := range []*dns.Server{n.udp, n.tcp} {
		s.NotifyStartedFunc = func() { started <- struct{}{} }
		go func() { n.ended <- s.ActivateAndServe() }()
	}
	for range 2 {
		select {
		case <-started:
		case err := <-n.ended:
			return nil, errors.Join(fmt.Errorf("serving DNS at %s: %w", address, err), packets.Close(), streams.Close())
		}
	}
	return n, nil
}

// Address is where the name server listens.
func (n *NameServer) Address() string { return n.address }

// Close ends the name server.
func (n *NameServer) Close() error {
	err := errors.Join(n.udp.Shutdown(), n.tcp.Shutdown())
	return errors.Join(err, <-n.ended, <-n.ended)
}

func (r *Route53) serveDNS(w dns.ResponseWriter, q *dns.Msg) {
	_ = w.WriteMsg(r.reply(q)) // a client that went away needs no answer
}

// reply answers the one question of q.
func (r *Route53) reply(q *dns.Msg) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(q)
	if q.Opcode != dns.OpcodeQuery || len(q.Question) != 1 || q.Question[0].Qclass != dns.ClassINET {
		m.Rcode = dns.RcodeNotImplemented
		return m
	}
	question := q.Question[0]
	kind, ok := dns.TypeToString[question.Qtype]
	if !ok {
		m.Rcode = dns.RcodeNotImplemented
		return m
	}
	a := r.Answer(question.Name, kind)
	m.Rcode = dns.StringToRcode[a.Code]
	m.Authoritative = a.Zone != ""
	owner := question.Name // as it was asked: some clients mix cases against forgery
	for _, target := range a.Aliases {
		m.Answer = r.add(m.Answer, owner, a.TTL, "CNAME", target)
		owner = target
	}
	for _, v := range a.Values {
		m.Answer = r.add(m.Answer, owner, a.TTL, kind, v)
	}
	if len(m.Answer) == 0 && a.Zone != "" {
		for _, soa := range r.Answer(a.Zone, "SOA").Values {
			m.Ns = r.add(m.Ns, a.Zone, negativeTTL, "SOA", soa)
		}
	}
	return m
}

// add appends a record. Values that Route 53 keeps without looking at them may
// be none of their type: they are left out.
func (r *Route53) add(to []dns.RR, name string, ttl uint32, kind, value string) []dns.RR {
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", escape(name), ttl, kind, value))
	if err != nil || rr == nil {
		return to
	}
	return append(to, rr)
}

// escape keeps a name from being read as more than one field.
func escape(name string) string {
	return strings.NewReplacer(" ", `\032`, "\t", `\009`, ";", `\;`, `"`, `\"`, "(", `\(`, ")", `\)`).Replace(name)
}
