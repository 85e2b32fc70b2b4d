package db2_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// samples are where the parsers of the product have theirs: texts that the
// simulator must print as well.
const samples = "../../../engine/db2/testdata"

// sampleRows reads the index of a set of samples.
func sampleRows[T any](t *testing.T, set string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(samples, set, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Rows []T }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	return index.Rows
}

// sampleText reads a sample. Quoted output is not part of this repository: it
// is read from the directory that HADR_ORACLES names.
func sampleText(t *testing.T, set, file, origin string) string {
	t.Helper()
	dir := samples
	if strings.HasPrefix(origin, "real") {
		if dir = os.Getenv("HADR_ORACLES"); dir == "" {
			t.Skip("quoted output: set HADR_ORACLES to the directory with the samples")
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, set, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// line is one line of db2pd: a key and the form of its value, or a text.
type line struct{ Key, Form string }

var (
	reKey    = regexp.MustCompile(`^\s*([A-Z][A-Z0-9_,]*(?:\(\w+\))?) =\s?(.*)$`)
	reHeader = regexp.MustCompile(`^Database Member \d+ -- Database \w+ -- ([\w ]+) -- Up \d+ days \d\d:\d\d:\d\d -- Date (\S.*)$`)
	reDigits = regexp.MustCompile(`\d`)
	reEpoch  = regexp.MustCompile(`\(9+\)`)
	reLog    = regexp.MustCompile(`^S\d{7}\.LOG, \d+, \d+$`)
	reNumber = regexp.MustCompile(`^-?\d+(, \d+)?$`)
	reZero   = regexp.MustCompile(`^[0.]+$`)
)

// Keys whose values are words of Db2 or settings of the pair: they must be
// the same. Of numbers that tell a situation it matters whether they are zero.
var (
	sameValue = words(`HADR_ROLE REPLAY_TYPE HADR_SYNCMODE STANDBY_ID LOG_STREAM_ID HADR_STATE HADR_FLAGS HADR_CONNECT_STATUS
		PRIMARY_MEMBER STANDBY_MEMBER HEARTBEAT_INTERVAL(seconds) HADR_TIMEOUT(seconds) PEER_WAIT_LIMIT(seconds) PEER_WINDOW(seconds)
		READS_ON_STANDBY_ENABLED STANDBY_REPLAY_ONLY_WINDOW_ACTIVE`)
	sameSign = words(`HEARTBEAT_MISSED LOG_HADR_WAIT_CUR(seconds) STANDBY_RECV_BUF_PERCENT STANDBY_SPOOL_PERCENT STANDBY_RECV_REPLAY_GAP(bytes)`)
)

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// shape is what two outputs have in common if they tell the same: the lines in
// their order, with the form of each value. White space does not count.
func shape(text string) []line {
	var out []line
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		m, h := reKey.FindStringSubmatch(l), reHeader.FindStringSubmatch(l)
		switch {
		case l == "":
		case h != nil:
			out = append(out, line{"header", h[1] + " " + reDigits.ReplaceAllString(h[2], "9")})
		case m != nil:
			out = append(out, line{m[1], form(m[1], strings.TrimSpace(m[2]))})
		default:
			out = append(out, line{"", reDigits.ReplaceAllString(l, "9")})
		}
	}
	return out
}

func form(key, value string) string {
	digits := reDigits.ReplaceAllString(value, "9")
	switch {
	case sameValue[key] || value == "" || value == "NULL":
		return value
	case reLog.MatchString(value):
		return "file, page, position"
	case reNumber.MatchString(value) || strings.HasPrefix(key, "LOG_HADR_WAIT"):
		sign := ""
		if sameSign[key] && !reZero.MatchString(value) {
			sign = " above zero"
		}
		if _, fraction, ok := strings.Cut(digits, "."); ok {
			return "number." + fraction + sign
		}
		return "number" + sign
	case reEpoch.MatchString(digits):
		return reEpoch.ReplaceAllString(digits, "(epoch)")
	}
	return "name"
}

// A form holds what tells two situations apart and nothing else.
func TestForm(t *testing.T) {
	tests := []struct{ key, a, b, same string }{
		{"HADR_STATE", "PEER", "REMOTE_CATCHUP", "no"},
		{"PRIMARY_MEMBER_HOST", "hadr-a", "db1", "yes"},
		{"PRIMARY_MEMBER_HOST", "hadr-a", "NULL", "no"},
		{"PEER_WINDOW_END", "03/02/2026 10:04:58.000000 (1772445898)", "01/01/2000 00:00:00.000000 (946684800)", "yes"},
		{"PEER_WINDOW_END", "03/02/2026 10:04:58.000000 (1772445898)", "02.03.2026 10:04:58.000000 (1772445898)", "no"},
		{"HEARTBEAT_MISSED", "0", "3", "no"},
		{"HEARTBEAT_EXPECTED", "0", "3", "yes"},
		{"LOG_HADR_WAIT_CUR(seconds)", "0.000", "8.750", "no"},
		{"LOG_HADR_WAIT_RECENT_AVG(seconds)", "0.000000", "0.004210", "yes"},
		{"LOG_HADR_WAIT_RECENT_AVG(seconds)", "0.000", "0.004210", "no"},
		{"STANDBY_LOG_FILE,PAGE,POS", "S0000042.LOG, 120, 900000000", "S0000001.LOG, 0, 48912118", "yes"},
		{"SOCK_SEND_BUF_REQUESTED,ACTUAL(bytes)", "0, 87040", "0, 1", "yes"},
	}
	for _, tt := range tests {
		if same := form(tt.key, tt.a) == form(tt.key, tt.b); same != (tt.same == "yes") {
			t.Errorf("%s: %q and %q have the same form: %v", tt.key, tt.a, tt.b, same)
		}
	}
}
