package route53

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
)

func act(action types.ChangeAction, set types.ResourceRecordSet) types.Change {
	return types.Change{Action: action, ResourceRecordSet: &set}
}

// values returns those of one record as the API shows them.
func (f *fixture) values(name string) []string {
	f.Helper()
	o, err := f.client.ListResourceRecordSets(f.Context(), &api.ListResourceRecordSetsInput{HostedZoneId: &f.zone, StartRecordName: &name, MaxItems: aws.Int32(1)})
	f.ok(err)
	if len(o.ResourceRecordSets) == 0 || *o.ResourceRecordSets[0].Name != name {
		return nil
	}
	return values(o.ResourceRecordSets[0])
}

// The API sees a change at once, the name servers when it is INSYNC.
func TestPropagation(t *testing.T) {
	virtual(t, func(f *fixture) {
		info, err := f.tryChange(types.ChangeActionUpsert, address("a."+zoneName, "10.0.0.1"))
		f.ok(err)
		state := func() types.ChangeStatus {
			o, err := f.client.GetChange(f.Context(), &api.GetChangeInput{Id: info.Id})
			f.ok(err)
			return o.ChangeInfo.Status
		}
		if s := state(); s != types.ChangeStatusPending || info.Status != s {
			t.Errorf("the change is %s", s)
		}
		if v := f.values("a." + zoneName); !slices.Equal(v, []string{"10.0.0.1"}) {
			t.Errorf("the API shows %v", v)
		}
		if a := f.service.Answer("a."+zoneName, "A"); a.Code != "NXDOMAIN" {
			t.Errorf("the answer before INSYNC is %+v", a)
		}
		time.Sleep(20 * time.Second)
		if s := state(); s != types.ChangeStatusInsync {
			t.Errorf("the change is %s", s)
		}
		if a := f.service.Answer("A."+zoneName, "A"); !slices.Equal(a.Values, []string{"10.0.0.1"}) || a.TTL != 5 {
			t.Errorf("the answer is %+v", a)
		}
		_, err = f.client.GetChange(f.Context(), &api.GetChangeInput{Id: aws.String("C0")})
		f.fails(err, "NoSuchChange")
	}, WithPropagation(20*time.Second))
}

// A batch that deletes the old and creates the new value is a compare-and-swap.
func TestBatchIsACompareAndSwap(t *testing.T) {
	f := newFixture(t)
	name := "heartbeat." + zoneName
	swap := func(from, to string) error {
		_, err := f.try(act(types.ChangeActionDelete, address(name, from)), act(types.ChangeActionCreate, address(name, to)))
		return err
	}
	f.create(address(name, "10.0.0.1"))
	f.ok(swap("10.0.0.1", "10.0.0.2"))
	f.fails(swap("10.0.0.1", "10.0.0.3"), "InvalidChangeBatch")
	if v := f.values(name); !slices.Equal(v, []string{"10.0.0.2"}) {
		t.Errorf("values are %v", v)
	}
}

func TestOneBatchAtATime(t *testing.T) {
	virtual(t, func(f *fixture) {
		done := make(chan error)
		go func() {
			_, err := f.tryChange(types.ChangeActionCreate, address("a."+zoneName, "10.0.0.1"))
			done <- err
		}()
		synctest.Wait()
		_, err := f.tryChange(types.ChangeActionCreate, address("b."+zoneName, "10.0.0.1"))
		f.fails(err, "PriorRequestNotComplete")
		f.ok(<-done)
		f.create(address("b."+zoneName, "10.0.0.1"))
	}, WithProcessing(time.Second))
}

