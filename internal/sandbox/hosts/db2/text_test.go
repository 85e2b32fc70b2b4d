package db2_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// golden compares a text with testdata/<name>; UPDATE_GOLDEN=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestDb2pdText(t *testing.T) {
	p := standard
	p.PeerWindow, p.Locale = 300*time.Second, "en_GB"
	inBubble(t, p, func(t *testing.T, x *pair) {
		golden(t, "db2pd-instance-down.txt", x.a.pd()["text"])
		x.b.start()
		golden(t, "db2pd-not-active.txt", x.b.pd()["text"])
		x.b.db2(0, "activate db SAMPLE")
		time.Sleep(5 * time.Second)
		golden(t, "db2pd-standby-never-connected.txt", x.b.pd()["text"])
		x.a.start()
		x.a.db2(0, "activate db SAMPLE")
		time.Sleep(40 * time.Second)
		golden(t, "db2pd-primary-peer.txt", x.a.pd()["text"])
		golden(t, "db2pd-standby-peer.txt", x.b.pd()["text"])
		x.a.vanish()
		time.Sleep(100 * time.Second)
		golden(t, "db2pd-standby-disconnected-peer.txt", x.b.pd()["text"])
		golden(t, "db-cfg-standby.txt", func() string {
			var out bytes.Buffer
			db2.CLP(context.Background(), x.b.env(&out, ""), []string{"get db cfg for SAMPLE"})
			return out.String()
		}())
	})
}

// Every line of a block has its key right-aligned in 37 characters, in the
// order that 11.5.8 prints.
func TestDb2pdLayout(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		lines := strings.Split(x.a.pd()["text"], "\n")
		if header := regexp.MustCompile(`^Database Member 0 -- Database SAMPLE -- Active -- Up 0 days 00:00:\d\d -- Date \d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d{6}$`); lines[0] != "" || !header.MatchString(lines[1]) {
			t.Errorf("header %q", lines[:2])
		}
		for _, line := range lines[3 : len(lines)-1] {
			if strings.Index(line, " = ") != 37 {
				t.Errorf("%q", line)
			}
		}
	})
}

func TestLocales(t *testing.T) {
	for locale, shape := range map[string]string{
		"": `^\d\d/\d\d/\d{4} .*\(\d+\)$`, "en_GB": `^\d\d-\d\d-\d{4} .*\(\d+\)$`, "de_DE": `^\d\d\.\d\d\.\d{4} .*\(\d+\)$`,
		"ja_JP": `^\d{4}/\d\d/\d\d .*\(\d+\)$`, "ISO": `^\d{4}-\d\d-\d\d-.*\(\d+\)$`,
	} {
		p := standard
		p.Locale = locale
		inBubble(t, p, func(t *testing.T, x *pair) {
			x.up()
			x.b.waitFor(db2.Peer, 10*time.Second)
			if got := x.b.pd()["PEER_WINDOW_END"]; !regexp.MustCompile(shape).MatchString(got) {
				t.Errorf("%q: %s", locale, got)
			}
		})
	}
}

// A resident processor answers statement after statement on one connection.
func TestResidentProcessor(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		var out bytes.Buffer
		code := db2.CLP(context.Background(), x.a.env(&out, `connect to SAMPLE;
set current lock timeout 3;
update HAPROBE.BEAT set SEQ=SEQ+1, TS=CURRENT TIMESTAMP
  where NODE='a'; commit;
select SEQ from HAPROBE.BEAT where NODE='a';
update HAPROBE.BEAT set SEQ=SEQ+1 where NODE='z';
terminate;
commit;
echo The end, without a connection;
`), []string{"-x", "+p", "-t"})
		want := `
   Database Connection Information

 Database server        = DB2/LINUXX8664 11.5.8.0
 SQL authorization ID   = DB2INST1
 Local database alias   = SAMPLE

DB20000I  The SQL command completed successfully.
DB20000I  The SQL command completed successfully.
DB20000I  The SQL command completed successfully.
          1
SQL0100W  No row was found for FETCH, UPDATE or DELETE; or the result of a 
query is an empty table.  SQLSTATE=02000
DB20000I  The TERMINATE command completed successfully.
SQL1024N  A database connection does not exist.  SQLSTATE=08003
The end, without a connection
`
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Error(diff)
		}
		if code != 1|4 {
			t.Errorf("exit code %d, want the OR of all", code)
		}
	})
}

func TestSQLLevers(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		ask := func(timeout time.Duration) (string, time.Duration) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			var out bytes.Buffer
			began := time.Now()
			db2.CLP(ctx, x.a.env(&out, "connect to SAMPLE;"), []string{"-t"})
			return out.String(), time.Since(began)
		}
		if err := db2.Lever(context.Background(), x.a, true, 0); err != nil {
			t.Fatal(err)
		}
		if _, took := ask(20 * time.Second); took != 20*time.Second {
			t.Errorf("a hung database answered after %s", took)
		}
		if got := x.a.pd(); got["HADR_STATE"] != "PEER" || got["HADR_CONNECT_STATUS"] != "CONNECTED" {
			t.Error("HADR must stay connected")
		}
		if err := db2.Lever(context.Background(), x.a, false, 25*time.Second); err != nil {
			t.Fatal(err)
		}
		if _, took := ask(time.Minute); took < 25*time.Second || took > 26*time.Second {
			t.Errorf("a slow database answered after %s", took)
		}
	})
}

