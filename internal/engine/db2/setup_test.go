package db2

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// answers is a shell that gives one answer to every script.
type answers struct {
	output string
	code   int
	err    error
	ran    []string
}

func (a *answers) Run(_ context.Context, script string) (string, int, error) {
	a.ran = append(a.ran, script)
	return a.output, a.code, a.err
}

var probed = map[string]string{"database": "SAMPLE", "instance_owner": "db2inst1"}

// TestProbeReplies: what a probe's reply says of the database, and what only
// of the host or the instance.
func TestProbeReplies(t *testing.T) {
	const connected = "\n   Database Connection Information\n\n Database server        = DB2/LINUXX8664 11.5.9.0\n SQL authorization ID   = DB2INST1\n Local database alias   = SAMPLE\n\nDB20000I  The SQL command completed successfully.\n"
	const done = "DB20000I  The SQL command completed successfully.\n"
	const ended = "DB20000I  The TERMINATE command completed successfully.\n"
	const locked = "SQL0911N  The current transaction has been rolled back because of a deadlock or timeout.\nReason code \"68\".  SQLSTATE=40001\n"
	tests := []struct {
		name   string
		output string
		code   int
		says   string // "" = committed
		setup  bool   // nothing is known of the database
	}{
		{name: "committed", output: connected + done + done + ended},
		{name: "committed, after words of the login", output: "Last login: today\nrunuser: warning: cannot change directory to /home/x\nDB20000I  The profile's own.\n" + connected + done + done + ended},
		{name: "committed, with a warning of the connection", output: "SQL1166W  Almost.\n" + connected + done + done + ended, code: 2},
		{name: "its own row is locked: the commit of an earlier probe hangs", output: connected + locked + done + ended, code: 4, says: "earlier probe still hangs"},
		{name: "not even where the code says nothing", output: connected + locked + done + ended, says: "earlier probe still hangs"},
		{name: "another rollback", output: "SQL0911N  The current transaction has been rolled back because of a deadlock\nor timeout.  Reason code \"2\".  SQLSTATE=40001\n", code: 4, says: "SQL0911N"},
		{name: "missing table", output: "DB21034E  The command was processed as an SQL statement because it was not a valid Command Line Processor command.  During SQL processing it returned:\nSQL0204N  \"HAPROBE.BEAT\" is an undefined name.  SQLSTATE=42704\n", code: 4, says: "no table HAPROBE.BEAT", setup: true},
		{name: "missing row: nothing was written, so nothing is proven", output: connected + "SQL0100W  No row was found for FETCH, UPDATE or DELETE; or the result of a query is an empty table.  SQLSTATE=02000\n" + done + ended, code: 1, says: "no row for node a", setup: true},
		{name: "no right to write", output: "SQL0551N  The statement failed because the authorization ID does not have the required authorization\n", code: 4, says: "may not write table HAPROBE.BEAT", setup: true},
		{name: "wrong credentials", output: "SQL30082N  Security processing failed with reason \"24\" (\"USERNAME AND/OR PASSWORD INVALID\").  SQLSTATE=08001\n", code: 4, says: "wrong credentials", setup: true},
		{name: "unknown database", output: "SQL1013N  The database alias name or database name \"SAMPLE\" could not be found.  SQLSTATE=42705\n", code: 4, says: "knows no database SAMPLE", setup: true},
		{name: "db2 is not in PATH", output: "sh: 1: db2: not found\n", code: 127, says: "not in the PATH of user db2inst1", setup: true},
		{name: "db2 is not in PATH, in another shell's words", output: "-bash: line 1: db2: command not found\n", code: 1, says: "not in the PATH", setup: true},
		{name: "no such user", output: "runuser: user db2inst1 does not exist or the user entry does not contain all the required fields\n", code: 1, says: "no user db2inst1", setup: true},
		{name: "the host's disk is full", output: "sh: 1: cannot create temp file for here document: No space left on device\n", code: 2, says: "disk of this host is full", setup: true},
		{name: "the transaction log is full: the database fails", output: "SQL0964C  The transaction log for the database is full.  SQLSTATE=57011\n", code: 4, says: "transaction log is full"},
		{name: "the file system of the database is full", output: "SQL0968C  The file system is full.\n", code: 4, says: "df -h"},
		{name: "the server is gone", output: "SQL1224N  The database manager is not able to accept new requests\n", code: 4, says: "SQL1224N"},
		{name: "output without a message", output: "Segmentation fault\n", code: 139, says: "code 139"},
		{name: "nothing at all", says: "confirms no commit"},
		{name: "nothing but the login's words", output: "Last login: today\n", says: "confirms no commit"},
		{name: "no message, code 1", code: 1, says: "confirms no commit"},
		{name: "no message, code 3", output: "?\n", code: 3, says: "confirms no commit"},
		{name: "cut off before the commit", output: connected + done, says: "confirms no commit"},
		{name: "cut off before the end", output: connected + done + done, says: "confirms no commit"},
		{name: "no reply to the commit", output: connected + done + ended, says: "confirms no commit"},
		{name: "a warning in place of the commit's success", output: connected + done + "SQL0437W  Performance may be sub-optimal.\n" + ended, code: 2, says: "confirms no commit"},
		{name: "runuser may not become the user", output: "runuser: cannot set user id: Resource temporarily unavailable\n", code: 1, says: "cannot set user id", setup: true},
		{name: "runuser opens no session", output: "Last login: today\nrunuser: cannot open session: Permission denied\n", code: 1, says: "cannot open session", setup: true},
		{name: "runuser finds no shell", output: "runuser: failed to execute /bin/ksh: No such file or directory\n", code: 127, says: "failed to execute /bin/ksh", setup: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Local{Group: "orders", Shell: &answers{output: tt.output, code: tt.code}, Clock: clock.System()}.Probe(t.Context(), "a", probed)
			var setup SetupError
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) || errors.As(err, &setup) != tt.setup {
				t.Fatalf("error %v, want %q, setup %v", err, tt.says, tt.setup)
			}
			if tt.setup && setup.Fix == "" {
				t.Error("no way out is named")
			}
		})
	}
}