// Whatever is wrong with one change, the batch changes nothing.
func TestRefusedBatches(t *testing.T) {
	cname := types.ResourceRecordSet{Name: aws.String("c." + zoneName), Type: types.RRTypeCname, TTL: aws.Int64(5), ResourceRecords: []types.ResourceRecord{{Value: aws.String("x.org.")}}}
	with := func(edit func(*types.ResourceRecordSet)) types.ResourceRecordSet {
		set := address("n."+zoneName, "10.0.0.1")
		edit(&set)
		return set
	}
	routed := func(name string, edit func(*types.ResourceRecordSet)) types.ResourceRecordSet {
		set := address("f."+zoneName, "10.0.0.7")
		set.SetIdentifier = &name
		edit(&set)
		return set
	}
	primary := func(s *types.ResourceRecordSet) { s.Failover = types.ResourceRecordSetFailoverPrimary }
	del, create, upsert := types.ChangeActionDelete, types.ChangeActionCreate, types.ChangeActionUpsert
	rows := map[string]struct {
		changes []types.Change
		want    string
	}{
		"created twice":        {[]types.Change{act(create, address("a."+zoneName, "10.0.0.2"))}, "already exists"},
		"deleted, not there":   {[]types.Change{act(del, address("b."+zoneName, "10.0.0.1"))}, "not found"},
		"deleted, other value": {[]types.Change{act(del, address("a."+zoneName, "10.0.0.2"))}, "do not match"},
		"deleted, other TTL": {[]types.Change{act(del, func() types.ResourceRecordSet {
			s := address("a."+zoneName, "10.0.0.1")
			s.TTL = aws.Int64(6)
			return s
		}())}, "do not match"},
		"another zone":          {[]types.Change{act(create, address("a.example.org.", "10.0.0.1"))}, "not permitted in zone"},
		"CNAME at the apex":     {[]types.Change{act(create, func() types.ResourceRecordSet { s := cname; s.Name = aws.String(zoneName); return s }())}, "apex"},
		"CNAME beside another":  {[]types.Change{act(create, cname), act(create, address("c."+zoneName, "10.0.0.1"))}, "stands alone"},
		"no address":            {[]types.Change{act(create, address("n."+zoneName, "10.0.0.256"))}, "not a valid address"},
		"IPv6 in an A":          {[]types.Change{act(create, address("n."+zoneName, "::1"))}, "not a valid address"},
		"TXT without quotes":    {[]types.Change{act(create, with(func(s *types.ResourceRecordSet) { s.Type = types.RRTypeTxt }))}, "quotation marks"},
		"no TTL":                {[]types.Change{act(create, with(func(s *types.ResourceRecordSet) { s.TTL = nil }))}, "TTL"},
		"no value":              {[]types.Change{act(create, with(func(s *types.ResourceRecordSet) { s.ResourceRecords = nil }))}, "ResourceRecords"},
		"alias with TTL":        {[]types.Change{act(create, with(func(s *types.ResourceRecordSet) { *s = aliasTo(*s, "x.", true); s.TTL = aws.Int64(5) }))}, "neither TTL"},
		"failover without name": {[]types.Change{act(create, with(primary))}, "SetIdentifier"},
		"two primaries":         {[]types.Change{act(create, routed("p", primary)), act(create, routed("q", primary))}, "there is one PRIMARY"},
		"failover and weighted": {[]types.Change{act(create, routed("p", primary)), act(create, routed("w", func(s *types.ResourceRecordSet) { s.Weight = aws.Int64(1) }))}, "same routing policy"},
		"latency":               {[]types.Change{act(upsert, routed("l", func(s *types.ResourceRecordSet) { s.Region = types.ResourceRecordSetRegionEuWest1 }))}, "simple, failover and weighted"},
		"weight out of range":   {[]types.Change{act(upsert, routed("w", func(s *types.ResourceRecordSet) { s.Weight = aws.Int64(256) }))}, "Weight 256"},
		"the zone's own NS":     {[]types.Change{act(del, apex(&zone{name: zoneName, servers: []string{"ns-0.sandbox-00.com", "ns-512.sandbox-00.net", "ns-1024.sandbox-00.org", "ns-1536.sandbox-00.co.uk"}})[key{zoneName, "NS", ""}])}, "exactly one NS"},
		"too many values":       {[]types.Change{act(upsert, with(func(s *types.ResourceRecordSet) { s.ResourceRecords = slices.Repeat(s.ResourceRecords, 501) }))}, "limit of 1000"},
		"too many characters": {[]types.Change{act(create, with(func(s *types.ResourceRecordSet) {
			s.ResourceRecords[0].Value = aws.String(`"` + strings.Repeat("x", 32000) + `"`)
		}))}, "32000"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.create(address("a."+zoneName, "10.0.0.1"))
			_, err := f.try(append([]types.Change{act(create, address("good."+zoneName, "10.0.0.1"))}, row.changes...)...)
			f.fails(err, "InvalidChangeBatch")
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("error is %v, want %s", err, row.want)
			}
			if v := f.values("good." + zoneName); v != nil {
				t.Errorf("the good change was made: %v", v)
			}
		})
	}
}

