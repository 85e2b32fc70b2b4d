package demo

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

// TestScenarios plays every scenario in virtual time.
func TestScenarios(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.Name+" "+strings.Join(sc.Rules, ","), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				out := io.Discard
				if testing.Verbose() {
					out = t.Output()
				}
				r, err := sc.playAll(t.Context(), Options{StageOptions: StageOptions{Dir: dir}, Out: out, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range r.Deviations {
					t.Error(d)
				}
				t.Logf("recovery %.1f s, %d commits", r.Recovery, r.Audit.Acknowledged)
			})
		})
	}
}
