package route53

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/miekg/dns"
)

// lookup returns the code and the records of an answer, without their headers.
func lookup(t *testing.T, network, server, name string, kind uint16) (string, string, *dns.Msg) {
	t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(name, kind)
	m, _, err := (&dns.Client{Net: network}).Exchange(q, server)
	if err != nil {
		t.Fatal(err)
	}
	var records []string
	for _, rr := range m.Answer {
		records = append(records, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return dns.RcodeToString[m.Rcode], strings.Join(records, ","), m
}

// The name server follows a failover over UDP and TCP alike.
func TestNameServer(t *testing.T) {
	f := newFixture(t)
	switched := f.checkThatIs("healthy")
	p, s := address("db."+zoneName, primaryIP), address("db."+zoneName, standbyIP)
	p.Failover, p.SetIdentifier, p.HealthCheckId = types.ResourceRecordSetFailoverPrimary, aws.String("p"), switched
	s.Failover, s.SetIdentifier = types.ResourceRecordSetFailoverSecondary, aws.String("s")
	txt := types.ResourceRecordSet{Name: aws.String("t." + zoneName), Type: types.RRTypeTxt, TTL: aws.Int64(5), ResourceRecords: []types.ResourceRecord{{Value: aws.String(`"epoch=7" "a b"`)}}}
	cname := types.ResourceRecordSet{Name: aws.String("c." + zoneName), Type: types.RRTypeCname, TTL: aws.Int64(5), ResourceRecords: []types.ResourceRecord{{Value: aws.String("db." + zoneName)}}}
	f.create(p, s, txt, cname)
	f.settle()
	n, err := f.service.Listen(t.Context(), "127.0.0.1:0")
	f.ok(err)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, row := range []struct {
		name, code, records string
		kind                uint16
	}{
		{"db." + zoneName, "NOERROR", primaryIP, dns.TypeA},
		{"DB.Example.Com.", "NOERROR", primaryIP, dns.TypeA},
		{"t." + zoneName, "NOERROR", `"epoch=7" "a b"`, dns.TypeTXT},
		{"c." + zoneName, "NOERROR", "db.example.com.," + primaryIP, dns.TypeA},
		{"db." + zoneName, "NOERROR", "", dns.TypeAAAA},
		{"none." + zoneName, "NXDOMAIN", "", dns.TypeA},
		{"example.org.", "REFUSED", "", dns.TypeA},
	} {
		for _, network := range []string{"udp", "tcp"} {
			code, records, m := lookup(t, network, n.Address(), row.name, row.kind)
			if code != row.code || records != row.records {
				t.Errorf("%s %s over %s: %s %s, want %s %s", row.name, dns.TypeToString[row.kind], network, code, records, row.code, row.records)
			}
			if inside := row.code != "REFUSED"; m.Authoritative != inside || inside && records == "" && len(m.Ns) != 1 {
				t.Errorf("%s over %s: authoritative %t, %d records of authority", row.name, network, m.Authoritative, len(m.Ns))
			}
		}
	}
	p.HealthCheckId = f.checkThatIs("unhealthy")
	_, err = f.tryChange(types.ChangeActionUpsert, p)
	f.ok(err)
	f.settle()
	if _, records, _ := lookup(t, "udp", n.Address(), "db."+zoneName, dns.TypeA); records != standbyIP {
		t.Errorf("after the failover the answer is %s", records)
	}
}

// No query may break the name server.
func FuzzReply(f *testing.F) {
	q := new(dns.Msg)
	q.SetQuestion("a b;(\".example.com.", dns.TypeTXT)
	if raw, err := q.Pack(); err == nil {
		f.Add(raw)
	}
	service := New(newWorld())
	service.zones["Z"] = &zone{id: "Z", name: zoneName, servers: []string{"ns"}}
	z := service.zones["Z"]
	z.publish(apex(z), service.now(), service.now())
	f.Fuzz(func(t *testing.T, raw []byte) {
		q := new(dns.Msg)
		if q.Unpack(raw) != nil {
			return
		}
		if m := service.reply(q); m == nil || m.Id != q.Id {
			t.Errorf("reply is %v", m)
		}
	})
}
