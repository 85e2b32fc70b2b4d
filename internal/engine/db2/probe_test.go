package db2

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// A probe has 19 s, and one that waited for a lock says so in time. The next
// begins in second 20: in between a commit that hung may come through unseen.
const (
	shortestLockWait = 15 * time.Second
	longestLockWait  = 18 * time.Second
)

// TestProbeWaitsForNobody: a probe, through whichever processor, writes and
// commits the row of its own node in a table of its own, and waits for a lock
// nearly as long as it may take: lock time-out first, in the same connection.
func TestProbeWaitsForNobody(t *testing.T) {
	shell := &answers{output: terminated}
	resident := &child{lines: make(chan string, 100), answer: beats}
	r := &Resident{Clock: clock.System(), Start: func(string) (Child, error) { return resident, nil }}
	if err := (Local{Group: "orders", Shell: shell, Clock: clock.System()}).Probe(t.Context(), "b", probed); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := (Local{Group: "orders", Shell: shell, Clock: clock.System(), Resident: r}).Probe(t.Context(), "b", probed); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	const write = "UPDATE HAPROBE.BEAT SET SEQ = SEQ + 1, TS = CURRENT TIMESTAMP WHERE NODE = 'b';\nCOMMIT;\n"
	for name, statements := range map[string]string{"a processor of its own": shell.ran[0], "the resident one": resident.sent[0]} {
		inOrder(t, name, statements, "CONNECT TO SAMPLE;", "SET CURRENT LOCK TIMEOUT ", write)
		seconds, err := strconv.Atoi(regexp.MustCompile(`LOCK TIMEOUT (\d+);`).FindStringSubmatch(statements)[1])
		if wait := time.Duration(seconds) * time.Second; err != nil || wait < shortestLockWait || wait > longestLockWait {
			t.Errorf("%s waits for a lock for %s", name, wait)
		}
		if n := len(regexp.MustCompile(`(?i)\b(update|insert|delete|select)\b`).FindAllString(statements, -1)); n != 1 {
			t.Errorf("%s runs %d statements on tables, want one:\n%s", name, n, statements)
		}
	}
	if again := resident.sent[1]; !strings.HasPrefix(again, write) || strings.Contains(again, "CONNECT") {
		t.Errorf("a second probe through the resident processor: %s", again)
	}
}

func inOrder(t *testing.T, name, text string, parts ...string) {
	t.Helper()
	at := -1
	for _, p := range parts {
		i := strings.Index(text, p)
		if i <= at {
			t.Fatalf("%s: %q is missing or too early in:\n%s", name, p, text)
		}
		at = i
	}
}

// TestGuideMakesTheTableOfTheProbe: the statements that the guide gives people
// make the table that a probe writes, in a table space of its own, with a row
// for each node that is found by its key.
func TestGuideMakesTheTableOfTheProbe(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guides", "agent.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, sql, _ := strings.Cut(string(text), "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	for _, want := range []string{
		`CREATE TABLESPACE (\w+) `, `CREATE TABLE HAPROBE\.BEAT \(NODE VARCHAR\(\d+\) NOT NULL PRIMARY KEY, SEQ BIGINT NOT NULL, TS TIMESTAMP NOT NULL\) IN HAPROBE;`,
		`INSERT INTO HAPROBE\.BEAT VALUES \('a', 0, CURRENT TIMESTAMP\), \('b', 0, CURRENT TIMESTAMP\);`,
	} {
		if !regexp.MustCompile(want).MatchString(sql) {
			t.Errorf("the guide's statements do not have %s:\n%s", want, sql)
		}
	}
	if space := regexp.MustCompile(`CREATE TABLESPACE (\w+) `).FindStringSubmatch(sql); len(space) < 2 || space[1] != "HAPROBE" {
		t.Errorf("the table space is %v", space)
	}
}
