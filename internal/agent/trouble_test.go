package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// journal keeps what an agent logs.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	return nil
}

func (j *journal) warnings() (found []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.lines {
		if strings.HasPrefix(l, "WARN") {
			found = append(found, l)
		}
	}
	return found
}

func apiError(code, message string) error {
	return fmt.Errorf("operation: %w", &smithy.GenericAPIError{Code: code, Message: message, Fault: smithy.FaultClient})
}

// TestBadInput: what is not as it should be is told once, with the way out; the
// agent goes on, and its node never looks healthier than it is.
func TestBadInput(t *testing.T) {
	denied := apiError("AccessDeniedException", "not authorized")
	tests := []struct {
		name   string
		change func(*host)
		says   string // in the log, once
		fix    string // there, too
		// onRecord: the record can be written, and shows the trouble
		onRecord bool
		bad      bool // it is a failure of the database, too
		silent   bool // no value is published meanwhile
		suspends bool // the lease's silence proves nothing
	}{
		{name: "wrong credentials", change: func(h *host) {
			h.recordErr = apiError("UnrecognizedClientException", "The security token included in the request is invalid")
			h.metricsErr = apiError("InvalidClientTokenId", "invalid")
		}, says: "AWS refuses the credentials", fix: "correct the instance profile", silent: true},
		{name: "no credentials", change: func(h *host) {
			h.recordErr = errors.New("operation error DynamoDB: GetItem, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found")
			h.metricsErr = h.recordErr
		}, says: "there are no credentials", fix: "give the instance a profile", silent: true},
		{name: "the state table is missing", change: func(h *host) { h.recordErr = apiError("ResourceNotFoundException", "Requested resource not found") },
			says: "there is no such table", fix: "check HADR_TABLE and AWS_REGION"},
		{name: "the group is not declared any more", change: func(h *host) { h.recordErr = fmt.Errorf("PROBE: %w", control.ErrNotFound) },
			says: "not found", fix: "run terraform apply"},
		{name: "no permission for one API: metrics", change: func(h *host) { h.metricsErr = denied },
			says: "no permission for cloudwatch:PutMetricData", fix: "hadr_host_policy", onRecord: true, silent: true},
		{name: "no permission for one API: the record's reads and writes", change: func(h *host) { h.recordErr = denied },
			says: "no permission for dynamodb:PutItem", fix: "hadr_host_policy"},
		{name: "the clock is off by more than the allowed drift", change: func(h *host) { h.offset = 3 * time.Second },
			says: "the clock of this host is off by 3s, and at most 2s is allowed", fix: "chronyc makestep", onRecord: true},
		{name: "the clock is off within the limit", change: func(h *host) { h.offset = -1900 * time.Millisecond }},
		{name: "a disk of the host is full: nothing is known of the database", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Unreadable, AnswerError: "cut off", Trouble: "a disk of this host is full: free some space"}
		}, says: "a disk of this host is full", fix: "free some space", onRecord: true, suspends: true},
		{name: "the log's file system is full: the database fails", change: func(h *host) {
			h.probe = func(context.Context) error {
				return errors.New("SQL0968C its file system is full: free some space (df -h)")
			}
		}, says: "its file system is full", fix: "free some space", bad: true},
		{name: "the log's file system is full: PostgreSQL fails", change: func(h *host) {
			h.probe = func(context.Context) error {
				return errors.New(`a file system of the server is full: free some space (df -h): ERROR: could not extend file "base/5/16385": No space left on device (SQLSTATE 53100)`)
			}
		}, says: "No space left on device", fix: "free some space", bad: true},
		{name: "a database that words it as the host does fails, too", change: func(h *host) {
			h.probe = func(context.Context) error { return errors.New("ERROR: no space left on device") }
		}, says: "no space left on device", bad: true},
		{name: "a standby of PostgreSQL can't keep its files", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive, Fitness: failover.Fit,
				Trouble: "this host can't keep in /var/lib/hadr when it last heard of its primary (no space left on device): free some space there (df -h)"}
		}, says: "can't keep in /var/lib/hadr", fix: "free some space", onRecord: true, suspends: true},
		{name: "the host has no room for a bound address", change: func(h *host) {
			h.vip, h.bindErr = "10.99.0.1", &fs.PathError{Op: "write", Path: "/run/hadr", Err: syscall.ENOSPC}
		}, says: "no space left on device", fix: "free some space", onRecord: true},
		{name: "db2 is not in PATH", change: func(h *host) {
			h.probe = func(context.Context) error {
				return setupError{"db2 is not in the PATH of user db2inst1", "let its profile read db2profile"}
			}
		}, says: "not in the PATH", fix: "db2profile", onRecord: true, suspends: true},
		{name: "output of an unknown version", change: func(h *host) {
			h.view = failover.Observation{Answer: failover.Unreadable, AnswerError: "HADR_ROLE is missing"}
		}, says: "HADR_ROLE is missing", fix: "update hadr-agent", onRecord: true, suspends: true},
		{name: "the address can't be bound", change: func(h *host) { h.vip, h.bindErr = "10.99.0.1", errors.New("operation not permitted") },
			says: "operation not permitted", onRecord: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := leasedHost()
				log := &journal{}
				a := h.agent("a")
				a.Log = slog.New(log)
				const begins = time.Minute + time.Second
				h.after(begins, func() { tt.change(h) })
				values := 0
				h.after(begins+time.Second, func() { values = len(h.values) })
				run(t, a, 6*time.Minute)

				told := 0
				for _, l := range log.warnings() {
					if tt.says != "" && strings.Contains(l, tt.says) && strings.Contains(l, "group=orders") {
						told++
						if !strings.Contains(l, tt.fix) {
							t.Errorf("%q names no way out", l)
						}
					}
				}
				if tt.says != "" && told != 1 {
					t.Errorf("told %d times:\n%s", told, strings.Join(log.warnings(), "\n"))
				}
				if tt.says == "" && len(log.warnings()) > 0 {
					t.Errorf("warnings:\n%s", strings.Join(log.warnings(), "\n"))
				}
				if published := len(h.values) - values; (published < 14) != tt.silent {
					t.Errorf("%d values in five minutes", published)
				}
				last := h.nodes[len(h.nodes)-1]
				if tt.onRecord != strings.Contains(last.Trouble, tt.says) && tt.says != "" {
					t.Errorf("on the record: trouble %q", last.Trouble)
				}
				if tt.onRecord && (last.Fitness != failover.Unfit || !strings.Contains(last.FitnessWhy, tt.says) || !last.DeadManUntil.IsZero()) {
					t.Errorf("the node looks healthier than it is: %s (%s), dead-man until %s", last.Fitness, last.FitnessWhy, last.DeadManUntil)
				}
				if !last.LastBadProbe.IsZero() != tt.bad {
					t.Errorf("last bad probe %s, want one: %v", last.LastBadProbe, tt.bad)
				}
				if suspended := h.lease.Suspended != ""; suspended != tt.suspends {
					t.Errorf("the lease is suspended for %q, want %v", h.lease.Suspended, tt.suspends)
				}
			})
		})
	}
}

