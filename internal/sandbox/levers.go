package sandbox

import (
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/throttle"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// disturb lets calls, and what happens behind them, meet faults and limits.
func (s *Sandbox) disturb(authorizer *iam.Authorizer, o Options) {
	levers := fault.Levers{Instances: s.EC2, Machines: s.Hosts, Network: s.Hosts.Fabric(), Replication: replication{s.DynamoDB}}
	s.book = fault.New(s.World.Clock, levers, fault.Scene{Resources: authorizer.Resources, Caller: s.whereabouts})
	s.Faults, s.World.Faults = s.book, s.book
	if o.Disturb != nil {
		s.World.Faults = o.Disturb(s.book)
	}
	s.Throttling = throttle.New(s.World.Clock)
	s.Throttling.Switch(o.Throttled)
	s.Server.Intercept(s.book.Intercept)
	s.Server.Intercept(s.Throttling.Intercept)
}

// whereabouts tells where a caller is, by the credentials that its host or its
// function was given: hosts name their sessions by instance. Whoever else calls
// is outside of AWS.
func (s *Sandbox) whereabouts(c wire.Caller) fault.Place {
	if c.RoleARN == "" {
		return fault.Place{}
	}
	session := c.ARN[strings.LastIndex(c.ARN, "/")+1:]
	if region, zone, ok := s.EC2.Placement(session); ok {
		return fault.Place{Region: region, Zone: zone, Instance: session}
	}
	return fault.Place{Region: s.functions.region(c.AccessKey)}
}

// replication are DynamoDB's levers.
type replication struct{ *dynamodb.DynamoDB }

// SetReplicationLag implements fault.Replication.
func (r replication) SetReplicationLag(d time.Duration) {
	if d < 0 {
		d = dynamodb.DefaultReplicationLag
	}
	r.DynamoDB.SetReplicationLag(d)
}
