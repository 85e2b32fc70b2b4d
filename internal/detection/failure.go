package detection

import (
	"fmt"
	"math"
	"time"
)

// Failure is what happens to a primary.
type Failure string

// Failures. What is slow counts as failed: a database that answers too late is
// one that hangs.
const (
	Host  Failure = "host"  // the host vanishes: nothing is published or renewed any more
	Hang  Failure = "hang"  // the database hangs; host, agent and processes live
	Crash Failure = "crash" // the database's processes die; host and agent live
)

// Failures are all kinds of failures.
var Failures = []Failure{Host, Hang, Crash}

// ParseFailure reads the name of a failure.
func ParseFailure(name string) (Failure, error) {
	for _, f := range Failures {
		if name == string(f) {
			return f, nil
		}
	}
	return "", fmt.Errorf("failure %q is none of host, hang, crash", name)
}

// Title says what fails, for people.
func (f Failure) Title() string {
	switch f {
	case Host:
		return "The host vanishes"
	case Hang:
		return "The database hangs"
	case Crash:
		return "The database's processes die"
	}
	return string(f)
}

// Never is the time of what is not seen at all.
const Never = time.Duration(math.MaxInt64)
