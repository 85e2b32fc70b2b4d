package postgresql

import (
	"errors"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// R5: nothing but a committed row says that a server commits. Whatever else it
// answers is its own failure, or one of the setup, and says what to do.
func TestProbeProvesACommit(t *testing.T) {
	tests := []struct {
		name   string
		server wire
		says   []string // none: a good probe
		setup  bool     // and says nothing about the database
	}{
		{"it commits", wire{}, nil, false},
		{"an earlier probe hangs in its commit", refusing("55P03", "canceling statement due to lock timeout"),
			[]string{"locked by an earlier probe whose commit hangs", "pg_stat_activity", "pg_locks", "hadr-agent", "55P03"}, false},
		{"its disk is full", refusing("53100", `could not extend file "base/5/16385": No space left on device`), []string{"free some space (df -h)", "No space left on device"}, false},
		{"it is read-only", refusing("25006", "cannot execute UPDATE in a read-only transaction"), []string{"read-only"}, false},
		{"it ends the session", refusing("57P01", "terminating connection due to administrator command"), []string{"57P01"}, false},
		{"a deadlock", refusing("40P01", "deadlock detected"), []string{"40P01"}, false},
		{"a statement timeout", refusing("57014", "canceling statement due to statement timeout"), []string{"57014"}, false},
		{"an error that nobody knows", refusing("XX999", "what"), []string{"XX999"}, false},
		{"the table is missing", refusing("42P01", "relation does not exist"), []string{"no table haprobe.beat", "create it"}, true},
	}
	settings := declared(map[string]string{"socket_directory": "/s"})
	s, err := ParseSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Local{Group: "orders", Node: "a", Root: tt.server.listen(t, s), Clock: clock.System()}
			err := l.Probe(t.Context(), "a", settings)
			if (err == nil) != (len(tt.says) == 0) {
				t.Fatalf("probe: %v", err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("probe: %v, want %q", err, want)
				}
			}
			if setup := errors.As(err, new(SetupError)); setup != tt.setup {
				t.Errorf("probe: %v, of the setup: %t", err, setup)
			}
		})
	}
}
