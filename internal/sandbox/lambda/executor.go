package lambda

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Executor makes execution environments for functions.
type Executor interface {
	// Start makes an environment and initialises the code in it. An error that
	// is a *Failure is the function's own.
	Start(ctx context.Context, s Spec) (Environment, error)
	// Close ends all environments that are left.
	Close()
}

// Environment runs one event at a time.
type Environment interface {
	// Invoke runs the code with one event and returns its answer. An error that
	// is a *Failure is the function's own. When ctx ends Invoke returns its
	// cause at once; the environment is then stopped, never used again.
	Invoke(ctx context.Context, in Invocation) ([]byte, error)
	// Stop ends the environment and waits until it is gone.
	Stop()
}

// Spec describes an environment.
type Spec struct {
	Function     string // name
	Handler      string
	Architecture string // as Lambda calls it: x86_64 or arm64
	Code         *Code
	Env          map[string]string // all that the code finds in its environment
	Credentials  world.Credentials
	Clock        clock.Clock
	Log          func(line string) // what the code prints
}

// Invocation is one event.
type Invocation struct {
	RequestID     string
	FunctionARN   string // as the caller named it
	Event         []byte
	ClientContext []byte    // JSON, or nil
	Deadline      time.Time // on the world's clock
}

// Failure is an error of a function, in the form in which Lambda reports it.
type Failure struct {
	Type    string // such as Runtime.ExitError, or the type of the error that the handler returned
	Message string
	Payload []byte // what the function reported itself; nil: made of Type and Message
	Fatal   bool   // the environment cannot be used again
}

func (f *Failure) Error() string { return f.Type + ": " + f.Message }

// payload returns the body of the answer.
func (f *Failure) payload() []byte {
	if f.Payload != nil {
		return f.Payload
	}
	b, err := json.Marshal(map[string]string{"errorType": f.Type, "errorMessage": f.Message})
	if err != nil { // strings always marshal
		return []byte("{}")
	}
	return b
}
