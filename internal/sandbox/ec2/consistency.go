package ec2

import (
	"slices"
	"time"
)

// lagging are the former routes of a table that are still seen, oldest first:
// EC2's API is eventually consistent.
// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
type lagging []former

type former struct {
	until  time.Time
	routes []route
}

// see returns the routes that are seen at a moment instead of the present ones.
func (l lagging) see(present []route, now time.Time) []route {
	for _, f := range l {
		if now.Before(f.until) {
			return f.routes
		}
	}
	return present
}

// keep lets routes be seen for some time still.
func (l *lagging) keep(routes []route, now time.Time, lag time.Duration) {
	*l = slices.DeleteFunc(*l, func(f former) bool { return !now.Before(f.until) })
	if lag > 0 {
		*l = append(*l, former{now.Add(lag), routes})
	}
}

// reroute gives a table other routes, of which some may hear later. The lock is
// held.
func (e *EC2) reroute(reg *region, t *routeTable, routes []route) {
	now := e.world.Clock.Now()
	described, routed := e.world.Faults.RouteLag(reg.region, reg.account, t.id)
	t.described.keep(t.routes, now, described)
	t.routed.keep(t.routes, now, routed)
	t.routes = routes
}

// Placement returns the Region and the Availability Zone of an instance.
func (e *EC2) Placement(instanceID string) (regionName, zone string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	reg, i, err := e.instance(instanceID)
	if err != nil {
		return "", "", false
	}
	return reg.region, i.zone, true
}
