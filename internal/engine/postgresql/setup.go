package postgresql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SetupError keeps a probe or a view from saying anything about the database.
type SetupError struct{ What, Fix string }

func (e SetupError) Error() string { return e.What + ": " + e.Fix }

// Setup says what is wrong, and what a person does about it.
func (e SetupError) Setup() (what, fix string) { return e.What, e.Fix }

// guide is where tables and roles are set up.
const guide = "see docs/guides/postgresql.md"

// setupOfProbe recognises answers about names and rights: a server that gives
// them is well. Other errors are the database's own
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
func setupOfProbe(s Settings, err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return nil
	}
	switch refused.Code {
	case "42P01", "3F000":
		return SetupError{"database " + s.Database + " has no table haprobe.beat", "create it: " + guide}
	case "42703":
		return SetupError{"table haprobe.beat of database " + s.Database + " has other columns", "create it anew: " + guide}
	case "42501":
		return SetupError{"role " + s.User + " may not write table haprobe.beat", "grant it: " + guide}
	case "3D000":
		return SetupError{"there is no database " + s.Database, "correct database of the group"}
	case "28P01", "28000":
		return SetupError{fmt.Sprintf("role %s can't connect to database %s (%s)", s.User, s.Database, refused.Message), "correct pg_hba.conf and the password file of the agent: " + guide}
	}
	return nil
}

// remedied adds to a failure of the database what a person does about it. It
// stays a failure: only a row that is committed says that a server commits (R5),
// and a server may hang in the commit of one probe while it answers the next
// ones that their row is locked.
func remedied(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case "55P03": // lock_not_available
		return fmt.Errorf("the row of this node is locked by an earlier probe whose commit hangs, or by somebody else: look for application_name hadr-agent in pg_stat_activity, and for haprobe.beat in pg_locks: %w", err)
	case "53100": // disk_full
		return fmt.Errorf("a file system of the server is full: free some space (df -h): %w", err)
	}
	return err
}

// setupOfFiles recognises a standby that can't keep what it must know once its
// primary is gone, nil if it can.
func setupOfFiles(r Report) error {
	if r.Unkept == "" {
		return nil
	}
	said := strings.Split(r.Unkept, ": ")
	return SetupError{
		fmt.Sprintf("this host can't keep in %s when it last heard of its primary (%s)", stateDirectory, said[len(said)-1]),
		"free some space there (df -h), and let root write there",
	}
}

// setupOfView recognises output of a host that is not set up for the agent, nil
// if it is. A server that does not run has no socket, which is no fault of the
// setup.
func setupOfView(s Settings, output string, runs bool) error {
	text := strings.Join(strings.Fields(output), " ")
	switch {
	// Of an output that is cut off nothing else is known; in a whole one the server
	// may have said that.
	case strings.Contains(text, "No space left on device") && !strings.Contains(text, "=== hadr end"):
		return SetupError{"a disk of this host is full", "free some space in /tmp and on the root volume (df -h)"}
	case strings.Contains(text, s.Bin+"/psql") && (strings.Contains(text, "No such file") || strings.Contains(text, "not found")):
		return SetupError{"there is no psql in " + s.Bin, "correct bin_directory of the group"}
	case strings.Contains(text, "user "+s.Owner+" does not exist"):
		return SetupError{"this host has no user " + s.Owner, "correct owner of the group"}
	case strings.Contains(text, "authentication failed") || strings.Contains(text, "no pg_hba.conf entry"):
		return SetupError{"user " + s.Owner + " can't connect over the socket in " + s.Socket, "allow it in pg_hba.conf (local, peer): " + guide}
	case runs && strings.Contains(text, s.Socket+"/.s.PGSQL."+s.Port) && strings.Contains(text, "No such file"):
		return SetupError{"there is no socket of a server in " + s.Socket + " on port " + s.Port, "correct socket_directory and port of the group"}
	}
	return nil
}
