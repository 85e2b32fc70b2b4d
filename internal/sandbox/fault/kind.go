package fault

import (
	"cmp"
	"slices"
)

// Kind names what goes wrong.
type Kind string

// The kinds of faults.
const (
	// Of calls of the API.
	Throttle Kind = "throttle"
	Denied   Kind = "denied"
	Failure  Kind = "error"
	Lost     Kind = "lost"
	Latency  Kind = "latency"
	// Of events between services.
	Late      Kind = "late"
	Duplicate Kind = "duplicate"
	Reorder   Kind = "reorder"
	// Of Systems Manager.
	CommandDelay Kind = "command-delay"
	AgentOffline Kind = "agent-offline"
	// Of the network.
	Cut            Kind = "cut"
	StaleRoutes    Kind = "stale-routes"
	ReplicationLag Kind = "replication-lag"
	// Of instances and what runs on them.
	StuckStopping Kind = "stuck-stopping"
	PowerLoss     Kind = "power-loss"
	Freeze        Kind = "freeze"
	KillProcess   Kind = "kill-process"
	HangSQL       Kind = "hang-sql"
	SlowSQL       Kind = "slow-sql"
	FullLogDevice Kind = "full-log-device"
	ClockOffset   Kind = "clock-offset"
)

// About describes a kind of fault.
type About struct {
	Kind  Kind     `json:"kind"`
	Says  string   `json:"says"`
	Needs []string `json:"needs,omitempty"` // fields, by their names in JSON
	Takes []string `json:"takes,omitempty"` // further ones
}

var (
	lasting = []string{"until", "for"}
	counted = append([]string{"count", "probability", "seed"}, lasting...)
	calls   = append([]string{"service", "operation", "region", "account", "role", "resource"}, counted...)
	events  = append([]string{"service", "region", "account", "resource"}, counted...)
)

func with(fields []string, more ...string) []string { return append(slices.Clone(more), fields...) }

// kinds is the one list of what there is.
var kinds = map[Kind]About{
	Throttle: {Says: "calls are refused as too many, with the service's own code", Takes: with(calls, "code", "status", "message")},
	Denied:   {Says: "calls are refused as not allowed, with the service's own code", Takes: calls},
	Failure:  {Says: "calls fail with a server error; with when=after their effect stays", Takes: with(calls, "when", "code", "status", "message")},
	Lost:     {Says: "the connection is closed without an answer; with when=after the effect stays", Takes: with(calls, "when")},
	Latency:  {Says: "calls take longer", Needs: []string{"delay"}, Takes: calls},

	Late:      {Says: "events arrive late", Needs: []string{"delay"}, Takes: events},
	Duplicate: {Says: "events arrive more than once, the copies after a delay", Takes: with(events, "copies", "delay")},
	Reorder:   {Says: "an event arrives after the one that follows it, or after the delay (30s) if none follows", Takes: with(events, "delay")},

	CommandDelay: {Says: "commands of Systems Manager reach their agents late", Needs: []string{"delay"}, Takes: with(counted, "region", "account", "instance", "resource")},
	AgentOffline: {Says: "the SSM agent is silent", Needs: []string{"instance"}, Takes: lasting},

	Cut:            {Says: "a Region, a zone or an instance is cut off from a peer, from the endpoints of AWS, or from everything: packets, API calls and agents", Needs: []string{"place"}, Takes: with(lasting, "peer", "direction")},
	StaleRoutes:    {Says: "changes of a route table are seen late", Needs: []string{"delay"}, Takes: with(counted, "region", "account", "resource", "seen_by")},
	ReplicationLag: {Says: "writes to eventually consistent global tables take so long to the other Regions", Needs: []string{"delay"}, Takes: lasting},

	StuckStopping: {Says: "stops are accepted and stay at stopping; the machine is off, or with powered=true works on", Needs: []string{"instance"}, Takes: with(lasting, "powered")},
	PowerLoss:     {Says: "the machine loses its power, of which EC2 knows nothing; stop and start the instance to end it", Needs: []string{"instance"}},
	Freeze:        {Says: "the machine, or its processes of a name, stands still", Needs: []string{"instance"}, Takes: with(lasting, "process")},
	KillProcess:   {Says: "processes of a name die at once", Needs: []string{"instance", "process"}},
	HangSQL:       {Says: "SQL never answers while HADR stays connected", Needs: []string{"instance"}, Takes: lasting},
	SlowSQL:       {Says: "every SQL statement and commit takes longer", Needs: []string{"instance", "delay"}, Takes: lasting},
	FullLogDevice: {Says: "a standby has no room for the log that it receives, so that its primary's commits wait", Needs: []string{"instance"}, Takes: lasting},
	ClockOffset:   {Says: "the machine's clock is wrong, also backwards", Needs: []string{"instance", "delay"}, Takes: lasting},
}

// Kinds lists all kinds of faults with the fields that they take.
func Kinds() []About {
	var all []About
	for k, a := range kinds {
		a.Kind = k
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b About) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}
