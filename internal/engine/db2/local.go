package db2

import (
	"context"
	"fmt"
	"regexp"
	"strings"

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
	Group string
	Shell Shell
	Clock clock.Clock
}

// render puts values into the script of a document, as Systems Manager does.
func (d Document) render(values map[string]string) (string, error) {
	if err := d.Validate(values); err != nil {
		return "", err
	}
	script := d.Script()
	for name, value := range values {
		script = strings.ReplaceAll(script, "{{ "+name+" }}", value)
	}
	return script, nil
}

// View reads the node's own view with db2pd, which needs no connection.
func (l Local) View(ctx context.Context, settings map[string]string) failover.Observation {
	o := failover.Observation{Source: "agent"}
	s, err := ParseSettings(settings)
	if err != nil {
		unreadable(&o, err.Error())
		return o
	}
	script, err := documents["status"].render(map[string]string{"group": l.Group, "database": s.Database, "owner": s.Owner})
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
		return o
	}
	assess(&o, s, report)
	return o
}

// nodeID is what may stand in the statement of the probe.
var nodeID = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// probe writes and commits the row of this node in a table of its own, so that
// it waits for no application's lock
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=statements-set-current-lock-timeout).
const probe = `runuser -l %s -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 db2 +p +c -x -t" <<'SQL' 2>&1
CONNECT TO %s;
SET CURRENT LOCK TIMEOUT 3;
UPDATE HAPROBE.BEAT SET SEQ = SEQ + 1, TS = CURRENT TIMESTAMP WHERE NODE = '%s';
COMMIT;
TERMINATE;
SQL
`

// Probe commits a row as a client would. The command line processor's code is
// 4 or more for an error (https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-return-codes).
func (l Local) Probe(ctx context.Context, node string, settings map[string]string) error {
	s, err := ParseSettings(settings)
	if err != nil {
		return err
	}
	if !nodeID.MatchString(node) {
		return fmt.Errorf("node %q does not match %s", node, nodeID)
	}
	for name, p := range map[string]Parameter{s.Owner: paramOwner, s.Database: paramDatabase} {
		if !regexp.MustCompile(p.Pattern).MatchString(name) {
			return fmt.Errorf("%s %q does not match %s", p.Name, name, p.Pattern)
		}
	}
	output, code, err := l.Shell.Run(ctx, fmt.Sprintf(probe, s.Owner, s.Database, node))
	if err != nil {
		return fmt.Errorf("probing database %s: %w", s.Database, err)
	}
	reply := ParseReply(output)
	if lockTimeout(reply) { // waiting for a lock is what a living database does
		return nil
	}
	if code >= 4 {
		return fmt.Errorf("probing database %s: code %d: %s", s.Database, code, beginning(output))
	}
	return nil
}

// lockTimeout reports whether a reply is SQL0911N with reason code 68.
func lockTimeout(r Reply) bool {
	for _, m := range r.Messages {
		if m.Code == "SQL0911N" && m.Reason != nil && *m.Reason == 68 {
			return true
		}
	}
	return false
}
