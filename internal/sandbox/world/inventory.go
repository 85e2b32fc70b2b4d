package world

// Instance is an EC2 instance as Systems Manager sees it.
type Instance struct {
	Machine
	State string // pending, running, stopping, stopped or shutting-down
}

// Inventory lists the instances of EC2 for other services.
type Inventory interface {
	// Instances returns the instances of an account in a Region that are not
	// terminated, in the order of their launch.
	Instances(region, account string) []Instance
}