// TestTroubleIsOver: the end of a trouble is told, and the node is well again.
func TestTroubleIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		log := &journal{}
		a := h.agent("a")
		a.Log = slog.New(log)
		h.offset = 5 * time.Second
		h.after(2*time.Minute, func() { h.offset = 0 })
		run(t, a, 3*time.Minute)
		if text := strings.Join(log.lines, "\n"); !strings.Contains(text, "INFO mended: the clock is off") {
			t.Errorf("the log does not tell of the end:\n%s", text)
		}
		if last := h.nodes[len(h.nodes)-1]; last.Trouble != "" {
			t.Errorf("trouble %q", last.Trouble)
		}
	})
}

// TestAlive: a loop that hangs is found, for the watchdog.
func TestAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := leasedHost()
		a := h.agent("a")
		thaw := make(chan struct{})
		var well, hung error
		time.AfterFunc(time.Minute, func() { well = a.Alive() })
		h.after(time.Minute+time.Second, func() { h.frozen = thaw })
		time.AfterFunc(4*time.Minute, func() { hung = a.Alive(); close(thaw) })
		run(t, a, 5*time.Minute)
		if well != nil || hung == nil || !strings.Contains(hung.Error(), "publishing") {
			t.Errorf("while it is well: %v; while a call never ends: %v", well, hung)
		}
	})
}