func TestLockTimeout(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		const update = "connect to SAMPLE; set current lock timeout 3; update HAPROBE.BEAT set SEQ=SEQ+1 where NODE='a';"
		holding, release := make(chan struct{}), make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			var out bytes.Buffer
			env := x.a.env(&out, "")
			env.Stdin = &heldInput{text: update, holding: holding, release: release}
			db2.CLP(context.Background(), env, []string{"-t", "+c"})
		}()
		<-holding
		time.Sleep(time.Second)
		var out bytes.Buffer
		began := time.Now()
		code := db2.CLP(context.Background(), x.a.env(&out, update), []string{"-t", "+c"})
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), `SQL0911N The current transaction has been rolled back because of a deadlock or timeout. Reason code "68"`) || code != 4 {
			t.Errorf("%d %s", code, out.String())
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("waited %s for the lock", took)
		}
		close(release)
		<-done
	})
}

// A client that is killed while its commit waits for the log leaves the lock of
// its row with the server until the log moves again; then the row is committed.
func TestHungCommitKeepsItsLock(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		const update = "connect to SAMPLE; set current lock timeout 3; update HAPROBE.BEAT set SEQ=SEQ+1 where NODE='a'; commit;"
		seq := func() string {
			var out bytes.Buffer
			db2.CLP(context.Background(), x.a.env(&out, "connect to SAMPLE; select SEQ from HAPROBE.BEAT where NODE='a';"), []string{"-x", "-t"})
			words := strings.Fields(out.String())
			return words[len(words)-1]
		}
		ask := func(limit time.Duration) (string, time.Duration) {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			var out bytes.Buffer
			began := time.Now()
			db2.CLP(ctx, x.a.env(&out, update), []string{"-t", "+c"})
			return out.String(), time.Since(began)
		}
		before := seq()
		x.fab.CutBoth("a", "b")
		x.a.waitFor(db2.DisconnectedPeer, 3*time.Minute)
		if _, took := ask(19 * time.Second); took != 19*time.Second {
			t.Fatalf("a commit that waits for the log returned after %s", took)
		}
		if out, took := ask(19 * time.Second); !strings.Contains(out, "SQL0911N") || took != 3*time.Second {
			t.Errorf("behind it, after %s: %s", took, out)
		}
		x.a.waitFor(db2.Disconnected, 10*time.Minute)
		if out, _ := ask(19 * time.Second); strings.Contains(out, "SQL0911N") {
			t.Errorf("after the peer window: %s", out)
		}
		if a, b := number(t, before), number(t, seq()); b != a+2 {
			t.Errorf("the row went from %d to %d, want both commits", a, b)
		}
	})
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// heldInput gives a text and then waits.
type heldInput struct {
	text             string
	holding, release chan struct{}
	given            bool
}

func (h *heldInput) Read(b []byte) (int, error) {
	if !h.given {
		h.given = true
		return copy(b, h.text+"\n"), nil
	}
	close(h.holding)
	<-h.release
	return 0, os.ErrClosed
}

func TestRefusalsOfCommands(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		if got := x.a.db2(4, "connect to SAMPLE"); got != "SQL1032N No start database manager command was issued. SQLSTATE=57019" {
			t.Error(got)
		}
		x.b.start()
		for command, want := range map[string]string{
			"activate db NOPE":                    `SQL1013N The database alias name or database name "NOPE" could not be found. SQLSTATE=42705`,
			"takeover hadr on db SAMPLE":          "SQL1770N Takeover HADR cannot complete.",
			"start hadr on db SAMPLE as primary":  "SQL1767N Start HADR cannot complete.",
			"takeover hadr on db SAMPLE by magic": "SQL0104N",
		} {
			if got := x.b.db2(4, command); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", command, got)
			}
		}
		x.b.db2(0, "stop hadr on db SAMPLE")
		if got := x.b.db2(4, "activate db SAMPLE"); !strings.HasPrefix(got, "SQL1117N") {
			t.Error(got)
		}
		x.b.db2(0, "update db cfg for SAMPLE using LOGINDEXBUILD OFF")
		if got := x.b.db2(2, "start hadr on db SAMPLE as standby"); !strings.HasPrefix(got, "SQL1766W") {
			t.Error(got)
		}
	})
}

// A processor that is killed while it waits for input ends at once.
func TestKilledProcessorWaitsForNoInput(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		in, out := io.Pipe()
		env := x.a.env(&bytes.Buffer{}, "")
		env.Stdin = in
		began := time.Now()
		db2.CLP(ctx, env, []string{"+p", "-t"})
		if took := time.Since(began); took != time.Second {
			t.Errorf("ended after %s", took)
		}
		_ = out.Close()
	})
}
