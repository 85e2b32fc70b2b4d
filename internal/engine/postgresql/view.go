package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

// Session is an agent's own connection to the server on its host. With it a view
// starts no process: an agent looks every few seconds, and a host is there for
// its database.
type Session struct {
	mu     sync.Mutex
	conn   *pgx.Conn
	server string // where it leads to
}

// sessionLimit is how long a server may take to answer a session. Then, and
// whenever else something is wrong, the status script has the word.
const sessionLimit = 2 * time.Second

// askPause lies between two questions to the primary whether commits wait for
// this node, as in scripts/status.sh.
const askPause = 10 * time.Second

// viewSQL is the query of the status script, without what only psql knows.
var viewSQL = func() string {
	_, text, _ := strings.Cut(statusSQL, "\\else\n")
	text, _, _ = strings.Cut(text, ";\n")
	return strings.ReplaceAll(text, ":SERVER_VERSION_NUM", "current_setting('server_version_num')::int")
}()

// Close ends the connection, if there is one: it would hold up a server that is
// stopped in order.
func (s *Session) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

func (s *Session) drop() {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
	s.conn = nil
}

// ask returns what the server says of itself, as JSON.
func (s *Session) ask(ctx context.Context, l Local, settings Settings) (answer []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := clock.WithTimeout(ctx, l.Clock, sessionLimit)
	defer cancel()
	server := fmt.Sprint(l.Root, settings.Socket, settings.Port, settings.User)
	if s.server != server {
		s.drop()
	}
	if s.conn == nil {
		if s.conn, err = l.connect(ctx, settings); err != nil {
			return nil, err
		}
		s.server = server
	}
	if err := s.conn.QueryRow(ctx, viewSQL, pgx.QueryExecModeSimpleProtocol).Scan(&answer); err != nil {
		s.drop()
		return nil, err
	}
	return answer, nil
}

// look is the report of the status script, where the server answers the session.
func (l Local) look(ctx context.Context, s Settings) (r Report, ok bool) {
	if l.Session == nil {
		return Report{}, false
	}
	answer, err := l.Session.ask(ctx, l, s)
	if err != nil {
		return Report{}, false
	}
	db, err := parseDatabase(answer)
	if err != nil {
		return Report{}, false
	}
	kept := keptFiles(filepath.Join(l.Root+stateDirectory, l.Group))
	unkept := ""
	if err := l.keepContact(ctx, s, db, kept); err != nil {
		unkept = err.Error()
	}
	epoch, _ := strconv.ParseUint(kept.read("epoch"), 10, 64)
	return Report{
		HostTime: l.Clock.Now(), Table: kept.read("table"), Epoch: epoch, Promoting: document.Time(kept.read("promoting")),
		Rewinding: kept.read("rewinding") != "", Stopped: kept.read("stopped"), Database: db, Answer: string(answer), Runs: true,
		Contact: parseContact(kept.read("contact")), Waiting: parseWaiting(kept.read("synchronous")), Unkept: unkept,
	}, true
}

// keepContact keeps what a standby must know once its primary is gone. An error
// says that it could not be kept.
func (l Local) keepContact(ctx context.Context, s Settings, db *Database, kept keptFiles) error {
	now := l.Clock.Now()
	rec := db.Receiver
	if rec == nil || rec.Status != "streaming" || rec.Heard.IsZero() {
		return nil
	}
	heard := fmt.Sprintf("%s %d", seconds1970(rec.Heard.Time), max(0, rec.Flushed.behind(rec.PrimaryEnd)))
	return errors.Join(kept.write("contact", heard), l.askPrimary(ctx, s, kept, now))
}

// askPrimary keeps the primary's answer to whether commits wait for a standby.
// Where it gives none, the one before ages.
func (l Local) askPrimary(ctx context.Context, s Settings, kept keptFiles, now time.Time) error {
	host, port := s.peer(l.Node)
	before := parseWaiting(kept.read("synchronous"))
	if ago := now.Sub(before.Asked); host == "none" || before.Names != "" && ago >= 0 && ago < askPause {
		return nil
	}
	ctx, cancel := clock.WithTimeout(ctx, l.Clock, sessionLimit)
	defer cancel()
	names, commit, err := waitingOf(ctx, fmt.Sprintf("host=%s port=%s user=%s sslmode=%s application_name=hadr-agent", host, port, s.User, s.SSLMode))
	if err != nil {
		return nil //nolint:nilerr // a primary that is gone is what a standby is for
	}
	return kept.write("synchronous", seconds1970(now)+"\n"+names+"\n"+commit)
}

// waitingOf asks a primary for a walsender, which answers SHOW and asks for no
// database (https://www.postgresql.org/docs/15/protocol-replication.html).
func waitingOf(ctx context.Context, address string) (names, commit string, err error) {
	c, err := pgconn.ParseConfig(address)
	if err != nil {
		return "", "", err
	}
	c.RuntimeParams["replication"] = "true"
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	show := func(name string) string {
		var results []*pgconn.Result
		if err == nil {
			results, err = conn.Exec(ctx, "SHOW "+name).ReadAll()
		}
		if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
			err = errors.Join(err, fmt.Errorf("SHOW %s has no answer", name))
			return ""
		}
		return string(results[0].Rows[0][0])
	}
	names, commit = show("synchronous_standby_names"), show("synchronous_commit")
	return names, commit, err
}

// seconds1970 is a time as date +%s.%N prints it.
func seconds1970(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

// stateDirectory is where a node keeps what it knows of itself, by group.
const stateDirectory = "/var/lib/hadr"

// keptFiles is the directory with what a node keeps for itself.
type keptFiles string

func (k keptFiles) read(name string) string {
	b, err := os.ReadFile(filepath.Join(string(k), name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// write replaces a file as a whole: scripts read it, too.
func (k keptFiles) write(name, text string) error {
	file := filepath.Join(string(k), name)
	err := os.WriteFile(file+".agent", []byte(text+"\n"), 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(string(k), 0o755); err == nil {
			err = os.WriteFile(file+".agent", []byte(text+"\n"), 0o644)
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(file+".agent", file)
}
