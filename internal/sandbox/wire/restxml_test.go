package wire_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// TestRestXML: Route 53's client speaks XML both ways, with lists in lists,
// labels, parameters and a header.
func TestRestXML(t *testing.T) {
	svc := &wire.Service{Name: "route53", Default: wire.RestXML, Namespace: "https://route53.amazonaws.com/doc/2013-04-01/"}
	var changed *route53.ChangeResourceRecordSetsInput
	var listed *route53.ListResourceRecordSetsInput
	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	records := []types.ResourceRecordSet{
		{Name: aws.String("a.example."), Type: types.RRTypeTxt, TTL: aws.Int64(0), ResourceRecords: []types.ResourceRecord{{Value: aws.String(`"<&>"`)}, {Value: aws.String(nasty)}}},
		{Name: aws.String("b.example."), Type: types.RRTypeA, Failover: types.ResourceRecordSetFailoverPrimary, SetIdentifier: aws.String("p"), AliasTarget: &types.AliasTarget{DNSName: aws.String("a."), HostedZoneId: aws.String("Z1")}},
	}
	wire.HandleRoute(svc, "ChangeResourceRecordSets", wire.Route{Method: "POST", Path: "/2013-04-01/hostedzone/{HostedZoneId}/rrset"}, func(_ *wire.Request, in *route53.ChangeResourceRecordSetsInput) (*route53.ChangeResourceRecordSetsOutput, error) {
		changed = in
		return &route53.ChangeResourceRecordSetsOutput{ChangeInfo: &types.ChangeInfo{Id: aws.String("/change/C1"), Status: types.ChangeStatusPending, SubmittedAt: &at}}, nil
	})
	wire.HandleRoute(svc, "ListResourceRecordSets", wire.Route{Method: "GET", Path: "/2013-04-01/hostedzone/{HostedZoneId}/rrset", Query: map[string]string{"name": "StartRecordName", "type": "StartRecordType", "maxitems": "MaxItems"}}, func(_ *wire.Request, in *route53.ListResourceRecordSetsInput) (*route53.ListResourceRecordSetsOutput, error) {
		listed = in
		return &route53.ListResourceRecordSetsOutput{ResourceRecordSets: records, MaxItems: aws.Int32(2)}, nil
	})
	wire.HandleRoute(svc, "CreateHealthCheck", wire.Route{Method: "POST", Path: "/2013-04-01/healthcheck", Status: 201, Header: map[string]string{"Location": "Location"}}, func(_ *wire.Request, in *route53.CreateHealthCheckInput) (*route53.CreateHealthCheckOutput, error) {
		return &route53.CreateHealthCheckOutput{Location: aws.String("https://route53/1"), HealthCheck: &types.HealthCheck{Id: aws.String("1"), CallerReference: in.CallerReference, HealthCheckVersion: aws.Int64(1), HealthCheckConfig: in.HealthCheckConfig}}, nil
	})
	wire.HandleRoute(svc, "TestDNSAnswer", wire.Route{Method: "GET", Path: "/2013-04-01/testdnsanswer"}, func(*wire.Request, *route53.TestDNSAnswerInput) (*route53.TestDNSAnswerOutput, error) {
		return &route53.TestDNSAnswerOutput{RecordData: []string{"10.0.0.1", "10.0.0.2"}}, nil
	})
	wire.HandleRoute(svc, "GetHostedZone", wire.Route{Method: "GET", Path: "/2013-04-01/hostedzone/{Id}"}, func(_ *wire.Request, in *route53.GetHostedZoneInput) (*route53.GetHostedZoneOutput, error) {
		return nil, wire.Errorf("NoSuchHostedZone", "No hosted zone found with ID: %s %s", *in.Id, nasty).WithStatus(404)
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := route53.NewFromConfig(cfg)

	change := &route53.ChangeResourceRecordSetsInput{HostedZoneId: aws.String("Z1"), ChangeBatch: &types.ChangeBatch{Comment: aws.String(nasty), Changes: []types.Change{
		{Action: types.ChangeActionDelete, ResourceRecordSet: &records[0]}, {Action: types.ChangeActionCreate, ResourceRecordSet: &records[1]}}}}
	o := must[*route53.ChangeResourceRecordSetsOutput](t)(c.ChangeResourceRecordSets(ctx, change))
	if diff := cmp.Diff(change, changed, ignoreSDK()); diff != "" {
		t.Errorf("ChangeResourceRecordSets input (-sent +received):\n%s", diff)
	}
	if o.ChangeInfo.Status != types.ChangeStatusPending || !o.ChangeInfo.SubmittedAt.Equal(at) {
		t.Errorf("ChangeInfo is %+v", o.ChangeInfo)
	}
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: aws.String("Z1"), StartRecordName: aws.String("a b"), StartRecordType: types.RRTypeA, MaxItems: aws.Int32(7)}
	l := must[*route53.ListResourceRecordSetsOutput](t)(c.ListResourceRecordSets(ctx, in))
	if diff := cmp.Diff(in, listed, ignoreSDK()); diff != "" {
		t.Errorf("ListResourceRecordSets input (-sent +received):\n%s", diff)
	}
	if diff := cmp.Diff(records, l.ResourceRecordSets, ignoreSDK()); diff != "" || l.IsTruncated {
		t.Errorf("records (-sent +received):\n%s", diff)
	}
	check := &route53.CreateHealthCheckInput{CallerReference: aws.String("r"), HealthCheckConfig: &types.HealthCheckConfig{Type: types.HealthCheckTypeCalculated, HealthThreshold: aws.Int32(0), Inverted: aws.Bool(true), ChildHealthChecks: []string{"x", "y"}, Regions: []types.HealthCheckRegion{types.HealthCheckRegionEuWest1}}}
	h := must[*route53.CreateHealthCheckOutput](t)(c.CreateHealthCheck(ctx, check))
	if diff := cmp.Diff(check.HealthCheckConfig, h.HealthCheck.HealthCheckConfig, ignoreSDK()); diff != "" || aws.ToString(h.Location) != "https://route53/1" {
		t.Errorf("health check at %q (-sent +received):\n%s", aws.ToString(h.Location), diff)
	}
	a := must[*route53.TestDNSAnswerOutput](t)(c.TestDNSAnswer(ctx, &route53.TestDNSAnswerInput{HostedZoneId: aws.String("Z1"), RecordName: aws.String("a."), RecordType: types.RRTypeA}))
	if diff := cmp.Diff([]string{"10.0.0.1", "10.0.0.2"}, a.RecordData); diff != "" {
		t.Errorf("record data:\n%s", diff)
	}
	_, err := c.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: aws.String("Z9")})
	var missing *types.NoSuchHostedZone
	if !errors.As(err, &missing) || missing.ErrorMessage() != "No hosted zone found with ID: Z9 "+nasty {
		t.Errorf("GetHostedZone = %v, want NoSuchHostedZone with its message", err)
	}
	_, err = c.GetCheckerIpRanges(ctx, &route53.GetCheckerIpRangesInput{})
	wantCode(t, err, "UnknownOperationException")
}
