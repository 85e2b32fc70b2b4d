package db2

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// child answers every word that it is asked to print without a connection,
// unless it is told not to.
type child struct {
	lines  chan string
	sent   []string
	killed bool
	answer func(statements string) (output string, ends bool)
}

var lastCommand = regexp.MustCompile(`\nECHO (hadr-\d+-done);\n$`)

// lastWord is the line that statements end with, "?" if they ask for none.
func lastWord(statements string) string {
	if m := lastCommand.FindStringSubmatch(statements); m != nil {
		return m[1]
	}
	return "?"
}

func (c *child) Send(text string) error {
	if c.killed {
		return errors.New("write |1: broken pipe")
	}
	c.sent = append(c.sent, text)
	output, ends := c.answer(text)
	for _, line := range strings.Split(strings.TrimSuffix(output, "\n"), "\n") {
		c.lines <- line
	}
	if ends {
		c.Kill()
	}
	return nil
}

func (c *child) Lines() <-chan string { return c.lines }

func (c *child) Kill() {
	if !c.killed {
		c.killed = true
		close(c.lines)
	}
}

const (
	success   = "DB20000I  The SQL command completed successfully.\n"
	committed = success + success // UPDATE and COMMIT
	// terminated is what a processor of its own says.
	terminated = success + committed + "DB20000I  The TERMINATE command completed successfully.\n"
)

func beats(statements string) (string, bool) {
	output := committed + lastWord(statements) + "\n"
	if strings.Contains(statements, "SET CURRENT LOCK TIMEOUT") {
		output = success + output
	}
	return output, false
}

// says answers with messages and the last word.
func says(messages ...string) func(string) (string, bool) {
	return func(statements string) (string, bool) {
		return strings.Join(append(messages, lastWord(statements)), "\n") + "\n", false
	}
}

func silent(string) (string, bool) { return "", false }

const (
	noConnection = "SQL1024N  A database connection does not exist.  SQLSTATE=08003"
	lockedRow    = "SQL0911N  The current transaction has been rolled back because of a deadlock or timeout.  Reason code \"68\".  SQLSTATE=40001\nDB20000I  The SQL command completed successfully."
)