// TestViewOfBrokenHost: a view that can't be taken says why, and never that the
// database is well or down.
func TestViewOfBrokenHost(t *testing.T) {
	report := func(db2pd string) string {
		return "=== hadr host_time\n1800000000.000000000\n=== hadr hostname\nh\n=== hadr table\n=== hadr epoch\n=== hadr takeover\n=== hadr stopped\n=== hadr addresses\n=== hadr db2pd\n" + db2pd + "\n=== hadr end\n"
	}
	tests := []struct {
		name    string
		output  string
		trouble string // "" = the agent's general words
	}{
		{"db2pd is not in PATH", report("timeout: failed to run command 'db2pd': No such file or directory"), "not in the PATH"},
		{"no such user", report("runuser: user db2inst1 does not exist"), "no user db2inst1"},
		{"runuser runs nothing", report("runuser: cannot set groups: Operation not permitted"), "cannot set groups"},
		{"output of an unknown version, and a word of runuser", report("runuser: warning: cannot change directory to /home/x\nROLE: primary"), ""},
		{"output of an unknown version", report("Database Member 0 -- Database SAMPLE -- Active\n\nROLE: primary, state: peer"), ""},
		{"cut off by a full disk", "sh: 1: cannot create temp file: No space left on device\n", "disk of this host is full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Local{Group: "orders", Shell: &answers{output: tt.output}, Clock: clock.System()}.View(t.Context(), probed)
			if o.Answer != failover.Unreadable || o.Database != failover.DatabaseUnknown || o.Role != failover.RoleUnknown || o.Fitness == failover.Fit {
				t.Errorf("view: %s, database %q, role %q, %s", o.Answer, o.Database, o.Role, o.Fitness)
			}
			if !strings.Contains(o.Trouble, tt.trouble) || (o.Trouble != "") != (tt.trouble != "") {
				t.Errorf("trouble %q, want %q", o.Trouble, tt.trouble)
			}
		})
	}
}

