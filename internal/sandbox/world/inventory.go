package world

import "time"

// Instance is an EC2 instance as other services see it.
type Instance struct {
	Machine
	State    string // pending, running, stopping, stopped or shutting-down
	Type     string // such as "m5.large"
	Launched time.Time
}

// Inventory lists the instances of EC2 for other services.
type Inventory interface {
	// Instances returns all instances that are not terminated, of all accounts
	// and Regions, in each in the order of their launch.
	Instances() []Instance
}
