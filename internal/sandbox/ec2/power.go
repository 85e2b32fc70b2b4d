package ec2

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// stop says how a machine is stopped.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Stop_Start.html
type stop struct {
	force    bool // give the operating system only so long
	skipping bool // do not ask the operating system at all
}

// hold keeps the stop of an instance from being finished.
type hold struct {
	powered bool
	release chan struct{}
}

// begin makes work the only transition of an instance. It waits for the end of
// the one before, which it cancels. The lock is held.
func (e *EC2) begin(i *instance, work func(context.Context)) {
	if i.cancel != nil {
		i.cancel()
	}
	ctx, cancel := context.WithCancel(e.ctx)
	before, done := i.done, make(chan struct{})
	i.cancel, i.done = cancel, done
	e.spawn(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		work(ctx)
	})
}

// settle ends a transition, unless another one has begun meanwhile.
func (e *EC2) settle(ctx context.Context, change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ctx.Err() == nil {
		change()
	}
}

// powerOn leads an instance from pending to running. The lock is held.
func (e *EC2) powerOn(reg *region, i *instance) {
	e.become(reg, i, types.InstanceStateNamePending, nil)
	i.transition = ""
	i.launched = e.world.Clock.Now()
	delay := e.delays.Boot
	e.begin(i, func(ctx context.Context) {
		if e.wait(ctx, delay) != nil {
			return
		}
		e.boot(ctx, reg, i)
	})
}

// boot starts the machine. A machine that does not start leaves its instance
// stopped.
func (e *EC2) boot(ctx context.Context, reg *region, i *instance) {
	e.mu.Lock()
	m := reg.machine(i)
	e.mu.Unlock()
	if err := e.world.Hosts.Boot(m); err != nil {
		slog.Error("cannot boot a machine", "instance", i.id, "region", reg.name(), "error", err)
		e.world.Hosts.Off(i.id)
		e.settle(ctx, func() {
			e.become(reg, i, types.InstanceStateNameStopped, because("Server.InternalError", "Internal error on launch: "+err.Error()))
		})
		return
	}
	e.settle(ctx, func() {
		e.become(reg, i, types.InstanceStateNameRunning, nil)
		e.startChecks(reg, i)
	})
}

// powerOff leads an instance through stopping to stopped. The lock is held.
func (e *EC2) powerOff(reg *region, i *instance, how stop) {
	e.become(reg, i, types.InstanceStateNameStopping, because("Client.UserInitiatedShutdown", "User initiated shutdown"))
	i.initiated(e.world.Clock.Now())
	i.checks.stop()
	delays := e.delays
	e.begin(i, func(ctx context.Context) {
		if e.held(ctx, i) != nil {
			return
		}
		if !how.skipping {
			limit := time.Duration(-1)
			if how.force {
				limit = delays.ForceAfter
			}
			if e.shutDown(ctx, i, limit) != nil {
				return
			}
		}
		e.world.Hosts.Off(i.id)
		if e.wait(ctx, delays.Stop) != nil {
			return
		}
		e.settle(ctx, func() { e.become(reg, i, types.InstanceStateNameStopped, i.reason) })
	})
}

// shutDown waits for the operating system's shutdown, at most limit unless it
// is negative. It fails only if the transition is over.
func (e *EC2) shutDown(ctx context.Context, i *instance, limit time.Duration) error {
	bounded := ctx
	if limit >= 0 {
		var cancel context.CancelFunc
		bounded, cancel = clock.WithTimeout(ctx, e.world.Clock, limit)
		defer cancel()
	}
	if err := e.world.Hosts.Shutdown(bounded, i.id); err != nil && ctx.Err() == nil {
		slog.Debug("shutdown of the operating system did not end by itself", "instance", i.id, "error", err)
	}
	return ctx.Err()
}

// destroy leads an instance through shutting-down to terminated, which ends
// its interfaces. The lock is held.
func (e *EC2) destroy(reg *region, i *instance) {
	e.become(reg, i, types.InstanceStateNameShuttingDown, because("Client.UserInitiatedShutdown", "User initiated shutdown"))
	i.initiated(e.world.Clock.Now())
	i.checks.stop()
	if i.hold != nil {
		close(i.hold.release)
		i.hold = nil
	}
	delays := e.delays
	e.begin(i, func(ctx context.Context) {
		if e.shutDown(ctx, i, delays.ForceAfter) != nil {
			return
		}
		e.world.Hosts.Off(i.id)
		if e.wait(ctx, delays.Stop) != nil {
			return
		}
		e.world.Hosts.Destroy(i.id)
		e.settle(ctx, func() {
			for _, f := range reg.attached(i.id) {
				if f.deleteOnTermination {
					reg.forget(f)
				} else {
					f.detach()
				}
			}
			e.become(reg, i, types.InstanceStateNameTerminated, i.reason)
			i.terminated = e.world.Clock.Now()
		})
	})
}

// restart reboots the machine; EC2 shows running all the time. The lock is held.
func (e *EC2) restart(reg *region, i *instance) {
	limit := e.delays.ForceAfter
	e.begin(i, func(ctx context.Context) {
		if e.shutDown(ctx, i, limit) != nil {
			return
		}
		e.world.Hosts.Off(i.id)
		e.mu.Lock()
		m := reg.machine(i)
		e.mu.Unlock()
		if err := e.world.Hosts.Boot(m); err != nil {
			slog.Error("cannot boot a machine after its reboot", "instance", i.id, "region", reg.name(), "error", err)
		}
	})
}

// HoldStopping is a fault: stops of an instance are accepted and then stay at
// stopping until ReleaseStopping, whether forced or not. A powered machine
// goes on working meanwhile, as a real one may while EC2 cannot reach it.
func (e *EC2) HoldStopping(instanceID string, powered bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, i, err := e.instance(instanceID)
	if err != nil {
		return err
	}
	if i.hold == nil {
		i.hold = &hold{powered: powered, release: make(chan struct{})}
	}
	return nil
}

// ReleaseStopping ends the fault; a held stop goes on.
func (e *EC2) ReleaseStopping(instanceID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, i, err := e.instance(instanceID)
	if err != nil {
		return err
	}
	if i.hold != nil {
		close(i.hold.release)
		i.hold = nil
	}
	return nil
}

// held waits while the fault is set.
func (e *EC2) held(ctx context.Context, i *instance) error {
	e.mu.Lock()
	h := i.hold
	e.mu.Unlock()
	if h == nil {
		return nil
	}
	if !h.powered {
		e.world.Hosts.Off(i.id)
	}
	select {
	case <-h.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Vanish is a fault: the machine of an instance loses its power, of which EC2
// knows nothing. It still says running; the next status check fails.
func (e *EC2) Vanish(instanceID string) error {
	e.mu.Lock()
	_, _, err := e.instance(instanceID)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.world.Hosts.Off(instanceID)
	return nil
}

// instance finds an instance in all accounts and Regions. The lock is held.
func (e *EC2) instance(id string) (*region, *instance, error) {
	for _, reg := range e.regions {
		if i, ok := reg.instances.get(id); ok {
			return reg, i, nil
		}
	}
	return nil, nil, kindInstance.unknown(id)
}
