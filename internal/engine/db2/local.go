package db2

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Shell runs a script as root on this host and returns what it printed. When
// ctx ends, everything that the script started is gone.
type Shell interface {
	Run(ctx context.Context, script string) (output string, code int, err error)
}

// Local is the database on this host, for an agent: the same reading as through
// Systems Manager, without it.
type Local struct {
	Group    string
	Shell    Shell
	Clock    clock.Clock
	Resident *Resident // nil: every probe starts a processor of its own
}

// View reads the node's own view with db2pd, which needs no connection.
func (l Local) View(ctx context.Context, settings map[string]string) failover.Observation {
	o := failover.Observation{Source: "agent"}
	s, err := ParseSettings(settings)
	if err != nil {
		unreadable(&o, err.Error())
		return o
	}
	script, err := documents["status"].Render(map[string]string{"group": l.Group, "database": s.Database, "owner": s.Owner})
	if err != nil {
		unreadable(&o, err.Error())
		return o
	}
	output, code, err := l.Shell.Run(ctx, script)
	o.ReadAt = l.Clock.Now()
	if err != nil {
		o.Answer, o.AnswerError = failover.Silent, err.Error()
		return o
	}
	report, err := ParseReport(output)
	if err != nil {
		unreadable(&o, fmt.Sprintf("exit code %d: %v", code, err))
		if why := setupOf(s, output, code); why != nil {
			o.Trouble = why.Error()
		}
		return o
	}
	assess(&o, s, report)
	if o.Answer == failover.Unreadable {
		if why := setupOf(s, report.DB2PD, code); why != nil {
			o.Trouble = why.Error()
		}
	}
	if !o.ServesAsPrimary() {
		l.Resident.Close() // it must not keep anybody from stopping the database
	}
	if report.Stopped != "" && o.Database == failover.DatabaseActive {
		l.forget(ctx)
	}
	return o
}

// forget removes the mark of an orderly stop (R6): the database is active
// again, and its next end is another story.
func (l Local) forget(ctx context.Context) {
	_, _, _ = l.Shell.Run(ctx, `rm -f "${HADR_ROOT:-}/var/lib/hadr/`+l.Group+`/stopped"`+"\n")
}

// nodeID is what may stand in the statement of the probe.
var nodeID = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// processor is the command line processor as the instance owner: no prompt, no
// commit by itself, no headings, statements that end with a semicolon
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-options). With -c, runuser
// would give it a session of its own, where the kill of a hung probe misses it
// (https://man7.org/linux/man-pages/man1/runuser.1.html).
const processor = `runuser -l %s --session-command="LC_ALL=C.UTF-8 LANG=C.UTF-8 db2 +p +c -x -t"`

// connect and beat are the statements of a probe: it writes and commits the row
// of this node in a table of its own, so that it waits for no application's
// lock. It waits for one of its own nearly as long as a probe may take, so that
// it commits as soon as a commit that hung does, and not a tick later
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=statements-set-current-lock-timeout).
const (
	connect = "CONNECT TO %s;\nSET CURRENT LOCK TIMEOUT 17;\n"
	beat    = "UPDATE HAPROBE.BEAT SET SEQ = SEQ + 1, TS = CURRENT TIMESTAMP WHERE NODE = '%s';\nCOMMIT;\n"

	// How many successes they print: CONNECT describes the connection instead.
	connectReplies = 1
	beatReplies    = 2
)

// probeOf checks what stands in the statements and the script of a probe.
func probeOf(node string, settings map[string]string) (Settings, error) {
	s, err := ParseSettings(settings)
	if err != nil {
		return s, err
	}
	if !nodeID.MatchString(node) {
		return s, fmt.Errorf("node %q does not match %s", node, nodeID)
	}
	return s, s.checkNames()
}

// checkNames checks what a script takes from the settings.
func (s Settings) checkNames() error {
	for name, p := range map[string]Parameter{s.Owner: paramOwner, s.Database: paramDatabase} {
		if err := p.Check(name); err != nil {
			return err
		}
	}
	return nil
}