// TestViewOfHungServer: a db2pd that hangs, too, is a sign of a hung server,
// not of a host that is not set up.
func TestViewOfHungServer(t *testing.T) {
	out := "=== hadr host_time\n1800000000.000000000\n=== hadr addresses\n=== hadr db2pd\n\n=== hadr end\n"
	o := Local{Group: "orders", Shell: &answers{output: out}, Clock: clock.System()}.View(t.Context(), probed)
	if o.Answer != failover.Silent || o.Trouble != "" || !strings.Contains(o.AnswerError, "no answer in time") {
		t.Errorf("view: %s (%s), trouble %q", o.Answer, o.AnswerError, o.Trouble)
	}
}

// TestViewOfHungDB2PD: a db2pd that its limit ended gave no answer, whatever the
// login or db2pd itself had printed, and is no unknown version. A report of an
// older document has no code.
func TestViewOfHungDB2PD(t *testing.T) {
	const banner = "Authorized use only. Last login: today"
	for _, tt := range []struct {
		name, printed, code string
		want                failover.Answer
	}{
		{"ended by its limit", banner, "124", failover.Silent},
		{"killed after its limit", banner, "137", failover.Silent},
		{"nothing printed", "", "124", failover.Silent},
		{"ended in the middle", primaryInPeer[:len(primaryInPeer)/2], "124", failover.Silent},
		{"ended behind what looks whole", primaryInPeer, "137", failover.Silent},
		{"an unknown version", banner, "0", failover.Unreadable},
		{"an unknown version, in an older report", banner, "", failover.Unreadable},
		{"an answer", banner + primaryInPeer, "0", failover.Answered},
		{"an answer in an older report", primaryInPeer, "", failover.Answered},
		{"an answer with db2pd's own code", primaryInPeer, "255", failover.Answered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := "=== hadr host_time\n1561460187.000000000\n=== hadr db2pd\n" + tt.printed + "\n"
			if tt.code != "" {
				out += "=== hadr db2pd_code\n" + tt.code + "\n"
			}
			o := Local{Group: "orders", Shell: &answers{output: out + "=== hadr end\n"}, Clock: clock.System()}.View(t.Context(), probed)
			if o.Answer != tt.want || tt.want == failover.Silent && (o.Trouble != "" || o.Role != failover.RoleUnknown || !strings.Contains(o.AnswerError, "no answer in time")) {
				t.Errorf("view: %s (%s), role %q, trouble %q; want %s", o.Answer, o.AnswerError, o.Role, o.Trouble, tt.want)
			}
		})
	}
}

// TestOrderlyStop (R6): the mark of a stop counts while the database is down,
// and goes when it is active again.
func TestOrderlyStop(t *testing.T) {
	down := instanceDown(t)
	report := func(db2pd string) string {
		return "=== hadr host_time\n1561460187.000000000\n=== hadr hostname\nh\n=== hadr stopped\npatch, by dba\n=== hadr addresses\n=== hadr db2pd\n" + db2pd + "\n=== hadr end\n"
	}
	shell := &answers{output: report(down)}
	l := Local{Group: "orders", Shell: shell, Clock: clock.System()}
	if o := l.View(t.Context(), probed); o.StoppedInOrder != "patch, by dba" || o.Database != failover.DatabaseDown || len(shell.ran) != 1 {
		t.Errorf("down: %q, %s, %d scripts", o.StoppedInOrder, o.Database, len(shell.ran))
	}
	shell.output = report(primaryInPeer)
	if o := l.View(t.Context(), probed); o.StoppedInOrder != "" || o.Database != failover.DatabaseActive || len(shell.ran) != 3 || !strings.Contains(shell.ran[2], "rm -f") {
		t.Errorf("active: %q, %s (%s), ran %q", o.StoppedInOrder, o.Database, o.AnswerError, shell.ran[len(shell.ran)-1])
	}
}

func instanceDown(t *testing.T) string {
	t.Helper()
	return "Unable to attach to database manager on member 0.\nPlease ensure the following are true:\n   - db2start has been run for the member.\n"
}

