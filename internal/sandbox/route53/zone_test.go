package route53

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
)

func TestHostedZone(t *testing.T) {
	f := newFixture(t)
	o, err := f.client.GetHostedZone(t.Context(), &api.GetHostedZoneInput{Id: &f.zone})
	f.ok(err)
	if *o.HostedZone.Name != zoneName || *o.HostedZone.ResourceRecordSetCount != 2 || len(o.DelegationSet.NameServers) != 4 || o.HostedZone.Config.PrivateZone {
		t.Errorf("zone is %+v with %v", o.HostedZone, o.DelegationSet)
	}
	_, err = f.client.CreateHostedZone(t.Context(), &api.CreateHostedZoneInput{Name: aws.String("other.org"), CallerReference: aws.String(zoneName)})
	f.fails(err, "HostedZoneAlreadyExists")
	_, err = f.client.CreateHostedZone(t.Context(), &api.CreateHostedZoneInput{Name: aws.String("a..b"), CallerReference: aws.String("x")})
	f.fails(err, "InvalidDomainName")
	f.create(address("a."+zoneName, "10.0.0.1"))
	_, err = f.client.DeleteHostedZone(t.Context(), &api.DeleteHostedZoneInput{Id: &f.zone})
	f.fails(err, "HostedZoneNotEmpty")
	_, err = f.tryChange(types.ChangeActionDelete, address("A."+zoneName, "10.0.0.1"))
	f.ok(err)
	_, err = f.client.DeleteHostedZone(t.Context(), &api.DeleteHostedZoneInput{Id: &f.zone})
	f.ok(err)
	_, err = f.client.GetHostedZone(t.Context(), &api.GetHostedZoneInput{Id: &f.zone})
	f.fails(err, "NoSuchHostedZone")
}

// Zones are listed by their labels from the right, page by page.
func TestZonesInOrder(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"b.com.", "a.example.com.", "z.com.", "a.org."} {
		f.newZone(name)
	}
	var names []string
	in := &api.ListHostedZonesByNameInput{MaxItems: aws.Int32(2)}
	for {
		o, err := f.client.ListHostedZonesByName(t.Context(), in)
		f.ok(err)
		for _, z := range o.HostedZones {
			names = append(names, *z.Name)
		}
		if !o.IsTruncated {
			break
		}
		in.DNSName, in.HostedZoneId = o.NextDNSName, o.NextHostedZoneId
	}
	if want := []string{"b.com.", "example.com.", "a.example.com.", "z.com.", "a.org."}; !slices.Equal(names, want) {
		t.Errorf("zones are %v, want %v", names, want)
	}
	p := api.NewListHostedZonesPaginator(f.client, &api.ListHostedZonesInput{MaxItems: aws.Int32(2)})
	count := 0
	for p.HasMorePages() {
		o, err := p.NextPage(t.Context())
		f.ok(err)
		count += len(o.HostedZones)
	}
	if count != 5 {
		t.Errorf("%d zones on all pages, want 5", count)
	}
}

// Records are listed by their labels from the right, then by type and set.
func TestRecordsInOrder(t *testing.T) {
	f := newFixture(t)
	txt := types.ResourceRecordSet{Name: aws.String("w." + zoneName), Type: types.RRTypeTxt, TTL: aws.Int64(5), ResourceRecords: []types.ResourceRecord{{Value: aws.String(`"x"`)}}}
	p, s := address("db.w."+zoneName, "10.0.0.1"), address("db.w."+zoneName, "10.0.0.2")
	p.Failover, p.SetIdentifier = types.ResourceRecordSetFailoverPrimary, aws.String("z")
	s.Failover, s.SetIdentifier = types.ResourceRecordSetFailoverSecondary, aws.String("a")
	f.create(txt, p, s, address("w."+zoneName, "10.0.0.1"), address("*.w."+zoneName, "10.0.0.9"), address("a."+zoneName, "10.0.0.1"))
	var got []string
	in := &api.ListResourceRecordSetsInput{HostedZoneId: &f.zone, MaxItems: aws.Int32(3)}
	for {
		o, err := f.client.ListResourceRecordSets(t.Context(), in)
		f.ok(err)
		for _, r := range o.ResourceRecordSets {
			got = append(got, fmt.Sprintf("%s %s %s", *r.Name, r.Type, aws.ToString(r.SetIdentifier)))
		}
		if !o.IsTruncated {
			break
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = o.NextRecordName, o.NextRecordType, o.NextRecordIdentifier
	}
	want := []string{
		"example.com. NS ", "example.com. SOA ", "a.example.com. A ", "w.example.com. A ", "w.example.com. TXT ",
		`\052.w.example.com. A `, "db.w.example.com. A a", "db.w.example.com. A z",
	}
	if !slices.Equal(got, want) {
		t.Errorf("records are\n%q, want\n%q", got, want)
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"Example.COM": "example.com.", "example.com.": "example.com.", "*.example.com": `\052.example.com.`, `\052.example.com`: `\052.example.com.`,
		"a_b-c.d": "a_b-c.d.", "a b": `a\040b.`, `a\9`: `a\1349.`, "": ".",
	} {
		if got := normalize(in); got != want {
			t.Errorf("normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	f := newFixture(t)
	id := f.checkThatIs("healthy")
	for kind, resource := range map[types.TagResourceType]*string{types.TagResourceTypeHealthcheck: id, types.TagResourceTypeHostedzone: aws.String(bare(f.zone))} {
		_, err := f.client.ChangeTagsForResource(t.Context(), &api.ChangeTagsForResourceInput{ResourceType: kind, ResourceId: resource, AddTags: []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("")}}})
		f.ok(err)
		_, err = f.client.ChangeTagsForResource(t.Context(), &api.ChangeTagsForResourceInput{ResourceType: kind, ResourceId: resource, RemoveTagKeys: []string{"b"}, AddTags: []types.Tag{{Key: aws.String("c"), Value: aws.String("3")}}})
		f.ok(err)
		o, err := f.client.ListTagsForResource(t.Context(), &api.ListTagsForResourceInput{ResourceType: kind, ResourceId: resource})
		f.ok(err)
		many, err := f.client.ListTagsForResources(t.Context(), &api.ListTagsForResourcesInput{ResourceType: kind, ResourceIds: []string{*resource}})
		f.ok(err)
		for _, set := range append(many.ResourceTagSets, *o.ResourceTagSet) {
			if len(set.Tags) != 2 || *set.Tags[0].Key != "a" || *set.Tags[1].Value != "3" || *set.ResourceId != *resource {
				t.Errorf("tags of the %s are %+v", kind, set)
			}
		}
		if tags := f.service.Tags("arn:aws:route53:::" + string(kind) + "/" + *resource); tags["c"] != "3" {
			t.Errorf("tags by ARN are %v", tags)
		}
	}
	_, err := f.client.ListTagsForResource(t.Context(), &api.ListTagsForResourceInput{ResourceType: types.TagResourceTypeHealthcheck, ResourceId: aws.String("none")})
	f.fails(err, "NoSuchHealthCheck")
}
