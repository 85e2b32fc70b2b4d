package world

import "time"

// Event is something that one service sends to another in the background.
type Event struct {
	Service string // signing name of the sender: lambda for its queue of asynchronous invocations, monitoring, sns, events or scheduler
	Region  string
	Account string
	Source  string // ARN of what sends it, such as an alarm; "" where the sender does not know
	Target  string // ARN
}

// Delivery is a command of Systems Manager on its way to an agent.
type Delivery struct {
	Region, Account      string
	InstanceID, Document string
}

// Faults disturbs what happens behind the services' APIs. Its methods call no
// port of the world but for the clock; they may be called under a service's
// lock.
type Faults interface {
	// Carry calls deliver as often and as late as an event arrives.
	Carry(e Event, deliver func())
	// CommandDelay is how much later than usual a command reaches its agent.
	CommandDelay(d Delivery) time.Duration
	// CutOff reports whether an instance and the endpoints of its Region do not
	// reach each other.
	CutOff(instanceID string) bool
	// AgentOffline reports whether the SSM agent of an instance is silent, as it
	// is on an instance that is cut off.
	AgentOffline(instanceID string) bool
	// RouteLag is how long a change of a route table is not yet seen by those who
	// describe the table, and by packets.
	RouteLag(region, account, table string) (described, routed time.Duration)
}

// Undisturbed is a world without faults.
type Undisturbed struct{}

// Carry implements Faults.
func (Undisturbed) Carry(_ Event, deliver func()) { deliver() }

// CommandDelay implements Faults.
func (Undisturbed) CommandDelay(Delivery) time.Duration { return 0 }

// CutOff implements Faults.
func (Undisturbed) CutOff(string) bool { return false }

// AgentOffline implements Faults.
func (Undisturbed) AgentOffline(string) bool { return false }

// RouteLag implements Faults.
func (Undisturbed) RouteLag(string, string, string) (described, routed time.Duration) { return 0, 0 }
