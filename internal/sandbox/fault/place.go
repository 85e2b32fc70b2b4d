package fault

import "fmt"

// Place is where something is: an instance in a zone, an endpoint in a Region.
// The zero value is outside of AWS.
type Place struct{ Region, Zone, Instance string }

// parsePlace reads the name of a Region, a zone or an instance.
func parsePlace(name string) (Place, error) {
	switch {
	case instanceID.MatchString(name):
		return Place{Instance: name}, nil
	case regionName.MatchString(name):
		return Place{Region: name}, nil
	}
	if m := zoneName.FindStringSubmatch(name); m != nil {
		return Place{Region: m[1], Zone: name}, nil
	}
	return Place{}, fmt.Errorf("%q is neither a Region, such as eu-central-1, nor an Availability Zone, such as eu-central-1a, nor an instance, such as i-0123456789abcdef0", name)
}

// holds reports whether q is in p.
func (p Place) holds(q Place) bool {
	return p != Place{} && (p.Instance == "" || p.Instance == q.Instance) &&
		(p.Zone == "" || p.Zone == q.Zone) && (p.Region == "" || p.Region == q.Region)
}

// endpoint reports whether p is no host: a service answers there.
func (p Place) endpoint() bool { return p.Region != "" && p.Zone == "" && p.Instance == "" }

// Endpoints, as the peer of a cut, are the services of AWS alone: hosts reach
// each other.
const Endpoints = "endpoints"

// gap is a cut between a place and another one, the endpoints of AWS, or
// everything else.
type gap struct {
	place, peer Place
	everything  bool
	endpoints   bool
	direction   Direction
}

func (f Fault) gap() gap {
	g := gap{everything: f.Peer == "", endpoints: f.Peer == Endpoints, direction: f.Direction}
	g.place, _ = parsePlace(f.Place) // checked
	g.peer, _ = parsePlace(f.Peer)
	return g
}

// loses reports whether what from sends to to is lost.
func (g gap) loses(from, to Place) bool {
	return g.direction != In && g.place.holds(from) && g.beyond(to) ||
		g.direction != Out && g.place.holds(to) && g.beyond(from)
}

// beyond reports whether a place is on the other side.
func (g gap) beyond(p Place) bool {
	switch {
	case g.everything:
		return !g.place.holds(p)
	case g.endpoints:
		return p.endpoint()
	}
	return g.peer.holds(p) && !g.place.holds(p)
}