// TestResident: one processor serves many probes, and a broken one costs one
// probe at most.
func TestResident(t *testing.T) {
	type probe struct {
		answer func(string) (string, bool)
		fails  string // "" = committed
	}
	tests := []struct {
		name    string
		once    answers // what a processor of its own says
		probes  []probe
		started int
		oneShot int
	}{
		{name: "one processor for all", probes: []probe{{beats, ""}, {beats, ""}, {beats, ""}}, started: 1},
		{name: "SQL fails: the connection is not trusted again", probes: []probe{{beats, ""}, {says("SQL0964C  The transaction log for the database is full."), "SQL0964C"}, {beats, ""}}, started: 2},
		{name: "its own row is locked: the commit of an earlier probe hangs", probes: []probe{{beats, ""}, {silent, "no answer in time"}, {says(lockedRow), "earlier probe still hangs"}, {says(lockedRow), "earlier probe still hangs"}, {beats, ""}}, started: 4},
		{name: "an agent that was restarted since knows of no earlier probe", probes: []probe{{says(lockedRow), "earlier probe still hangs"}}, started: 1},
		{name: "the connection was forced: another way in the same probe", probes: []probe{{beats, ""}, {says("SQL1224N  The database manager is not able to accept new requests", noConnection), ""}, {beats, ""}}, started: 2, oneShot: 1},
		{name: "the connection is lost", probes: []probe{{beats, ""}, {says(noConnection, noConnection), ""}, {beats, ""}}, started: 2, oneShot: 1},
		{name: "the connection is lost, and the database too", once: answers{output: "SQL1224N  The database manager is not able to accept new requests", code: 4},
			probes: []probe{{beats, ""}, {says(noConnection, noConnection), "SQL1224N"}, {beats, ""}}, started: 2, oneShot: 1},
		{name: "wrong credentials", probes: []probe{{says("SQL30082N  Security processing failed", noConnection, noConnection, noConnection), "db2 grant connect"}}, started: 1},
		{name: "no right to connect", probes: []probe{{says("SQL1060N  User has no CONNECT privilege", noConnection, noConnection, noConnection), "db2 grant connect"}}, started: 1},
		{name: "an unknown database", probes: []probe{{says("SQL1013N  The database alias could not be found", noConnection, noConnection, noConnection), "knows no database SAMPLE"}}, started: 1},
		{name: "no word of the commit", probes: []probe{{beats, ""}, {says("DB20000I  The SQL command completed successfully."), "confirms no commit"}, {says(), "confirms no commit"}}, started: 2},
		{name: "the word within another line is not the last", probes: []probe{{beats, ""}, {func(s string) (string, bool) {
			return "ECHO " + lastWord(s) + "\n" + committed + lastWord(s) + " \n", false
		}, ""}}, started: 1},
		{name: "SQL hangs: killed with the probe", probes: []probe{{beats, ""}, {silent, "no answer in time"}, {beats, ""}}, started: 2},
		{name: "it ends by itself: another way in the same probe", probes: []probe{{beats, ""}, {func(string) (string, bool) { return "", true }, ""}, {beats, ""}}, started: 2, oneShot: 1},
		{name: "it keeps its output to itself: given up for good", probes: []probe{{silent, ""}, {beats, ""}, {beats, ""}}, started: 1, oneShot: 3},
		{name: "nothing answers at first: it is tried again", once: answers{output: "SQL1032N  No start database manager command was issued.", code: 4},
			probes: []probe{{silent, "SQL1032N"}, {beats, ""}}, started: 2, oneShot: 1},
		{name: "the row is missing", probes: []probe{{says("SQL0100W  No row was found for FETCH, UPDATE or DELETE."), "no row for node a"}}, started: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now func(string) (string, bool)
				var children []*child
				shell := tt.once
				if shell.output == "" {
					shell.output = terminated
				}
				r := &Resident{Clock: clock.System(), Start: func(script string) (Child, error) {
					if !strings.Contains(script, "runuser -l db2inst1 --session-command=") {
						t.Errorf("started %q", script)
					}
					c := &child{lines: make(chan string, 100), answer: func(s string) (string, bool) { return now(s) }}
					children = append(children, c)
					return c, nil
				}}
				l := Local{Group: "orders", Shell: &shell, Clock: clock.System(), Resident: r}
				for i, p := range tt.probes {
					now = p.answer
					ctx, cancel := clock.WithTimeout(t.Context(), clock.System(), 19*time.Second)
					err := l.Probe(ctx, "a", probed)
					cancel()
					if (err != nil) != (p.fails != "") || err != nil && !strings.Contains(err.Error(), p.fails) {
						t.Errorf("probe %d: %v, want %q", i, err, p.fails)
					}
				}
				r.Close()
				if len(children) != tt.started || len(shell.ran) != tt.oneShot {
					t.Errorf("%d processors started and %d of their own, want %d and %d", len(children), len(shell.ran), tt.started, tt.oneShot)
				}
				for i, c := range children {
					if !c.killed {
						t.Errorf("processor %d lives on", i)
					}
					for j, s := range c.sent {
						if strings.Contains(s, "CONNECT TO SAMPLE") != (j == 0) {
							t.Errorf("statements %d: %q", j, s)
						}
					}
				}
			})
		})
	}
}

// TestResidentOfAnotherNode: the connection is never used for another database.
func TestResidentOfAnotherNode(t *testing.T) {
	defer goleak.VerifyNone(t)
	started := 0
	r := &Resident{Clock: clock.System(), Start: func(string) (Child, error) {
		started++
		return &child{lines: make(chan string, 10), answer: beats}, nil
	}}
	for _, database := range []string{"SAMPLE", "SAMPLE", "ORDERS"} {
		if answered, err := r.probe(context.Background(), Settings{Owner: "db2inst1", Database: database}, "a"); !answered || err != nil {
			t.Fatal(answered, err)
		}
	}
	r.Close()
	if started != 2 {
		t.Errorf("%d processors for two databases", started)
	}
}
