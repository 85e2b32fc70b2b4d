package db2_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

type clpRow struct {
	ID, File  string
	TextBasis string `json:"text_basis"`
	Code      *int   `json:"clp_rc"`
}

// Every reply of the command line processor that a pair can come to is what
// the sample has, wrapped at the same places and with the same exit code.
func TestReplySamples(t *testing.T) {
	rows := sampleRows[clpRow](t, "clp")
	if len(rows) != len(replies)+len(noReply) {
		t.Errorf("%d samples, %d scenes and %d without one", len(rows), len(replies), len(noReply))
	}
	for _, r := range rows {
		s, ok := replies[r.ID]
		if !ok {
			if noReply[r.ID] == "" {
				t.Errorf("%s has neither a scene nor a reason why not", r.ID)
			}
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			sample := sampleText(t, "clp", r.File, r.TextBasis)
			inBubble(t, s.pair, func(t *testing.T, x *pair) {
				got, code := s.plays(x)
				if diff := cmp.Diff(s.seen(sample), s.seen(got)); diff != "" {
					t.Errorf("-sample +simulator:\n%s", diff)
				}
				if r.Code != nil && code != *r.Code {
					t.Errorf("exit code %d, want %d", code, *r.Code)
				}
			})
		})
	}
}

// reply is how a pair comes to answer as a sample does.
type reply struct {
	pair  db2.Pair
	plays func(x *pair) (string, int)
	only  string // compare the lines that contain this
	cut   string // compare what comes before this
}

// seen is what counts of a text: lines without the blanks at their ends, which
// some authors of samples lost, and dates as forms. The names of databases are
// as long as each other: they are wrapped at the same place.
func (r reply) seen(text string) []string {
	text = strings.NewReplacer("HADRDB", "SAMPLE", "TESTDB", "SAMPLE", "NOSUCH", "SAMPLE", "AUTOMATIC(52000)", "AUTOMATIC(13000)").Replace(text)
	if r.cut != "" {
		text, _, _ = strings.Cut(text, r.cut)
	}
	var out []string
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \n")
		if !strings.Contains(l, r.only) {
			continue
		}
		if strings.Contains(l, "     0   0   SQL") {
			stamp, rest, _ := strings.Cut(l, "     ")
			l = reDigits.ReplaceAllString(stamp, "9") + "     " + rest
		}
		out = append(out, l)
	}
	return out
}

// A wrapped line keeps the blank before the break, as all captures have it
// whose authors lost none.
func TestWrappedLinesKeepTheirBlank(t *testing.T) {
	inBubble(t, own, func(t *testing.T, x *pair) {
		x.b.start()
		x.b.db2(0, "stop hadr on db SAMPLE")
		got, _ := x.b.raw("activate db SAMPLE")
		want := "SQL1117N  A connection to or activation of database \"SAMPLE\" cannot be made \nbecause of ROLL-FORWARD PENDING.  SQLSTATE=57019\n"
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// ask has a command answered on a node.
func ask(node func(*pair) *node, command string, before ...func(*pair)) func(*pair) (string, int) {
	return func(x *pair) (string, int) {
		for _, f := range before {
			f(x)
		}
		return node(x).raw(command)
	}
}

func a(x *pair) *node { return x.a }
func b(x *pair) *node { return x.b }

// do runs a command that must succeed.
func do(node func(*pair) *node, command string) func(*pair) {
	return func(x *pair) { node(x).db2(0, command) }
}

func wait(d time.Duration) func(*pair) { return func(*pair) { time.Sleep(d) } }

// db2start runs db2start.
func (n *node) db2start() (string, int) {
	var out bytes.Buffer
	code := db2.Start(context.Background(), n.env(&out, ""), func() error {
		n.start()
		return nil
	})
	return out.String(), code
}

// between gives a processor one line, does something, and gives it the rest.
func (n *node) between(first string, f func(), rest string) (string, int) {
	var out bytes.Buffer
	env := n.env(&out, "")
	env.Stdin = &pausedInput{first: first + "\n", pause: f, rest: rest + "\n"}
	code := db2.CLP(context.Background(), env, []string{"-t"})
	return out.String(), code
}

type pausedInput struct {
	first, rest string
	pause       func()
	reads       int
}

func (p *pausedInput) Read(b []byte) (int, error) {
	p.reads++
	switch p.reads {
	case 1:
		return copy(b, p.first), nil
	case 2:
		time.Sleep(time.Second) // the first statement is answered
		p.pause()
		return copy(b, p.rest), nil
	}
	return 0, context.Canceled
}
