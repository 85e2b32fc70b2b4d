package postgresql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Shell runs a script as root on this host and returns what it printed. When
// ctx ends, everything that the script started is gone.
type Shell interface {
	Run(ctx context.Context, script string) (output string, code int, err error)
}

// Local is the server on this host, for an agent.
type Local struct {
	Group string
	Node  string
	Root  string // directory that stands for the host's own root, "" on a real one
	Shell Shell
	Clock clock.Clock
	// Session asks the server for views; nil runs the status script for each.
	Session *Session
}

// View reads the node's own view, as the status document does: over the session,
// or with its script where that gives no answer.
func (l Local) View(ctx context.Context, settings map[string]string) failover.Observation {
	o := failover.Observation{Source: "agent"}
	s, err := ParseSettings(settings)
	if err != nil {
		unreadable(&o, err.Error())
		return o
	}
	if report, ok := l.look(ctx, s); ok {
		o.ReadAt = l.Clock.Now()
		l.conclude(ctx, &o, s, report)
		return o
	}
	d := documents["status"]
	script, err := d.Render(s.parameters(d, l.Group, l.Node, nil))
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
	} else {
		l.conclude(ctx, &o, s, report)
	}
	if report.Database == nil {
		if why := setupOfView(s, output, report.Runs && !report.Starts); why != nil {
			o.Trouble = why.Error()
		}
	}
	return o
}

func (l Local) conclude(ctx context.Context, o *failover.Observation, s Settings, r Report) {
	assess(o, s, l.Node, r)
	silent(o, r)
	if why := setupOfFiles(r); why != nil {
		o.Trouble = why.Error()
	}
	if r.Stopped != "" && o.Database == failover.DatabaseActive {
		l.forget(ctx)
	}
}

// silent: a server that gives no answer, or is just being promoted, is one that
// an agent knows nothing of for now. Only a version that is not understood keeps
// it from its work.
func silent(o *failover.Observation, r Report) {
	if o.Answer == failover.Unreadable && (r.Database == nil || r.Database.Version >= oldest) {
		o.Answer = failover.Silent
	}
}

// forget removes the mark of an orderly stop (R6): the server runs again, and
// its next end is another story.
func (l Local) forget(ctx context.Context) {
	_, _, _ = l.Shell.Run(ctx, `rm -f "${HADR_ROOT:-}/var/lib/hadr/`+l.Group+`/stopped"`+"\n")
}

// probeLockTimeout is how long a probe waits for a lock on its own row. Nobody
// but a probe before it takes that one, so that waiting in vain says that a
// commit hangs.
const probeLockTimeout = "3s"

// Probe commits the row of this node in a table of its own, haprobe.beat, over
// a new connection as a client would make it. The password comes from the
// agent's environment or password file
// (https://www.postgresql.org/docs/15/libpq-pgpass.html).
func (l Local) Probe(ctx context.Context, node string, settings map[string]string) error {
	s, err := ParseSettings(settings)
	if err != nil {
		return err
	}
	err = l.beat(ctx, s, node)
	if why := setupOfProbe(s, err); why != nil {
		return why
	}
	if err != nil && !errors.As(err, new(SetupError)) {
		return fmt.Errorf("probing database %s: %w", s.Database, remedied(err))
	}
	return err
}

func (l Local) beat(ctx context.Context, s Settings, node string) error {
	c, err := l.connect(ctx, s)
	if err != nil {
		return err
	}
	// The end of the connection is not part of the round trip, and ctx may be
	// over by then.
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	tag, err := c.Exec(ctx, `UPDATE haprobe.beat SET seq = seq + 1, ts = clock_timestamp() WHERE node = $1`, node)
	if err == nil && tag.RowsAffected() != 1 {
		return SetupError{fmt.Sprintf("table haprobe.beat has %d rows for node %s", tag.RowsAffected(), node), "insert one: " + guide}
	}
	return err
}

func (l Local) connect(ctx context.Context, s Settings) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable application_name=hadr-agent", l.Root+s.Socket, s.Port, s.User, s.Database))
	if err != nil {
		return nil, err
	}
	c.RuntimeParams["lock_timeout"] = probeLockTimeout
	return pgx.ConnectConfig(ctx, c)
}
