// Package world is what all services of the sandbox share: clock, account,
// identifiers, and the ports through which one service reaches another.
// Services know only this package and wire; the sandbox connects them.
package world

import (
	"crypto/rand"
	"encoding/hex"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// DefaultAccount owns everything that is called with credentials that the
// sandbox did not issue itself.
const DefaultAccount = "123456789012"

// World is shared by the services of one sandbox. Its ports are set once by
// the sandbox before the first request, and never change.
type World struct {
	Clock    clock.Clock
	Account  string
	Endpoint string // http://127.0.0.1:PORT of the sandbox itself, "" in process

	Identity  Identity  // IAM and STS
	Functions Functions // Lambda
	Metrics   Metrics   // CloudWatch
	Alarms    Alarms    // CloudWatch's alarms, for Route 53
	Logs      Logs      // CloudWatch Logs
	Messages  Messages  // SNS and SQS
	Hosts     Hosts     // machines behind EC2 instances
	Network   Network   // EC2's routes and addresses, for the hosts' packets
	Inventory Inventory // EC2's instances, for Systems Manager
	Events    Events    // EventBridge; nil if nobody wants events
	Faults    Faults    // never nil

	ids ids
}

// New returns a world without services.
func New(c clock.Clock) *World {
	return &World{Clock: c, Account: DefaultAccount, Faults: Undisturbed{}, ids: ids{hex: randomHex}}
}

// ids makes resource identifiers; deterministic when seeded.
type ids struct {
	mu  sync.Mutex
	hex func(n int) string
}

// Seed makes identifiers deterministic; hex returns n hexadecimal digits.
func (w *World) Seed(hex func(n int) string) { w.ids.hex = hex }

// ID returns prefix and 17 hexadecimal digits, as EC2 names its resources.
func (w *World) ID(prefix string) string { return prefix + w.Hex(17) }

// Hex returns n hexadecimal digits.
func (w *World) Hex(n int) string {
	w.ids.mu.Lock()
	defer w.ids.mu.Unlock()
	return w.ids.hex(n)
}

// UUID returns an identifier in the form of a random UUID.
func (w *World) UUID() string {
	h := w.Hex(32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func randomHex(n int) string {
	b := make([]byte, (n+1)/2)
	_, _ = rand.Read(b) // never fails: https://pkg.go.dev/crypto/rand#Read
	return hex.EncodeToString(b)[:n]
}
