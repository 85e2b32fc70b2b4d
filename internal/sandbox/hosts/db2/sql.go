package db2

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// sqlSession is a connection of the command line processor.
type sqlSession struct {
	in          *Instance
	db          *database
	since       time.Time // activation that it connected to
	lockTimeout time.Duration
	changes     []change // of the open transaction
	locked      []string
}

type change struct {
	table, row string
	seq        int64
}

func (s *sqlSession) do(ctx context.Context, q request) reply {
	if q.Op == "terminate" || q.Op == "reset" {
		s.rollback()
		connected := s.db != nil
		s.db = nil
		if q.Op == "reset" && !connected {
			return msgNoConnection
		}
		return sqlDone
	}
	hung := ctx
	if len(s.locked) > 0 { // who hangs does not see its client go, and keeps its locks
		hung = s.in.ctx
	}
	if err := s.in.levers.delay(hung, s.in.clock); err != nil {
		return msgGone
	}
	if q.Op == "connect" {
		return s.connect(ctx, q.Database)
	}
	if s.db == nil {
		return msgNoConnection
	}
	s.db.mu.Lock()
	same := s.db.active() && s.db.run.started.Equal(s.since)
	s.db.mu.Unlock()
	if !same {
		s.rollback()
		s.db = nil
		return msgGone
	}
	r := s.execute(ctx, strings.TrimSpace(q.Text))
	if r.Code == codeError {
		s.rollback()
		return r
	}
	if !q.Manual && len(s.changes) > 0 {
		if c := s.commit(); c.Code != codeOK {
			return c
		}
	}
	return r
}

func (s *sqlSession) connect(ctx context.Context, name string) reply {
	d := s.in.databases[strings.ToUpper(name)]
	if d == nil {
		return noDatabase(strings.ToUpper(name))
	}
	if bad := d.connectable(ctx); bad != nil {
		return *bad
	}
	s.rollback()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.active() {
		return msgGone
	}
	s.db, s.since = d, d.run.started
	return reply{Text: fmt.Sprintf("\n   Database Connection Information\n\n Database server        = DB2/LINUXX8664 %s\n SQL authorization ID   = %s\n Local database alias   = %s\n",
		s.in.cfg.edition().server, strings.ToUpper(s.in.cfg.Owner), d.cfg.Database)}
}

var (
	reLockTimeout = regexp.MustCompile(`(?i)^SET\s+CURRENT\s+LOCK\s+TIMEOUT\s*=?\s*(-?\d+|WAIT|NOT\s+WAIT)`)
	reUpdate      = regexp.MustCompile(`(?is)^UPDATE\s+(\S+)\s+SET\s+.*\bWHERE\s+\w+\s*=\s*'([^']*)'$`)
	reInsert      = regexp.MustCompile(`(?is)^INSERT\s+INTO\s+([^\s(]+).*?VALUES\s*\(\s*'([^']*)'`)
	reSelect      = regexp.MustCompile(`(?is)^SELECT\s+.*\bFROM\s+(\S+)(?:\s+WHERE\s+\w+\s*=\s*'([^']*)')?`)
	reCreate      = regexp.MustCompile(`(?i)^CREATE\s+TABLE\s+([^\s(]+)`)
)

var sqlDone = reply{Text: "DB20000I  The SQL command completed successfully."}

func (s *sqlSession) execute(ctx context.Context, sql string) reply {
	upper := strings.ToUpper(sql)
	switch {
	case upper == "COMMIT" || upper == "COMMIT WORK":
		return s.commit()
	case upper == "ROLLBACK" || upper == "ROLLBACK WORK":
		s.rollback()
		return sqlDone
	case strings.HasPrefix(upper, "CREATE TABLESPACE"):
		return sqlDone
	case strings.HasPrefix(upper, "VALUES CURRENT TIMESTAMP"):
		return s.one(s.in.clock.Now().Format("2006-01-02-15.04.05.000000"))
	case strings.HasPrefix(upper, "VALUES"):
		return s.one(strings.Trim(strings.TrimSpace(sql[len("VALUES"):]), "()"))
	}
	if m := reLockTimeout.FindStringSubmatch(sql); m != nil {
		s.lockTimeout = -1
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 0 {
			s.lockTimeout = time.Duration(n) * time.Second
		} else if err != nil && !strings.EqualFold(m[1], "WAIT") {
			s.lockTimeout = 0
		}
		return sqlDone
	}
	if m := reCreate.FindStringSubmatch(sql); m != nil {
		return s.createTable(strings.ToUpper(m[1]))
	}
	if m := reUpdate.FindStringSubmatch(sql); m != nil {
		return s.write(ctx, strings.ToUpper(m[1]), m[2], false)
	}
	if m := reInsert.FindStringSubmatch(sql); m != nil {
		return s.write(ctx, strings.ToUpper(m[1]), m[2], true)
	}
	if m := reSelect.FindStringSubmatch(sql); m != nil {
		return s.read(strings.ToUpper(m[1]), m[2])
	}
	return inSQL(msgCannotWrap)
}

