package fault

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Levers are what faults pull in the world. Nil ones do not exist.
type Levers struct {
	Instances   Instances
	Machines    Machines
	Network     Network
	Replication Replication
}

// Instances are EC2's levers. Their methods fail for an instance that does not
// exist.
type Instances interface {
	HoldStopping(instanceID string, powered bool) error
	ReleaseStopping(instanceID string) error
	Vanish(instanceID string) error
	Placement(instanceID string) (region, zone string, ok bool)
}

// Machines are the levers of the hosts.
type Machines interface {
	Freeze(instanceID string, processes ...string)
	Thaw(instanceID string, processes ...string)
	KillProcess(instanceID, name string) int
	HangSQL(ctx context.Context, instanceID string, on bool) error
	SlowSQL(ctx context.Context, instanceID string, d time.Duration) error
	FillLogDevice(ctx context.Context, instanceID string, full bool) error
	ClockOffset(instanceID string, d time.Duration) error
}

// Network takes obstacles, by name: lost is asked whether a packet from one
// instance to another is lost; "" is outside.
type Network interface {
	Obstruct(name string, lost func(from, to string) bool)
	Clear(name string)
}

// Replication are the levers of global tables. A negative lag is the usual one.
type Replication interface {
	Isolate(region string, cut bool)
	SetReplicationLag(d time.Duration)
}

// pull puts a fault into force and returns how to end it, nil if it is a deed
// that has no end.
type pull func(ctx context.Context, b *Book, e *entry) (undo func(), err error)

// pulls are the faults that need more than being looked up. They run under
// b.pulling.
var pulls = map[Kind]pull{
	Cut:            pullCut,
	ReplicationLag: pullReplicationLag,
	StuckStopping: onInstance(func(_ context.Context, b *Book, e *entry) (func(), error) {
		id := e.Instance
		return func() { _ = b.levers.Instances.ReleaseStopping(id) }, b.levers.Instances.HoldStopping(id, e.Powered) // terminated meanwhile: nothing to release
	}),
	PowerLoss: onInstance(func(_ context.Context, b *Book, e *entry) (func(), error) {
		return nil, b.levers.Instances.Vanish(e.Instance)
	}),
	Freeze: onInstance(func(_ context.Context, b *Book, e *entry) (func(), error) {
		var processes []string
		if e.Process != "" {
			processes = []string{e.Process}
		}
		b.levers.Machines.Freeze(e.Instance, processes...)
		return func() { b.levers.Machines.Thaw(e.Instance, processes...) }, nil
	}),
	KillProcess: onInstance(func(_ context.Context, b *Book, e *entry) (func(), error) {
		n := b.levers.Machines.KillProcess(e.Instance, e.Process)
		if n == 0 {
			return nil, invalid("process", "no process %s runs on %s", e.Process, e.Instance)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		e.Hits = n
		return nil, nil
	}),
	HangSQL: onInstance(func(ctx context.Context, b *Book, e *entry) (func(), error) {
		return func() { _ = b.levers.Machines.HangSQL(b.ctx, e.Instance, false) }, b.levers.Machines.HangSQL(ctx, e.Instance, true) // powered off meanwhile: it no longer hangs
	}),
	SlowSQL: onInstance(func(ctx context.Context, b *Book, e *entry) (func(), error) {
		return func() { _ = b.levers.Machines.SlowSQL(b.ctx, e.Instance, 0) }, b.levers.Machines.SlowSQL(ctx, e.Instance, time.Duration(e.Delay)) // likewise
	}),
	FullLogDevice: onInstance(func(ctx context.Context, b *Book, e *entry) (func(), error) {
		return func() { _ = b.levers.Machines.FillLogDevice(b.ctx, e.Instance, false) }, b.levers.Machines.FillLogDevice(ctx, e.Instance, true) // likewise
	}),
	ClockOffset: onInstance(func(_ context.Context, b *Book, e *entry) (func(), error) {
		return func() { _ = b.levers.Machines.ClockOffset(e.Instance, 0) }, b.levers.Machines.ClockOffset(e.Instance, time.Duration(e.Delay)) // destroyed meanwhile
	}),
	AgentOffline: onInstance(func(context.Context, *Book, *entry) (func(), error) { return func() {}, nil }),
}

// onInstance refuses instances that do not exist, and a second fault of the
// same kind for the same one: the end of either would end both.
func onInstance(p pull) pull {
	return func(ctx context.Context, b *Book, e *entry) (func(), error) {
		if b.levers.Instances == nil || b.levers.Machines == nil {
			return nil, fmt.Errorf("this sandbox has no instances")
		}
		if _, _, ok := b.levers.Instances.Placement(e.Instance); !ok {
			return nil, invalid("instance", "there is no instance %s", e.Instance)
		}
		b.mu.Lock()
		i := slices.IndexFunc(b.inForce, func(x *entry) bool { return x != e && x.Kind == e.Kind && x.Instance == e.Instance })
		other := ""
		if i >= 0 {
			other = b.inForce[i].ID
		}
		b.mu.Unlock()
		if other != "" {
			return nil, invalid("instance", "%s is in force for %s already, as %s: remove that first", e.Kind, e.Instance, other)
		}
		return p(ctx, b, e)
	}
}

// pullCut lets packets, and the replication of a Region that is cut off from
// everything, meet the cut. Calls and agents look it up.
func pullCut(_ context.Context, b *Book, e *entry) (func(), error) {
	g := e.gap()
	if b.levers.Network != nil {
		b.levers.Network.Obstruct(e.ID, func(from, to string) bool { return g.loses(b.place(from), b.place(to)) })
	}
	region := ""
	if g.everything && g.place.Zone == "" {
		region = g.place.Region
	}
	if region != "" && b.levers.Replication != nil {
		b.levers.Replication.Isolate(region, true)
	}
	return func() {
		if b.levers.Network != nil {
			b.levers.Network.Clear(e.ID)
		}
		if region != "" && b.levers.Replication != nil && !b.isolated(region) {
			b.levers.Replication.Isolate(region, false)
		}
	}, nil
}

// isolated reports whether a cut around a whole Region is in force.
func (b *Book) isolated(region string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.inForce, func(e *entry) bool { return e.Kind == Cut && e.Place == region && e.Peer == "" })
}

// pullReplicationLag sets the lag of the newest such fault.
func pullReplicationLag(_ context.Context, b *Book, _ *entry) (func(), error) {
	if b.levers.Replication == nil {
		return nil, fmt.Errorf("this sandbox has no global tables")
	}
	b.setLag()
	return b.setLag, nil
}

func (b *Book) setLag() {
	lag := time.Duration(-1)
	b.mu.Lock()
	for _, e := range b.inForce {
		if e.Kind == ReplicationLag {
			lag = time.Duration(e.Delay)
		}
	}
	b.mu.Unlock()
	b.levers.Replication.SetReplicationLag(lag)
}
