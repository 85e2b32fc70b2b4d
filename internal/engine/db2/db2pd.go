package db2

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// HADRDatabase is what `db2pd -hadr` prints about one database.
type HADRDatabase struct {
	Member int
	Name   string
	Status string // "Active", "Standby", or anything newer
	Up     time.Duration
	Date   string // as printed: its form depends on version and locale
	Blocks []HADR // one per standby or log stream
}

// HADR is one block of `db2pd -hadr`. Pointers are nil, times zero and strings
// empty where a value is absent or NULL. Times come only from the number in
// parentheses: the date before it depends on the locale.
type HADR struct {
	Role, ReplayType, SyncMode string
	StandbyID, LogStreamID     *int64
	State                      string
	Flags                      []string // nil = no line, empty = empty line

	PrimaryHost, PrimaryInstance string
	PrimaryMember                *int64
	StandbyHost, StandbyInstance string
	StandbyMember                *int64

	ConnectStatus     string
	ConnectStatusTime time.Time

	HeartbeatInterval *int64 // seconds
	HeartbeatMissed   *int64
	HeartbeatExpected *int64
	Timeout           *int64   // HADR_TIMEOUT, seconds
	SinceLastRecv     *int64   // seconds since the partner's last message
	PeerWaitLimit     *int64   // seconds
	LogWaitCurrent    *float64 // seconds that log writing has waited for the standby, now
	LogWaitCount      *int64

	PrimaryLog, StandbyLog, ReplayLog             *LogPosition
	PrimaryLogTime, StandbyLogTime, ReplayLogTime time.Time
	LogGapAverage, ReplayGapAverage               *int64 // running averages, no gaps

	RecvBufPercent   *int64
	SpoolLimit       *int64 // pages
	SpoolPercent     *int64
	StandbyErrorTime time.Time
	PeerWindow       *int64 // seconds
	PeerWindowEnd    time.Time
	ReadsOnStandby   string
	ReplayOnlyWindow string
	ReplayOnlyStart  time.Time
	ReplayOnlyCount  *int64
	LastTakeover     time.Time
	TakeoverPrimary  *int64 // applications that a running takeover still has to end
	TakeoverStandby  *int64
}

// LogPosition is a place in the log.
type LogPosition struct {
	File string
	Page int64
	Pos  uint64
}

// Gap is how many bytes the standby is behind, nil if a position is unknown. A
// remote position can be one heartbeat old, so a negative gap counts as none.
func (h HADR) Gap() *uint64 { return gap(h.PrimaryLog, h.StandbyLog) }

// ReplayGap is how many bytes the standby has received and not replayed.
func (h HADR) ReplayGap() *uint64 { return gap(h.StandbyLog, h.ReplayLog) }

func gap(ahead, behind *LogPosition) *uint64 {
	if ahead == nil || behind == nil {
		return nil
	}
	var g uint64
	if ahead.Pos > behind.Pos {
		g = ahead.Pos - behind.Pos
	}
	return &g
}

// Trouble is why db2pd's output says nothing about HADR. Its exit code is not
// documented, so the text decides.
type Trouble string

// The kinds of trouble.
const (
	NotActive   Trouble = "database not active"  // or not in the catalog
	NoInstance  Trouble = "instance not running" // db2pd cannot attach
	NoHADR      Trouble = "HADR not active"      // the role is STANDARD
	Transient   Trouble = "structure changing"   // try again
	Unsupported Trouble = "unsupported layout"   // Db2 9.7 and older
	Incomplete  Trouble = "incomplete output"    // cut off, or something else
	Empty       Trouble = "empty output"
)

// OutputError is output that is no answer.
type OutputError struct {
	Trouble Trouble
	Text    string // beginning of the output
}

func (e *OutputError) Error() string { return fmt.Sprintf("db2pd: %s: %q", e.Trouble, e.Text) }

