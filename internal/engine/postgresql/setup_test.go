package postgresql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A healthy primary must not be shot because a table is missing, nor a sick one
// be spared.
func TestSetupOfProbe(t *testing.T) {
	s := Settings{Database: "postgres", User: "hadr"}
	tests := []struct{ code, says string }{
		{"42P01", "no table haprobe.beat"},
		{"42501", "may not write"},
		{"42703", "other columns"},
		{"3D000", "no database postgres"},
		{"28P01", "can't connect"},
		{"53100", ""}, // disk full
		{"53300", ""}, // too many connections
		{"57P03", ""}, // cannot connect now
		{"25006", ""}, // read-only
	}
	for _, tt := range tests {
		err := setupOfProbe(s, fmt.Errorf("connect: %w", &pgconn.PgError{Code: tt.code, Message: "m"}))
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.code, err, tt.says)
		}
		var setup interface{ Setup() (string, string) }
		if err != nil && !errors.As(err, &setup) {
			t.Errorf("%s: %T is no error of the setup", tt.code, err)
		}
	}
	if err := setupOfProbe(s, errors.New("connection refused")); err != nil {
		t.Errorf("a dead server: %v", err)
	}
}

func TestSetupOfView(t *testing.T) {
	s := Settings{Owner: "postgres", Bin: "/usr/lib/postgresql/15/bin", Socket: "/run/pg", Port: "5432"}
	tests := []struct{ output, says string }{ // of a server that runs
		{"timeout: failed to run command '/usr/lib/postgresql/15/bin/psql': No such file or directory", "no psql"},
		{"runuser: user postgres does not exist or the user entry does not contain all the required fields", "no user postgres"},
		{`psql: error: connection to server on socket "/run/pg/.s.PGSQL.5432" failed: FATAL:  Peer authentication failed for user "postgres"`, "can't connect"},
		{`psql: error: connection to server on socket "/run/pg/.s.PGSQL.5432" failed: No such file or directory`, "no socket"},
		{`psql: error: connection to server on socket "/run/pg/.s.PGSQL.5432" failed: Connection refused`, ""},
		{`psql: error: connection to server on socket "/run/pg/.s.PGSQL.5432" failed: FATAL:  the database system is starting up`, ""},
		{"sh: 1: cannot create temp file for here document: No space left on device", "disk of this host is full"},
		{"=== hadr database\npsql: error: FATAL:  could not write init file: No space left on device\n=== hadr end", ""}, // its own failure
		{"", ""},
	}
	for _, tt := range tests {
		err := setupOfView(s, tt.output, true)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %q", tt.output, err, tt.says)
		}
	}
	if err := setupOfView(s, tests[3].output, false); err != nil {
		t.Errorf("a server that does not run has no socket: %v", err)
	}
}