func TestRecordWithAnUnknownCheck(t *testing.T) {
	f := newFixture(t)
	set := address("a."+zoneName, "10.0.0.1")
	set.HealthCheckId = aws.String("none")
	_, err := f.tryChange(types.ChangeActionCreate, set)
	f.fails(err, "NoSuchHealthCheck")
}

func TestAnswers(t *testing.T) {
	f := newFixture(t)
	cname := func(name, target string) types.ResourceRecordSet {
		return types.ResourceRecordSet{Name: &name, Type: types.RRTypeCname, TTL: aws.Int64(7), ResourceRecords: []types.ResourceRecord{{Value: &target}}}
	}
	f.create(address("a."+zoneName, "10.0.0.1"), cname("c."+zoneName, "a."+zoneName), cname("out."+zoneName, "www.example.org"), cname("loop."+zoneName, "loop."+zoneName),
		aliasTo(address("alias."+zoneName, ""), "a."+zoneName, false), aliasTo(address("x."+zoneName, ""), "y."+zoneName, true), aliasTo(address("y."+zoneName, ""), "x."+zoneName, true))
	f.settle()
	for name, want := range map[string]string{
		"a.example.com.": "NOERROR [10.0.0.1] [] 5", "alias.example.com.": "NOERROR [10.0.0.1] [] 5", "c.example.com.": "NOERROR [10.0.0.1] [a.example.com.] 5",
		"out.example.com.": "NOERROR [] [www.example.org.] 7", "none.example.com.": "NXDOMAIN [] [] 0", "example.com.": "NOERROR [] [] 0", "a.other.org.": "REFUSED [] [] 0",
		"x.example.com.": "SERVFAIL [] [] 0",
	} {
		a := f.service.Answer(name, "A")
		if got := fmt.Sprint(a.Code, " ", a.Values, " ", a.Aliases, " ", a.TTL); got != want {
			t.Errorf("%s: answer is %s, want %s", name, got, want)
		}
	}
	if a := f.service.Answer("loop."+zoneName, "A"); a.Code != "SERVFAIL" {
		t.Errorf("a loop of CNAMEs is answered by %+v", a)
	}
	o, err := f.client.TestDNSAnswer(t.Context(), &api.TestDNSAnswerInput{HostedZoneId: &f.zone, RecordName: aws.String("a." + zoneName), RecordType: types.RRTypeA})
	f.ok(err)
	if !slices.Equal(o.RecordData, []string{"10.0.0.1"}) || *o.ResponseCode != "NOERROR" {
		t.Errorf("TestDNSAnswer is %+v", o)
	}
}

// Weights share the answers out among the healthy.
func TestWeights(t *testing.T) {
	f := newFixture(t)
	for i, w := range []struct {
		weight int64
		health string
	}{{1, "no_health_check"}, {3, "healthy"}, {10, "unhealthy"}, {0, "healthy"}} {
		set := address("w."+zoneName, fmt.Sprintf("10.0.0.%d", i))
		set.SetIdentifier, set.Weight, set.HealthCheckId = aws.String(fmt.Sprint(i)), &w.weight, f.checkThatIs(w.health)
		f.create(set)
	}
	f.settle()
	count := map[string]int{}
	for range 400 {
		count[f.service.Answer("w."+zoneName, "A").Values[0]]++
	}
	if len(count) != 2 || count["10.0.0.0"] < 50 || count["10.0.0.1"] < 2*count["10.0.0.0"]-50 {
		t.Errorf("answers are %v", count)
	}
}

// An alias needs a target in its zone, which may come in the same batch.
func TestAliasTarget(t *testing.T) {
	f := newFixture(t)
	alias := aliasTo(address("alias."+zoneName, ""), "target."+zoneName, true)
	alias.AliasTarget.HostedZoneId = aws.String(bare(f.zone))
	_, err := f.tryChange(types.ChangeActionCreate, alias)
	f.fails(err, "InvalidChangeBatch")
	f.create(alias, address("target."+zoneName, "10.0.0.1"))
}
