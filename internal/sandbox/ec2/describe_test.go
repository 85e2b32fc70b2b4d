package ec2

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func filters(pairs ...string) []types.Filter {
	var all []types.Filter
	for _, p := range pairs {
		name, values, _ := strings.Cut(p, "=")
		all = append(all, types.Filter{Name: &name, Values: strings.Split(values, ",")})
	}
	return all
}

func TestInstanceFilters(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		named := func(name string) func(*ec2.RunInstancesInput) {
			return func(in *ec2.RunInstancesInput) {
				in.TagSpecifications = []types.TagSpecification{{ResourceType: "instance", Tags: []types.Tag{{Key: aws.String("Name"), Value: &name}, {Key: aws.String("cluster"), Value: aws.String("c1")}}}}
			}
		}
		a, b := c.launch(0, named("db2-a")), c.launch(1, named("db2-b"))
		for _, tt := range []struct {
			filters []types.Filter
			want    []string
		}{
			{filters("tag:Name=db2-a", "instance-state-name=running"), []string{a}},
			{filters("tag:cluster=c1"), []string{a, b}},
			{filters("tag:cluster=c1", "instance-state-name=stopped"), nil},
			{filters("tag:Name=db2-?"), []string{a, b}},
			{filters("tag:Name=*-b,nonsense"), []string{b}},
			{filters("tag-key=cluster", "subnet-id="+c.subnets[1]), []string{b}},
			{filters("instance-id="+a+","+b, "subnet-id="+c.subnets[1]), []string{b}},
			{filters("network-interface.network-interface-id=" + c.eni(a)), []string{a}},
			{filters("iam-instance-profile.arn=*:instance-profile/db"), []string{a, b}},
		} {
			var got []string
			for _, r := range must(c.DescribeInstances(c.req, &ec2.DescribeInstancesInput{Filters: tt.filters})).Reservations {
				for _, i := range r.Instances {
					got = append(got, *i.InstanceId)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s=%v (-want +got):\n%s", *tt.filters[0].Name, tt.filters[0].Values, diff)
			}
		}
		_, err := c.DescribeInstances(c.req, &ec2.DescribeInstancesInput{Filters: filters("no-such-filter=1")})
		wantCode(t, err, "InvalidParameterValue")
	})
}

func TestPagesHoldEverythingOnce(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		for range 3 {
			c.launch(0, func(in *ec2.RunInstancesInput) { in.MinCount, in.MaxCount = aws.Int32(4), aws.Int32(4) })
		}
		got := map[string]int{}
		in := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(5)}
		pages := 0
		for ; pages == 0 || in.NextToken != nil; pages++ {
			o := must(c.DescribeInstances(c.req, in))
			for _, r := range o.Reservations {
				for _, i := range r.Instances {
					got[*i.InstanceId]++
				}
			}
			in.NextToken = o.NextToken
		}
		for id, n := range got {
			if n != 1 {
				t.Errorf("%s was listed %d times", id, n)
			}
		}
		if len(got) != 12 || pages != 3 {
			t.Errorf("%d instances on %d pages, want 12 on 3", len(got), pages)
		}
		for _, bad := range []*ec2.DescribeInstancesInput{{MaxResults: aws.Int32(4)}, {NextToken: aws.String("nonsense")}} {
			if _, err := c.DescribeInstances(c.req, bad); err == nil {
				t.Errorf("%v was accepted", bad)
			}
		}
	})
}

// Wildcards mean what the same pattern means as a regular expression.
func TestWildcard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*?]{0,8}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "text")
		re := regexp.MustCompile("^" + strings.NewReplacer("*", ".*", "?", ".").Replace(pattern) + "$")
		if got, want := wildcard(pattern, s), re.MatchString(s); got != want {
			t.Errorf("wildcard(%q, %q) = %t, want %t", pattern, s, got, want)
		}
	})
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{{`a\*b`, "a*b", true}, {`a\*b`, "axb", false}, {`\\`, `\`, true}, {"", "", true}, {"", "x", false}} {
		if got := wildcard(tt.pattern, tt.text); got != tt.want {
			t.Errorf("wildcard(%q, %q) = %t", tt.pattern, tt.text, got)
		}
	}
}

func TestTags(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		tag := func(id, k, v string) error {
			_, err := c.CreateTags(c.req, &ec2.CreateTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: &k, Value: &v}}})
			return err
		}
		roles := func() (v []string) {
			for _, d := range must(c.DescribeTags(c.req, &ec2.DescribeTagsInput{Filters: filters("resource-id="+c.table, "key=role")})).Tags {
				v = append(v, *d.Value+" on "+string(d.ResourceType))
			}
			return v
		}
		for _, v := range []string{"standby", "primary"} {
			if err := tag(c.table, "role", v); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"primary on route-table"}, roles()); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"role": "primary"}, c.TagsOf("eu-west-1", "arn:aws:ec2:eu-west-1:123456789012:route-table/"+c.table)); diff != "" {
			t.Errorf("tags for policies (-want +got):\n%s", diff)
		}
		wantCode(t, tag("i-0123456789abcdef0", "k", "v"), "InvalidInstanceID.NotFound")
		wantCode(t, tag("nonsense", "k", "v"), "InvalidID")
		wantCode(t, tag(c.table, "aws:k", "v"), "InvalidParameterValue")
		wantCode(t, tag(c.table, strings.Repeat("k", 129), "v"), "InvalidParameterValue")
		remove := func(v *string) {
			must(c.DeleteTags(c.req, &ec2.DeleteTagsInput{Resources: []string{c.table}, Tags: []types.Tag{{Key: aws.String("role"), Value: v}}}))
		}
		remove(aws.String("standby")) // another value: kept
		if len(roles()) != 1 {
			t.Error("a tag with another value was removed")
		}
		remove(nil)
		if len(roles()) != 0 {
			t.Error("the tag is still there")
		}
	})
}

func TestZones(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		o := must(c.DescribeAvailabilityZones(c.req, &ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{"eu-west-1b"}}))
		if len(o.AvailabilityZones) != 1 || *o.AvailabilityZones[0].ZoneId != "euw1-az2" {
			t.Errorf("zones: %v", o.AvailabilityZones)
		}
		_, err := c.DescribeAvailabilityZones(c.req, &ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{"us-east-1a"}})
		wantCode(t, err, "InvalidParameterValue")
		if r := must(c.DescribeRegions(c.req, &ec2.DescribeRegionsInput{RegionNames: []string{"eu-central-1"}})).Regions; len(r) != 1 {
			t.Errorf("%d Regions", len(r))
		}
	})
}