var (
	headerLine = regexp.MustCompile(`^\s*Database Member (\d+) -- Database (\S+) -- (.+?) -- Up (.*?) -- Date (\S.*?)\s*$`)
	// The key is right-aligned; an empty value has no blank behind the sign.
	keyLine = regexp.MustCompile(`^\s*([A-Z][A-Z0-9_,]*)(?:\([a-z]+\))? =\s?(.*?)\s*$`)
	upTime  = regexp.MustCompile(`^(\d+) days (\d+):(\d+):(\d+)$`)
	epoch   = regexp.MustCompile(`\((\d{1,12})\)\s*$`)
)

// ParseHADR reads the output of `db2pd -hadr`, or returns an OutputError.
// Values that are not understood are absent; nothing is assumed.
func ParseHADR(output string) ([]HADRDatabase, error) {
	fail := func(t Trouble) ([]HADRDatabase, error) {
		return nil, &OutputError{Trouble: t, Text: beginning(output)}
	}
	var found []HADRDatabase
	for _, line := range strings.Split(output, "\n") {
		if m := headerLine.FindStringSubmatch(line); m != nil {
			found = append(found, header(m))
			continue
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if len(found) == 0 {
			found = append(found, HADRDatabase{}) // output without its first line
		}
		db := &found[len(found)-1]
		if m[1] == "HADR_ROLE" {
			db.Blocks = append(db.Blocks, HADR{})
		}
		if len(db.Blocks) > 0 {
			db.Blocks[len(db.Blocks)-1].set(m[1], m[2])
		}
	}
	switch {
	case strings.TrimSpace(output) == "":
		return fail(Empty)
	case strings.Contains(output, "Changing data structure forced command termination"):
		return fail(Transient) // even behind a block that looks complete
	case strings.Contains(output, "Unable to attach to database manager"):
		return fail(NoInstance)
	case strings.Contains(output, "HADR Information:"):
		return fail(Unsupported)
	}
	for _, db := range found {
		switch {
		case len(db.Blocks) > 0:
		case strings.Contains(output, "HADR is not active"):
			return fail(NoHADR)
		default:
			return fail(Incomplete)
		}
		for _, b := range db.Blocks {
			if b.Role == "" || b.State == "" || b.ConnectStatus == "" {
				return fail(Incomplete)
			}
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case strings.Contains(output, "not activated on database member"):
		return fail(NotActive)
	case strings.Contains(output, "HADR is not active"):
		return fail(NoHADR)
	}
	return fail(Incomplete)
}

func beginning(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "") + "…"
	}
	return s
}

func header(m []string) HADRDatabase {
	db := HADRDatabase{Name: m[2], Status: m[3], Date: m[5]}
	db.Member, _ = strconv.Atoi(m[1])
	if u := upTime.FindStringSubmatch(m[4]); u != nil {
		for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
			n, _ := strconv.ParseInt(u[i+1], 10, 32)
			db.Up += time.Duration(n) * unit
		}
	}
	return db
}

func (h *HADR) set(key, value string) {
	if value == "NULL" {
		value = ""
	}
	if p, ok := h.texts()[key]; ok {
		*p = value
		return
	}
	if p, ok := h.numbers()[key]; ok {
		*p = integer(value)
		return
	}
	if p, ok := h.times()[key]; ok {
		*p = epochTime(value)
		return
	}
	if p, ok := h.positions()[key]; ok {
		*p = position(value)
		return
	}
	switch key {
	case "HADR_FLAGS":
		h.Flags = append([]string{}, strings.Fields(value)...)
	case "LOG_HADR_WAIT_CUR":
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			h.LogWaitCurrent = &f
		}
	}
}

