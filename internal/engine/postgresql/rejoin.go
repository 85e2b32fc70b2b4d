package postgresql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Lost is what an old primary wrote after its successor's log began. Under
// synchronous replication nobody was told that these commits succeeded; under
// asynchronous replication this is the measured loss of the takeover (R33).
type Lost struct {
	Fork        LSN // end of the common log
	Bytes       int64
	Commits     int
	First, Last string // times of these commits, as PostgreSQL prints them
}

// String is for people and for the history of operations.
func (l Lost) String() string {
	if l.Commits == 0 {
		return fmt.Sprintf("its log parted at %s with no commit after it", l.Fork)
	}
	return fmt.Sprintf("its log parted at %s: %d bytes with %d commits, from %s to %s, are not on the new primary", l.Fork, l.Bytes, l.Commits, l.First, l.Last)
}

// parseLost reads the sections fork and lost ("END|SIZE|COMMITS|FIRST|LAST") of
// the rejoin document.
func parseLost(r document.Report) (l Lost, ok bool) {
	fork, err := ParseLSN(r["fork"])
	if err != nil {
		return Lost{}, false
	}
	l.Fork = fork
	fields := strings.Split(r["lost"], "|")
	if len(fields) != 5 {
		return l, true // nothing was written after the fork
	}
	end, err := ParseLSN(fields[0])
	size, err2 := strconv.ParseInt(fields[1], 10, 32)
	commits, err3 := strconv.Atoi(fields[2])
	if err != nil || err2 != nil || err3 != nil {
		return Lost{}, false
	}
	l.Bytes, l.Commits, l.First, l.Last = fork.behind(end)+size, commits, fields[3], fields[4]
	return l, true
}

// Manual implements control.Engine.
func (e *Engine) Manual() failover.Manual {
	return failover.Manual{
		Role: "select pg_is_in_recovery()", Start: "pg_ctl start", Kill: "pg_ctl stop -m immediate", Reseed: "pg_basebackup",
	}
}

// Rejoin implements control.Engine: the old primary follows the new one, after
// pg_rewind where their logs have parted
// (https://www.postgresql.org/docs/15/app-pgrewind.html). The detail says what
// its log had that the new primary has not.
func (e *Engine) Rejoin(ctx context.Context, p control.Promotion) control.PromotionResult {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error(), Next: configureNext}
	}
	a := e.run(ctx, order{kind: "rejoin", step: failover.StepReintegrate, settings: s, Promotion: p}, nil)
	if a.err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: a.err.Error(), Next: configureNext}
	}
	out := control.PromotionResult{CommandID: a.CommandID, Outcome: failover.Unknown, Detail: a.Detail}
	if a.report == nil {
		return out
	}
	out.Code, out.Detail = a.report["outcome"], a.report["reason"]
	if lost, ok := parseLost(a.report); ok {
		out.Detail = strings.TrimSpace(out.Detail + " " + lost.String())
	}
	switch a.report["outcome"] {
	case "started":
		out.Outcome = failover.OK
	case failover.NeedsReseed: // a new base backup
		host, port := s.peer(p.Node.ID)
		out.Outcome = failover.Failed
		out.Detail = strings.TrimSpace(out.Detail + ": " + document.Beginning(a.report["rewind"]))
		out.Next = fmt.Sprintf("on node %s, with its server stopped and %s emptied: runuser -u %s -- %s/pg_basebackup -h %s -p %s -U %s -D %s -X stream -c fast; rm -f /var/lib/hadr/%s/rewinding",
			p.Node.ID, s.Data, s.Owner, s.Bin, host, port, s.User, s.Data, p.Group)
	case "unknown":
	default:
		out.Outcome = failover.Failed
		out.Next = "look at the log of node " + p.Node.ID + ": " + strings.TrimRight(s.Data, "/") + ".log"
	}
	return out
}
