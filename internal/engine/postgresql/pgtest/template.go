package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Template is an initialised database system that pairs are copies of.
type Template struct {
	bin   string
	dir   string
	owner string
	cred  *syscall.Credential
	stop  chan struct{}
	hosts atomic.Int64 // made of it
}

// ReplicationUser is the role that replicates, rewinds and probes, with the
// rights that docs/guides/postgresql.md grants and no more.
const ReplicationUser = "hadr"

var roles = []string{
	`CREATE ROLE hadr LOGIN REPLICATION`,
	`GRANT pg_monitor, pg_checkpoint TO hadr`,
	`GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text), pg_read_binary_file(text, bigint, bigint, boolean), pg_reload_conf() TO hadr`,
	`GRANT ALTER SYSTEM ON PARAMETER synchronous_standby_names TO hadr`,
	`CREATE SCHEMA haprobe AUTHORIZATION hadr`,
	`CREATE TABLE haprobe.beat (node text PRIMARY KEY, seq bigint NOT NULL, ts timestamptz NOT NULL)`,
	`ALTER TABLE haprobe.beat OWNER TO hadr`,
	`INSERT INTO haprobe.beat VALUES ('a', 0, now()), ('b', 0, now())`,
	`CREATE ROLE client LOGIN`,
	`CREATE TABLE rows (id bigint PRIMARY KEY)`,
	`GRANT ALL ON rows TO client`,
}

const configuration = `
wal_log_hints = on
wal_keep_size = 32MB
wal_sender_timeout = 6s
wal_receiver_timeout = 6s
wal_retrieve_retry_interval = 200ms
shared_buffers = 16MB
max_connections = 40
min_wal_size = 8MB
max_wal_size = 64MB
log_line_prefix = '%m [%p] %b '
`

// New initialises a database system with the programs in bin.
func New(bin string) (*Template, error) {
	owner, cred, err := Account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hadr-pg")
	if err != nil {
		return nil, err
	}
	t := &Template{bin: bin, dir: dir, owner: owner, cred: cred, stop: make(chan struct{})}
	err = t.initialise()
	if err == nil {
		err = reap(t.stop)
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("initialising a database system in %s: %w", dir, err)
	}
	return t, nil
}

// Close removes all files.
func (t *Template) Close() {
	close(t.stop)
	_ = os.RemoveAll(t.dir)
}

func (t *Template) initialise() error {
	if err := t.own(t.dir); err != nil {
		return err
	}
	data := filepath.Join(t.dir, "template")
	if out, err := t.command(filepath.Join(t.bin, "initdb"), "-D", data, "-k", "-N", "--wal-segsize=1", "--auth=trust", "--locale=C", "-E", "UTF8").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := conf.WriteString(configuration); err != nil {
		return err
	}
	if err := conf.Close(); err != nil {
		return err
	}
	single := t.command(filepath.Join(t.bin, "postgres"), "--single", "-D", data, "postgres")
	single.Stdin = strings.NewReader(strings.Join(roles, "\n") + "\n")
	if out, err := single.CombinedOutput(); err != nil || strings.Contains(string(out), "ERROR") {
		return fmt.Errorf("postgres --single: %w: %s", err, out)
	}
	return nil
}

// own gives a file to who runs the servers.
func (t *Template) own(name string) error {
	if t.cred == nil {
		return nil
	}
	return os.Chown(name, int(t.cred.Uid), int(t.cred.Gid))
}

// command runs a program as who runs the servers, in a process group of its
// own. It is killed after a minute.
func (t *Template) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, name, args...)
	context.AfterFunc(ctx, cancel)
	cmd.Dir = t.dir
	cmd.Env = []string{"PATH=" + t.bin + ":/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=" + t.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: t.cred}
	return cmd
}

// Bin is the directory of the server programs.
func (t *Template) Bin() string { return t.bin }
