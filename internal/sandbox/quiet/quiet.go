// Package quiet tells when all goroutines of this process wait for something,
// as testing/synctest.Wait does for those of a bubble.
package quiet

import (
	"bytes"
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// pause is between two looks while something runs.
const pause = 20 * time.Microsecond

// Wait returns when nothing runs but the caller, or with the cause of ctx.
func Wait(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// The scheduler's figures are cheap and approximate, the states of the
		// goroutines exact and dear: they have the last word.
		if !runnable() && !active() {
			return nil
		}
		time.Sleep(pause)
	}
}

// runnable reports whether a goroutine beside the caller's runs or could.
// https://pkg.go.dev/runtime/metrics#hdr-Supported_metrics
func runnable() bool {
	s := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/running:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64() > 0 || s[1].Value.Uint64() > 1
}

// buffers hold stacks.
var buffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// active reports whether a goroutine but the caller's does something.
func active() bool {
	b := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer buffers.Put(b)
	for {
		if n := runtime.Stack(*b, true); n < len(*b) {
			return anyActive((*b)[:n])
		}
		*b = make([]byte, 2*len(*b))
	}
}

// lasting are the functions in which a goroutine may stay in a system call
// without doing anything.
var lasting = [][]byte{[]byte("\nos/signal.signal_recv("), []byte("\nos.(*Process).pidfdWait("), []byte("\nos.(*Process).blockUntilWaitable(")}

// anyActive reads the stacks of all goroutines at one moment, that of the caller
// first.
func anyActive(stacks []byte) bool {
	first := true
	for g := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if first {
			first = false
			continue
		}
		head, _, _ := bytes.Cut(g, []byte("\n"))
		switch state(head) {
		case "running", "runnable":
			return true
		case "syscall":
			if !lasts(g) {
				return true
			}
		}
	}
	return false
}

// state reads "goroutine 7 [chan receive, 2 minutes]:".
func state(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte("["))
	if end := bytes.IndexAny(rest, ",]"); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}

func lasts(goroutine []byte) bool {
	for _, f := range lasting {
		if bytes.Contains(goroutine, f) {
			return true
		}
	}
	return false
}