func (h *HADR) texts() map[string]*string {
	return map[string]*string{
		"HADR_ROLE": &h.Role, "REPLAY_TYPE": &h.ReplayType, "HADR_SYNCMODE": &h.SyncMode, "HADR_STATE": &h.State,
		"PRIMARY_MEMBER_HOST": &h.PrimaryHost, "PRIMARY_INSTANCE": &h.PrimaryInstance,
		"STANDBY_MEMBER_HOST": &h.StandbyHost, "STANDBY_INSTANCE": &h.StandbyInstance,
		"HADR_CONNECT_STATUS": &h.ConnectStatus, "READS_ON_STANDBY_ENABLED": &h.ReadsOnStandby,
		"STANDBY_REPLAY_ONLY_WINDOW_ACTIVE": &h.ReplayOnlyWindow,
	}
}

func (h *HADR) numbers() map[string]**int64 {
	return map[string]**int64{
		"STANDBY_ID": &h.StandbyID, "LOG_STREAM_ID": &h.LogStreamID,
		"PRIMARY_MEMBER": &h.PrimaryMember, "STANDBY_MEMBER": &h.StandbyMember,
		"HEARTBEAT_INTERVAL": &h.HeartbeatInterval, "HEARTBEAT_MISSED": &h.HeartbeatMissed, "HEARTBEAT_EXPECTED": &h.HeartbeatExpected,
		"HADR_TIMEOUT": &h.Timeout, "TIME_SINCE_LAST_RECV": &h.SinceLastRecv, "PEER_WAIT_LIMIT": &h.PeerWaitLimit,
		"LOG_HADR_WAIT_COUNT": &h.LogWaitCount, "HADR_LOG_GAP": &h.LogGapAverage, "STANDBY_RECV_REPLAY_GAP": &h.ReplayGapAverage,
		"STANDBY_RECV_BUF_PERCENT": &h.RecvBufPercent, "STANDBY_SPOOL_LIMIT": &h.SpoolLimit, "STANDBY_SPOOL_PERCENT": &h.SpoolPercent,
		"PEER_WINDOW": &h.PeerWindow, "STANDBY_REPLAY_ONLY_WINDOW_TRAN_COUNT": &h.ReplayOnlyCount,
		"TAKEOVER_APP_REMAINING_PRIMARY": &h.TakeoverPrimary, "TAKEOVER_APP_REMAINING_STANDBY": &h.TakeoverStandby,
	}
}

func (h *HADR) times() map[string]*time.Time {
	return map[string]*time.Time{
		"HADR_CONNECT_STATUS_TIME": &h.ConnectStatusTime, "PRIMARY_LOG_TIME": &h.PrimaryLogTime, "STANDBY_LOG_TIME": &h.StandbyLogTime,
		"STANDBY_REPLAY_LOG_TIME": &h.ReplayLogTime, "STANDBY_ERROR_TIME": &h.StandbyErrorTime, "PEER_WINDOW_END": &h.PeerWindowEnd,
		"STANDBY_REPLAY_ONLY_WINDOW_START": &h.ReplayOnlyStart, "HADR_LAST_TAKEOVER_TIME": &h.LastTakeover,
	}
}

func (h *HADR) positions() map[string]**LogPosition {
	return map[string]**LogPosition{
		"PRIMARY_LOG_FILE,PAGE,POS": &h.PrimaryLog, "STANDBY_LOG_FILE,PAGE,POS": &h.StandbyLog,
		"STANDBY_REPLAY_LOG_FILE,PAGE,POS": &h.ReplayLog,
	}
}

func integer(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// epochTime reads "06/25/2019 10:55:05.078116 (1561460105)".
func epochTime(s string) time.Time {
	m := epoch.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// position reads "S0000012.LOG, 14151, 3685322855".
func position(s string) *LogPosition {
	f := strings.Split(s, ",")
	if len(f) != 3 {
		return nil
	}
	page, err1 := strconv.ParseInt(strings.TrimSpace(f[1]), 10, 64)
	pos, err2 := strconv.ParseUint(strings.TrimSpace(f[2]), 10, 64)
	if err1 != nil || err2 != nil {
		return nil
	}
	return &LogPosition{File: strings.TrimSpace(f[0]), Page: page, Pos: pos}
}
