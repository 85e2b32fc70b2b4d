package demo

import (
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestCoreInVirtualTime plays the core part without processes: the same
// handler, agents and scripts, in virtual time.
func TestCoreInVirtualTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		s, err := NewVirtualStage(t.Context(), dir, log)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		o := Options{Clients: 4, Pause: 50 * time.Millisecond, Out: io.Discard, Log: log}
		r := Result{Name: "core"}
		if err := o.playCore(t.Context(), s, &r); err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Deviations {
			t.Error(d)
		}
		t.Logf("recovery %.1f s, %d commits", r.Recovery, r.Audit.Acknowledged)
	})
}