// Probe commits a row as a client would: through the resident processor, or
// through one of its own.
func (l Local) Probe(ctx context.Context, node string, settings map[string]string) error {
	s, err := probeOf(node, settings)
	if err != nil {
		return err
	}
	answered, err := l.Resident.probe(ctx, s, node)
	if answered {
		return err
	}
	err = l.once(ctx, s, node)
	l.Resident.compare(err)
	return err
}

// once probes with a processor of its own. Its code is 4 or more for an error
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-return-codes).
func (l Local) once(ctx context.Context, s Settings, node string) error {
	script := fmt.Sprintf(processor+" <<'SQL' 2>&1\n"+connect+beat+"TERMINATE;\nSQL\n", s.Owner, s.Database, node)
	output, code, err := l.Shell.Run(ctx, script)
	if err != nil {
		return fmt.Errorf("probing database %s: %w", s.Database, err)
	}
	return verdict(s, node, output, code, connectReplies+beatReplies+1) // and that of TERMINATE
}

// verdict says what the output of a probe means; code is -1 where there is
// none. Only a commit that Db2 confirms proves anything (R5): the last so many
// replies must be successes.
func verdict(s Settings, node, output string, code, successes int) error {
	reply := ParseReply(output)
	switch why := setupOf(s, output, code); {
	case why != nil:
		return why
	case reply.has("SQL0100W"): // nothing was written, so nothing is proven
		return SetupError{
			What: fmt.Sprintf("table HAPROBE.BEAT has no row for node %s", node),
			Fix:  fmt.Sprintf("as %s: db2 \"insert into HAPROBE.BEAT values ('%s', 0, current timestamp)\"", s.Owner, node),
		}
	case lockTimeout(reply):
		return fmt.Errorf("probing database %s: the row of node %s is locked: the commit of an earlier probe still hangs, or somebody locks table HAPROBE.BEAT: see db2pd -db %s -transactions -locks",
			s.Database, node, s.Database)
	case code >= 4 || reply.failed():
		return fmt.Errorf("probing database %s: code %d: %s%s", s.Database, code, remedy(reply), beginning(output))
	case !reply.confirms(successes):
		return fmt.Errorf("probing database %s: code %d: the command line processor confirms no commit: %q", s.Database, code, beginning(output))
	}
	return nil
}

// lockTimeout reports whether a reply is SQL0911N with reason code 68. The row
// is this node's own: an agent of the server whose commit hangs keeps its lock
// when the client is killed, so that it proves no living database.
func lockTimeout(r Reply) bool {
	for _, m := range r.Messages {
		if m.Code == "SQL0911N" && m.Reason != nil && *m.Reason == 68 {
			return true
		}
	}
	return false
}

// kill ends the server without a word to its log: db2stop would write to it
// and spoil the return as standby
// (https://www.ibm.com/docs/en/db2/11.1.0?topic=pair-reintegrating-database-after-takeover-operation).
const kill = `pkill -KILL -u %[1]s -x db2sysc >/dev/null 2>&1
runuser -l %[1]s --session-command="LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 1 4 db2_kill" 2>&1
`

// Kill ends the database server at once, and reads that it is gone (R17).
func (l Local) Kill(ctx context.Context, settings map[string]string) error {
	s, err := ParseSettings(settings)
	if err == nil {
		err = s.checkNames()
	}
	if err != nil {
		return err
	}
	output, code, err := l.Shell.Run(ctx, fmt.Sprintf(kill, s.Owner))
	if err != nil {
		return fmt.Errorf("killing the Db2 instance of %s: %w", s.Owner, err)
	}
	if o := l.View(ctx, settings); o.Answer != failover.Answered || o.Database != failover.DatabaseDown {
		return fmt.Errorf("killing the Db2 instance of %s: code %d: it still answers: %s %s: %s", s.Owner, code, o.Answer, o.Database, beginning(output))
	}
	return nil
}
