// Package ssm is the sandbox's AWS Systems Manager: documents, Run Command on
// the machines of world.Hosts, managed instances and the parameter store.
//
// Every operation is a method from the SDK's input to its output. State is kept
// per account and Region; time is that of the world's clock.
package ssm

import (
	"context"
	"encoding/base64"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Delays are how long Systems Manager takes. AWS publishes none of them.
type Delays struct {
	Delivery   time.Duration // SendCommand until an agent that is online starts
	Visibility time.Duration // SendCommand until its invocations can be read
}

// DefaultDelays are those of a new service.
var DefaultDelays = Delays{Delivery: 500 * time.Millisecond, Visibility: 300 * time.Millisecond}

// SSM is the service. Its methods are safe for concurrent use.
type SSM struct {
	world   *world.World
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	started sync.Once

	mu      sync.Mutex // never held while a port of the world is called
	delays  Delays
	regions map[scope]*region
	closed  bool
}

type scope struct{ account, region string }

func (s scope) arn(resource string) string {
	return "arn:aws:ssm:" + s.region + ":" + s.account + ":" + resource
}

// region is everything of one account in one Region.
type region struct {
	scope
	documents  map[string]*document
	parameters map[string]*parameter
	agents     map[string]*agent
	commands   []*command // oldest first
	tags       map[tagged]map[string]string
	inventory  map[inventoryKey]inventoryEntry
}

// New returns a Systems Manager with AWS's own documents only.
func New(w *world.World) *SSM {
	ctx, cancel := context.WithCancel(context.Background())
	return &SSM{world: w, ctx: ctx, cancel: cancel, delays: DefaultDelays, regions: map[scope]*region{}}
}

// Start begins to listen to the agents. The world must have its ports. Without
// it, the first request does so.
func (s *SSM) Start() {
	s.started.Do(func() {
		s.survey()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spawn(s.listen)
	})
}

// Close ends every command and waits for that.
func (s *SSM) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
}

// SetDelays changes how long the commands that are sent from now on take.
func (s *SSM) SetDelays(d Delays) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays = d
}

// enter locks the service and returns what belongs to the caller's account in
// the Region of the call.
func (s *SSM) enter(r *wire.Request) *region {
	s.Start()
	s.mu.Lock()
	return s.region(scope{account: r.Account, region: r.Region})
}

func (s *SSM) region(at scope) *region {
	reg, ok := s.regions[at]
	if !ok {
		reg = &region{
			scope: at, documents: map[string]*document{}, parameters: map[string]*parameter{}, agents: map[string]*agent{},
			tags: map[tagged]map[string]string{}, inventory: map[inventoryKey]inventoryEntry{},
		}
		s.regions[at] = reg
	}
	return reg
}

// spawn runs f until it returns; Close waits for it. The lock is held.
func (s *SSM) spawn(f func()) {
	if !s.closed {
		s.running.Go(f)
	}
}

func validation(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationException", format, args...)
}

// page cuts one page out of all results; most is the limit of the operation,
// and its default.
func page[T any](all []T, limit *int32, token *string, most int) ([]T, *string, error) {
	n, start := most, 0
	if limit != nil {
		n = int(*limit)
		if n < 1 || n > most {
			return nil, nil, validation("MaxResults must be between 1 and %d, not %d", most, n)
		}
	}
	if t := aws.ToString(token); t != "" {
		raw, err := base64.RawURLEncoding.DecodeString(t)
		if err == nil {
			start, err = strconv.Atoi(string(raw))
		}
		if err != nil || start < 0 {
			return nil, nil, wire.Errorf("InvalidNextToken", "The token %q is invalid", t)
		}
	}
	start = min(start, len(all))
	end := min(start+n, len(all))
	if end == len(all) {
		return all[start:end], nil, nil
	}
	return all[start:end], aws.String(base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))), nil
}
