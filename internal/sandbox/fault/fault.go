// Package fault is what can go wrong in the sandbox: one list of faults that
// tests and the control path set, and that calls, events, commands, packets and
// machines meet.
package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Injector sets faults and takes them away. It is safe for concurrent use.
type Injector interface {
	// Inject puts a fault into force. An Invalid error says what is wrong with
	// the fault; other errors come from the lever that it pulls, such as that of
	// an instance that does not exist.
	Inject(ctx context.Context, f Fault) (Active, error)
	// Remove ends a fault by its ID. It fails with ErrUnknown if there is none,
	// or none any more.
	Remove(id string) error
	// Clear ends all faults.
	Clear()
	// List returns the faults in force, oldest first.
	List() []Active
}

// Fault says what goes wrong, for whom and for how long. Every kind takes some
// of the fields; Kinds tells which.
type Fault struct {
	Kind Kind `json:"kind"`
	Selector
	Limits
	Effect
}

// Selector picks what a fault is for. The fields are patterns with * and ?; an
// empty one picks everything.
type Selector struct {
	Service   string `json:"service,omitempty"`   // name in ARNs or signing name: ec2, cloudwatch or monitoring, ...
	Operation string `json:"operation,omitempty"` // such as ReplaceRoute
	Region    string `json:"region,omitempty"`
	Account   string `json:"account,omitempty"`
	Role      string `json:"role,omitempty"` // name or ARN of the caller's role; "root" for the account itself
	// Resource is an ARN or its end, such as "route-table/rtb-1", "rtb-1" or a
	// table's name: what a call acts on, sender or target of an event, instance
	// or document of a command.
	Resource string `json:"resource,omitempty"`
	Instance string `json:"instance,omitempty"` // identifier
}

// Limits say how often and how long. The zero value is: always.
type Limits struct {
	Count       int       `json:"count,omitempty"`       // for the next so many
	Probability float64   `json:"probability,omitempty"` // of each, above 0 and at most 1
	Seed        uint64    `json:"seed,omitempty"`        // of the random numbers behind Probability
	Until       time.Time `json:"until,omitzero"`        // on the sandbox's clock
	For         Duration  `json:"for,omitempty"`         // the same, counted from the injection
}

// Effect says how things go wrong.
type Effect struct {
	When      When      `json:"when,omitempty"`
	Delay     Duration  `json:"delay,omitempty"`
	Copies    int       `json:"copies,omitempty"` // of an event, 2 by default
	Code      string    `json:"code,omitempty"`   // of an error; the service's own by default
	Status    int       `json:"status,omitempty"` // HTTP
	Message   string    `json:"message,omitempty"`
	SeenBy    SeenBy    `json:"seen_by,omitempty"`
	Place     string    `json:"place,omitempty"` // a Region, a zone, or an instance
	Peer      string    `json:"peer,omitempty"`  // likewise, or endpoints; everything else by default
	Direction Direction `json:"direction,omitempty"`
	Powered   bool      `json:"powered,omitempty"` // the machine works on meanwhile
	Process   string    `json:"process,omitempty"` // name
}

// When is the side of the effect on which a call fails.
type When string

// The sides.
const (
	Before When = "before" // nothing is done; the default
	After  When = "after"  // all is done, the caller does not hear of it
)

// Direction is which way packets are lost.
type Direction string

// The directions, seen from the place that is cut off.
const (
	Both Direction = "both" // the default
	Out  Direction = "out"  // what the place sends is lost
	In   Direction = "in"   // what is sent to the place is lost
)

// SeenBy is who sees a change of routes late.
type SeenBy string

// Those who look at routes.
const (
	Everybody SeenBy = "" // the default
	Describe  SeenBy = "describe"
	Packets   SeenBy = "packets"
)

// Active is a fault in force.
type Active struct {
	ID string `json:"id"`
	Fault
	Since time.Time `json:"since"`
	Hits  int       `json:"hits"` // how often it was met
}

// Duration is a time.Duration that reads and writes itself as "1m30s".
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("%s is no duration: write it as a text with units, such as \"1m30s\"", b)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is no duration: write it with units, such as \"500ms\" or \"1m30s\"", text)
	}
	*d = Duration(v)
	return nil
}