// primaryInPeer is the shape of db2pd's output (11.x).
const primaryInPeer = `
Database Member 0 -- Database SAMPLE -- Active -- Up 0 days 00:00:41 -- Date 2019-06-25-10.56.27.000000

                            HADR_ROLE = PRIMARY
                          REPLAY_TYPE = PHYSICAL
                        HADR_SYNCMODE = NEARSYNC
                           STANDBY_ID = 1
                        LOG_STREAM_ID = 0
                           HADR_STATE = PEER
                           HADR_FLAGS = TCP_PROTOCOL
                  HADR_CONNECT_STATUS = CONNECTED
             HADR_CONNECT_STATUS_TIME = 06/25/2019 10:55:05.078116 (1561460105)
          HEARTBEAT_INTERVAL(seconds) = 5
                HADR_TIMEOUT(seconds) = 120
        TIME_SINCE_LAST_RECV(seconds) = 1
           LOG_HADR_WAIT_CUR(seconds) = 0.000
            PRIMARY_LOG_FILE,PAGE,POS = S0000001.LOG, 0, 48912046
            STANDBY_LOG_FILE,PAGE,POS = S0000001.LOG, 0, 48912046
                 PEER_WINDOW(seconds) = 300
                      PEER_WINDOW_END = 06/25/2019 11:01:27.000000 (1561460487)
`

// TestBlockedUntil (R16): a primary acknowledges nothing without its standby
// until the end of its window, and only while there is one.
func TestBlockedUntil(t *testing.T) {
	end := time.Unix(1561460487, 0)
	tests := []struct {
		name   string
		change [2]string
		want   time.Time
	}{
		{"peer", [2]string{}, end},
		{"without its standby, in the window", [2]string{"HADR_STATE = PEER", "HADR_STATE = DISCONNECTED_PEER"}, end},
		{"after the window", [2]string{"HADR_STATE = PEER", "HADR_STATE = DISCONNECTED"}, time.Time{}},
		{"a mode without a window", [2]string{"NEARSYNC", "ASYNC"}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(primaryInPeer, tt.change[0], tt.change[1])
			if tt.change[0] == "" {
				text = primaryInPeer
			}
			out := "=== hadr host_time\n1561460187.000000000\n=== hadr db2pd\n" + text + "\n=== hadr end\n"
			o := Local{Group: "orders", Shell: &answers{output: out}, Clock: clock.System()}.View(t.Context(), probed)
			if o.Role != failover.RolePrimary || !o.BlockedUntil.Equal(tt.want) {
				t.Errorf("role %s (%s): blocked until %s, want %s", o.Role, o.AnswerError, o.BlockedUntil, tt.want)
			}
		})
	}
}

// TestKill (R17): only a server that is read as gone is dead.
func TestKill(t *testing.T) {
	kill := func(after string) (*answers, error) {
		shell := &answers{output: "=== hadr host_time\n1561460187.000000000\n=== hadr db2pd\n" + after + "\n=== hadr end\n"}
		return shell, Local{Group: "orders", Shell: shell, Clock: clock.System()}.Kill(t.Context(), probed)
	}
	shell, err := kill(instanceDown(t))
	if err != nil || len(shell.ran) != 2 || !strings.Contains(shell.ran[0], "db2_kill") || strings.Contains(fmt.Sprint(shell.ran), "db2stop") {
		t.Errorf("Kill: %v, ran %q", err, shell.ran)
	}
	if _, err := kill(primaryInPeer); err == nil || !strings.Contains(err.Error(), "still answers") {
		t.Errorf("Kill of one that lives on: %v", err)
	}
	for _, bad := range []string{"db2inst1; reboot", "", "$(id)"} {
		l := Local{Group: "orders", Shell: &answers{}, Clock: clock.System()}
		if err := l.Kill(t.Context(), map[string]string{"database": "SAMPLE", "instance_owner": bad}); err == nil {
			t.Errorf("owner %q reached the shell", bad)
		}
	}
}
