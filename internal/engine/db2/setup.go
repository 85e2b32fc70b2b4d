package db2

import (
	"fmt"
	"regexp"
	"strings"
)

// SetupError keeps a probe or a view from saying anything about the database.
type SetupError struct{ What, Fix string }

func (e SetupError) Error() string { return e.What + ": " + e.Fix }

// Setup says what is wrong, and what a person does about it.
func (e SetupError) Setup() (what, fix string) { return e.What, e.Fix }

// notFound is what shells, timeout and runuser say of a command that is not on
// PATH.
var notFound = regexp.MustCompile(`\bdb2(pd)?['’]?: (command )?(not found|No such file or directory)`)

// setupOf recognises output of a host or an instance that is not set up for
// the agent, nil if it is.
func setupOf(s Settings, output string, code int) error {
	text := strings.Join(strings.Fields(output), " ")
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(text, p) {
				return false
			}
		}
		return true
	}
	user := "user " + s.Owner
	reply := ParseReply(output)
	said := refusal(output)
	switch {
	case has(user, "does not exist"):
		return SetupError{"this host has no " + user, "correct instance_owner of the group"}
	case said != "" && len(reply.Messages) == 0:
		return SetupError{"this host runs no command as " + user, fmt.Sprintf(
			"runuser says %q: look at the limits of %s (/etc/security/limits.conf), at its shell and at /etc/pam.d/runuser-l; then try runuser -l %s -c true", said, s.Owner, s.Owner)}
	case code == 127 || notFound.MatchString(text):
		return SetupError{"db2 or db2pd is not in the PATH of " + user, "let its profile read ~" + s.Owner + "/sqllib/db2profile, also for a login without a terminal"}
	case has("No space left on device"):
		return SetupError{"a disk of this host is full", "free some space in /tmp and on the root volume (df -h)"}
	}
	for _, m := range reply.Messages {
		if why := setupMessage(s, m.Code); why != nil {
			return why
		}
	}
	return nil
}

// refusal is what runuser says where it runs no command, "" if it runs one.
func refusal(output string) string {
	for line := range strings.Lines(output) {
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "runuser: ")
		if ok && !strings.HasPrefix(said, "warning: ") {
			return said
		}
	}
	return ""
}

// setupMessage recognises messages about names and rights. None of them says
// that the database is ill.
func setupMessage(s Settings, code string) error {
	const table = "CREATE TABLESPACE and TABLE of the guide of the agent"
	switch code {
	case "SQL0204N":
		return SetupError{"database " + s.Database + " has no table HAPROBE.BEAT (SQL0204N)", "create it: " + table}
	case "SQL0551N", "SQL0552N":
		return SetupError{fmt.Sprintf("user %s may not write table HAPROBE.BEAT (%s)", s.Owner, code), "grant it: db2 grant select, update on HAPROBE.BEAT to user " + s.Owner}
	case "SQL1013N":
		return SetupError{"user " + s.Owner + " knows no database " + s.Database + " (SQL1013N)", "correct database of the group, or db2 catalog database"}
	case "SQL30082N", "SQL1060N":
		return SetupError{fmt.Sprintf("user %s can't connect to database %s: wrong credentials or no right (%s)", s.Owner, s.Database, code), "db2 grant connect on database to user " + s.Owner}
	}
	return nil
}

// remedy is what a person does about a failure of the database itself, "" if
// nothing special is known.
func remedy(r Reply) string {
	for _, m := range r.Messages {
		switch m.Code {
		case "SQL0964C":
			return "its transaction log is full: end the oldest transaction (db2pd -transactions) or raise LOGSECOND: "
		case "SQL0968C":
			return "its file system is full: free some space (df -h): "
		}
	}
	return ""
}
