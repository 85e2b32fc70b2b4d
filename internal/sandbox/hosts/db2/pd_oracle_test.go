package db2_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

type pdRow struct {
	ID, File, Origin string
	Expect           struct {
		Databases []struct {
			Blocks []struct {
				Possible *bool `json:"peer_window_takeover_possible"`
			}
		}
	}
}

// Every sample of db2pd that a pair can come to is what it prints there, in
// the same lines and forms; and a takeover inside the peer window then does
// what the sample says of it.
func TestDb2pdSamples(t *testing.T) {
	rows := sampleRows[pdRow](t, "db2pd")
	if len(rows) != len(scenes)+len(unreachable) {
		t.Errorf("%d samples, %d scenes and %d without one", len(rows), len(scenes), len(unreachable))
	}
	for _, r := range rows {
		s, ok := scenes[r.ID]
		if !ok {
			if unreachable[r.ID] == "" {
				t.Errorf("%s has neither a scene nor a reason why not", r.ID)
			}
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			sample := strings.ReplaceAll(sampleText(t, "db2pd", r.File, r.Origin), "HADRDB", "SAMPLE")
			inBubble(t, s.pair, func(t *testing.T, x *pair) {
				got := s.play(x)
				want, have := s.compared(shape(sample)), s.compared(shape(got))
				if diff := cmp.Diff(want, have); diff != "" {
					t.Errorf("-sample +simulator:\n%s\n%s", diff, got)
				}
				if d := r.Expect.Databases; len(d) == 1 && s.on == "b" && len(x.atLast) == 0 {
					s.takesOver(t, x, d[0].Blocks[0].Possible)
				}
			})
		})
	}
}

// play brings the pair there and returns what db2pd prints.
func (s scene) play(x *pair) string {
	if s.spool != "" {
		for _, n := range []*node{x.a, x.b} {
			n.start()
			n.db2(0, "update db cfg for SAMPLE using HADR_SPOOL_LIMIT "+s.spool)
			n.crash()
		}
	}
	s.plays(x)
	args := s.args
	if args == nil {
		args = []string{"-db", "SAMPLE", "-hadr"}
	}
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	if s.killed {
		kill()
	}
	n := x.a
	if s.on == "b" {
		n = x.b
	}
	var out bytes.Buffer
	db2.PD(ctx, n.env(&out, ""), args)
	return out.String()
}

// compared leaves out what is known to differ.
func (s scene) compared(lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return s.other[l.Key] != "" })
}

func (s scene) takesOver(t *testing.T, x *pair, possible *bool) {
	t.Helper()
	if possible == nil {
		return
	}
	if text, code := x.b.run(force + " peer window only"); (code == 0) != *possible {
		t.Errorf("takeover possible: want %v, got %s", *possible, text)
	}
}