func (s *sqlSession) one(value string) reply {
	return reply{Text: fmt.Sprintf("\n1          \n-----------\n%11s\n\n  1 record(s) selected.\n", value)}
}

func (s *sqlSession) createTable(table string) reply {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.db.cfg.Role == Standby {
		return inSQL(msgReadOnly)
	}
	if s.db.rows[table] != nil {
		return inSQL(failure(`SQL0601N  The name of the object to be created is identical to the existing name "%s" of type "TABLE".  SQLSTATE=42710`, table))
	}
	s.db.rows[table] = map[string]int64{}
	return sqlDone
}

func (s *sqlSession) read(table, row string) reply {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if table == "SYSIBM.SYSDUMMY1" {
		return s.one("1")
	}
	rows, ok := s.db.rows[table]
	if !ok {
		return inSQL(undefined(table))
	}
	seq, ok := rows[row]
	if !ok {
		return msgNoRow
	}
	return s.one(strconv.FormatInt(seq, 10))
}

// write changes one row and keeps its lock until the transaction ends.
func (s *sqlSession) write(ctx context.Context, table, row string, insert bool) reply {
	s.db.mu.Lock()
	rows, ok := s.db.rows[table]
	_, exists := rows[row]
	standby := s.db.cfg.Role == Standby
	s.db.mu.Unlock()
	switch {
	case standby:
		return inSQL(msgReadOnly)
	case !ok:
		return inSQL(undefined(table))
	case insert && exists:
		return inSQL(failure(`SQL0803N  One or more values in the INSERT statement, UPDATE statement, or foreign key update caused by a DELETE statement are not valid because the primary key, unique constraint or unique index identified by "1" constrains table "%s" from having duplicate values for the index key.  SQLSTATE=23505`, table))
	case !insert && !exists:
		return msgNoRow
	}
	key := table + "\x00" + row
	switch err := s.in.locks.take(ctx, s.in.clock, s, key, s.lockTimeout); {
	case errors.Is(err, errLockTimeout):
		return inSQL(msgLockTimeout)
	case err != nil:
		return msgGone
	}
	s.locked = append(s.locked, key)
	s.db.mu.Lock()
	seq := s.db.rows[table][row] + 1
	s.db.mu.Unlock()
	for _, c := range s.changes {
		if c.table == table && c.row == row {
			seq = c.seq + 1
		}
	}
	s.changes = append(s.changes, change{table, row, seq})
	return sqlDone
}

// commit waits for the log whether its client does or not: until it is through,
// the locks stay.
func (s *sqlSession) commit() reply {
	changes := s.changes
	defer s.rollback()
	for _, c := range changes {
		if _, err := s.db.commit(s.in.ctx, updateRecord, c.table, c.row, strconv.FormatInt(c.seq, 10)); err != nil {
			return sqlError(err)
		}
	}
	return sqlDone
}

// rollback ends the transaction and gives its locks back.
func (s *sqlSession) rollback() {
	for _, key := range s.locked {
		s.in.locks.drop(s, key)
	}
	s.locked, s.changes = nil, nil
}

var errLockTimeout = errors.New("lock timeout")

// lockTable holds the row locks of an instance.
type lockTable struct {
	mu      sync.Mutex
	holders map[string]*sqlSession
	freed   chan struct{}
}

func newLockTable() *lockTable {
	return &lockTable{holders: map[string]*sqlSession{}, freed: make(chan struct{})}
}

// take waits for a lock: for ever if timeout is negative.
func (t *lockTable) take(ctx context.Context, c clock.Clock, s *sqlSession, key string, timeout time.Duration) error {
	late := make(chan struct{})
	if timeout >= 0 {
		timer := c.AfterFunc(timeout, func() { close(late) })
		defer timer.Stop()
	}
	for {
		t.mu.Lock()
		holder, freed := t.holders[key], t.freed
		if holder == nil || holder == s {
			t.holders[key] = s
			t.mu.Unlock()
			return nil
		}
		t.mu.Unlock()
		select {
		case <-freed:
		case <-late:
			return errLockTimeout
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *lockTable) drop(s *sqlSession, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holders[key] == s {
		delete(t.holders, key)
		close(t.freed)
		t.freed = make(chan struct{})
	}
}
