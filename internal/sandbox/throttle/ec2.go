package throttle

import (
	"reflect"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// rate is size and refill of a bucket.
type rate struct{ size, refill float64 }

// The categories of operations. Every operation has a bucket of its own.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html#throttling-limits-rate-based
var (
	reading    = rate{100, 20}
	unfiltered = rate{50, 10}
	mutating   = rate{50, 5}
)

// readWhole are the operations that cost more without filter and page. The
// page says nothing of identifiers, so these count as neither.
var readWhole = map[string]bool{
	"DescribeInstances": true, "DescribeInstanceStatus": true, "DescribeNetworkInterfaces": true, "DescribeSecurityGroups": true,
	"DescribeSnapshots": true, "DescribeSpotInstanceRequests": true, "DescribeVolumes": true,
}

// uncategorized are the operations with figures of their own, of those that the
// sandbox serves. AuthorizeSecurityGroupIngress and RevokeSecurityGroupIngress
// are "resource-intensive", which has the figures of mutating.
var uncategorized = map[string]rate{
	"AssignPrivateIpAddresses": {100, 5}, "UnassignPrivateIpAddresses": {100, 5},
	"AssociateIamInstanceProfile": {100, 5}, "DisassociateIamInstanceProfile": {100, 5},
	"CreateNetworkInterface": {100, 5}, "DeleteNetworkInterface": {100, 5}, "ModifyNetworkInterfaceAttribute": {100, 5},
	"CreateTags": {100, 10}, "DeleteTags": {100, 10},
	"ModifyInstanceMetadataOptions": {100, 5},
	"RunInstances":                  {5, 2}, "StartInstances": {5, 2}, "TerminateInstances": {100, 5},
}

// byInstances are the operations that also pay for each instance.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html#throttling-limits-cost-based
var byInstances = map[string]rate{
	"RunInstances": {1000, 2}, "StartInstances": {1000, 2}, "StopInstances": {1000, 20}, "TerminateInstances": {1000, 20},
}

func ec2Limits(r *wire.Request) []limit {
	of, name := mutating, r.Operation
	switch {
	case readWhole[name] && whole(r.Input):
		of, name = unfiltered, name+" unfiltered"
	case reads(name):
		of = reading
	}
	if own, ok := uncategorized[r.Operation]; ok {
		of = own
	}
	limits := []limit{{bucket: name, size: of.size, refill: of.refill, cost: 1}}
	if own, ok := byInstances[r.Operation]; ok {
		limits = append(limits, limit{bucket: r.Operation + " instances", size: own.size, refill: own.refill, cost: instances(r.Input)})
	}
	return limits
}

func reads(operation string) bool {
	for _, verb := range []string{"Describe", "List", "Search", "Get"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// whole reports whether a request has neither filter nor page.
func whole(input any) bool {
	for _, member := range []string{"Filters", "MaxResults", "NextToken"} {
		if f := memberOf(input, member); f.IsValid() && !f.IsZero() {
			return false
		}
	}
	return true
}

// instances is how many instances a request is for.
func instances(input any) float64 {
	if ids := memberOf(input, "InstanceIds"); ids.IsValid() {
		return float64(ids.Len())
	}
	if n, ok := value(memberOf(input, "MaxCount")); ok {
		return float64(n)
	}
	return 1
}

func value(v reflect.Value) (int32, bool) {
	if !v.IsValid() {
		return 0, false
	}
	n, ok := v.Interface().(*int32)
	if !ok || n == nil {
		return 0, false
	}
	return *n, true
}

// memberOf returns a member of an input; invalid if it has none of that name.
func memberOf(input any, name string) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(input))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}
