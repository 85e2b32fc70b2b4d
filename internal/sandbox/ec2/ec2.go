// Package ec2 is the sandbox's Amazon EC2: networks, routes, interfaces and
// instances, whose machines are run by world.Hosts.
//
// Every operation is a method from the SDK's input to its output. State is kept
// per account and Region; time is that of the world's clock.
package ec2

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Delays are how long EC2 takes to change an instance's state. A negative
// delay never ends.
type Delays struct {
	Boot time.Duration // pending until the machine is started
	Stop time.Duration // power off until stopped, or terminated
	// ForceAfter is how long a stop with Force, a termination or a reboot waits
	// for the operating system's shutdown. AWS does not publish the time of a
	// stop; a reboot waits four minutes:
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-reboot.html
	ForceAfter time.Duration
}

// DefaultDelays are those of a new service.
var DefaultDelays = Delays{Boot: 8 * time.Second, Stop: 8 * time.Second, ForceAfter: 4 * time.Minute}

// EC2 is the service. Its methods are safe for concurrent use.
type EC2 struct {
	world   *world.World
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex // never held while a port of the world is called, but for Events, which returns at once
	delays  Delays
	regions map[scope]*region
	closed  bool
}

type scope struct{ account, region string }

func (s scope) name() string { return s.region }

func (s scope) arn(resource string) string {
	return "arn:aws:ec2:" + s.region + ":" + s.account + ":" + resource
}

// region is everything of one account in one Region.
type region struct {
	scope
	vpcs       table[*vpc]
	subnets    table[*subnet]
	routes     table[*routeTable]
	groups     table[*group]
	interfaces table[*iface]
	instances  table[*instance]
	tags       map[string]map[string]string // by resource
	launches   map[string]launch            // by client token
}

// New returns an EC2 without any resource.
func New(w *world.World) *EC2 {
	ctx, cancel := context.WithCancel(context.Background())
	return &EC2{world: w, ctx: ctx, cancel: cancel, delays: DefaultDelays, regions: map[scope]*region{}}
}

// Close ends every transition and status check, and waits for them. Machines
// are left as they are.
func (e *EC2) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.running.Wait()
}

// SetDelays changes how long the state changes that begin from now on take.
func (e *EC2) SetDelays(d Delays) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.delays = d
}

// enter locks the service and returns what belongs to the caller's account in
// the Region of the call.
func (e *EC2) enter(r *wire.Request) *region {
	e.mu.Lock()
	return e.region(scope{account: r.Account, region: r.Region})
}

func (e *EC2) region(s scope) *region {
	reg, ok := e.regions[s]
	if !ok {
		reg = &region{scope: s, tags: map[string]map[string]string{}, launches: map[string]launch{}}
		e.regions[s] = reg
	}
	return reg
}

// spawn runs f until it returns; Close waits for it. The lock is held.
func (e *EC2) spawn(f func()) {
	if !e.closed {
		e.running.Go(f)
	}
}

// wait sleeps on the world's clock; a negative time never ends.
func (e *EC2) wait(ctx context.Context, d time.Duration) error {
	if d < 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return e.world.Clock.Sleep(ctx, d)
}

// handle registers an operation. Reading operations answer a dry run by
// themselves; changing ones do so after they have checked their input. The state
// of an instance is no part of that: a dry run asks for the permission alone.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StopInstances.html
func handle[In, Out any](s *wire.Service, name string, f func(*wire.Request, *In) (*Out, error)) {
	wire.Handle(s, name, nil, nil, func(r *wire.Request, in *In) (*Out, error) {
		if strings.HasPrefix(name, "Describe") {
			if flag, ok := reflect.ValueOf(in).Elem().FieldByName("DryRun").Interface().(*bool); ok {
				if err := dryRun(flag); err != nil {
					return nil, err
				}
			}
		}
		return f(r, in)
	})
}
