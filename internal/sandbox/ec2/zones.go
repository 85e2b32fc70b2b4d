package ec2

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// zoneIDs are the Regions that are enabled by default, with the prefix of
// their zones' identifiers.
// https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
var zoneIDs = map[string]string{
	"ap-northeast-1": "apne1", "ap-northeast-2": "apne2", "ap-northeast-3": "apne3",
	"ap-south-1": "aps1", "ap-southeast-1": "apse1", "ap-southeast-2": "apse2",
	"ca-central-1": "cac1", "eu-central-1": "euc1", "eu-north-1": "eun1",
	"eu-west-1": "euw1", "eu-west-2": "euw2", "eu-west-3": "euw3", "sa-east-1": "sae1",
	"us-east-1": "use1", "us-east-2": "use2", "us-west-1": "usw1", "us-west-2": "usw2",
}

// zones are the letters of every Region's zones in the sandbox.
const zones = "abc"

func zoneID(region, zone string) string {
	prefix, ok := zoneIDs[region]
	if !ok {
		prefix = region
	}
	return prefix + "-az" + strconv.Itoa(int(zone[len(zone)-1]-'a')+1)
}

func validZone(region, zone string) bool {
	for _, letter := range zones {
		if zone == region+string(letter) {
			return true
		}
	}
	return false
}

// DescribeRegions lists the Regions that are enabled by default.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html
func (e *EC2) DescribeRegions(r *wire.Request, in *ec2.DescribeRegionsInput) (*ec2.DescribeRegionsOutput, error) {
	for _, name := range in.RegionNames {
		if _, ok := zoneIDs[name]; !ok {
			return nil, invalidValue("regionName", name, "No such Region.")
		}
	}
	out := &ec2.DescribeRegionsOutput{}
	for _, name := range slices.Sorted(maps.Keys(zoneIDs)) {
		endpoint := "ec2." + name + ".amazonaws.com"
		ok, err := matches(in.Filters, attributes{"region-name": {name}, "endpoint": {endpoint}, "opt-in-status": {"opt-in-not-required"}}, nil)
		if err != nil {
			return nil, err
		}
		if ok && (len(in.RegionNames) == 0 || slices.Contains(in.RegionNames, name)) {
			out.Regions = append(out.Regions, types.Region{RegionName: aws.String(name), Endpoint: aws.String(endpoint), OptInStatus: aws.String("opt-in-not-required")})
		}
	}
	return out, nil
}

// DescribeAvailabilityZones lists the zones of the Region.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html
func (e *EC2) DescribeAvailabilityZones(r *wire.Request, in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	for _, name := range in.ZoneNames {
		if !validZone(r.Region, name) {
			return nil, invalidValue("ZoneName", name, "No such zone in "+r.Region+".")
		}
	}
	out := &ec2.DescribeAvailabilityZonesOutput{}
	for _, letter := range zones {
		name := r.Region + string(letter)
		id := zoneID(r.Region, name)
		ok, err := matches(in.Filters, attributes{
			"region-name": {r.Region}, "zone-name": {name}, "zone-id": {id}, "zone-type": {"availability-zone"}, "group-name": {r.Region},
			"state": {"available"}, "opt-in-status": {"opt-in-not-required"},
		}, nil)
		if err != nil {
			return nil, err
		}
		if !ok || len(in.ZoneNames) > 0 && !slices.Contains(in.ZoneNames, name) || len(in.ZoneIds) > 0 && !slices.Contains(in.ZoneIds, id) {
			continue
		}
		out.AvailabilityZones = append(out.AvailabilityZones, types.AvailabilityZone{
			ZoneName: aws.String(name), ZoneId: aws.String(id), ZoneType: aws.String("availability-zone"),
			RegionName: aws.String(r.Region), GroupName: aws.String(r.Region), NetworkBorderGroup: aws.String(r.Region),
			State: types.AvailabilityZoneStateAvailable, OptInStatus: types.AvailabilityZoneOptInStatusOptInNotRequired,
		})
	}
	return out, nil
}
