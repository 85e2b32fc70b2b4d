package postgresql

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

// epoch is a time as seconds since 1970-01-01 UTC, zero if it is null.
type epoch struct{ time.Time }

func (e *epoch) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	e.Time = document.Time(string(b))
	return nil
}

// seconds is a length of time, zero if it is null.
type seconds time.Duration

func (s *seconds) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(f) > 1e9 {
		return fmt.Errorf("%q is no number of seconds", b)
	}
	*s = seconds(f * float64(time.Second))
	return nil
}

// Database is what a server says of itself (scripts/status.sql).
type Database struct {
	Version           int     `json:"version"`  // server_version_num, such as 150004
	Now               epoch   `json:"now"`      // the server's clock when it answered
	Recovery          bool    `json:"recovery"` // a standby
	System            string  `json:"system"`   // system identifier, the same on both nodes
	Timeline          uint32  `json:"timeline"` // of the log that it writes or receives
	ReadOnly          bool    `json:"read_only"`
	SynchronousNames  string  `json:"synchronous_standby_names"`
	SynchronousCommit string  `json:"synchronous_commit"`
	ReceiverTimeout   seconds `json:"receiver_timeout"` // wal_receiver_timeout
	Paused            bool    `json:"paused"`           // replay is paused
	Flushed           LSN     `json:"flushed"`          // end of the log on its disk
	Replayed          LSN     `json:"replayed"`
	LastCommit        epoch   `json:"last_commit"` // of the last transaction replayed, on the primary's clock

	Receiver *Receiver `json:"receiver"`
	Senders  []Sender  `json:"senders"`
	Waits    seconds   `json:"waits"` // longest statement whose commit waits for a standby
}

// Receiver is a standby's connection to its primary
// (https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-WAL-RECEIVER-VIEW).
type Receiver struct {
	Status     string `json:"status"`
	Flushed    LSN    `json:"flushed"`
	PrimaryEnd LSN    `json:"primary_end"` // end of the primary's log at its last message
	Heard      epoch  `json:"heard"`       // receipt of that, on the standby's clock
	Since      epoch  `json:"since"`       // when the connection began
}

// Sender is a primary's connection to a standby
// (https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW).
type Sender struct {
	Name      string  `json:"name"`
	State     string  `json:"state"`
	Sync      string  `json:"sync"`
	Flushed   LSN     `json:"flushed"`
	Replayed  LSN     `json:"replayed"`
	FlushLag  seconds `json:"flush_lag"`
	ReplayLag seconds `json:"replay_lag"`
}

// Contact is what a standby kept of the last word of its primary.
type Contact struct {
	Heard   time.Time // on the standby's clock, zero = never
	Missing int64     // bytes of the primary's log that it had not then
}

// Waiting is what a standby kept of its primary's answer to whether commits
// wait for it.
type Waiting struct {
	Asked  time.Time // zero = never answered
	Names  string    // synchronous_standby_names
	Commit string    // synchronous_commit
}

// Report is the output of the status document.
type Report struct {
	HostTime  time.Time
	Table     string // ARN that the node is marked with, "" = none (R12)
	Epoch     uint64 // highest that the node has seen, 0 = none
	Promoting time.Time
	Rewinding bool   // pg_rewind did not end
	Stopped   string // who stopped the server on purpose, and why; "" = nobody did (R6)

	Database *Database // nil if the server gave no answer
	Answer   string    // of psql, where it could not be read
	Runs     bool      // the server's process lives
	Starts   bool      // and is not ready yet: it starts, or recovers
	OnDisk   string    // "primary" or "standby", where there was no answer

	Contact Contact
	Waiting Waiting
	Unkept  string // why the two can't be kept, "" = they can
}

// ParseReport reads the output of the status document.
func ParseReport(output string) (Report, error) {
	s, err := document.ParseReport(output)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		HostTime: document.Time(s["host_time"]), Table: s["table"], Promoting: document.Time(s["promoting"]),
		Rewinding: s["rewinding"] != "", Stopped: s["stopped"], Answer: s["database"],
		Runs: s["server"] != "down", Starts: s["server"] == "starts", OnDisk: s["on_disk"],
		Contact: parseContact(s["contact"]), Waiting: parseWaiting(s["synchronous"]), Unkept: s["unkept"],
	}
	r.Epoch, _ = strconv.ParseUint(s["epoch"], 10, 64)
	if _, failed := s["server"]; !failed {
		if r.Database, err = parseDatabase(object(s["database"])); err != nil {
			return Report{}, err
		}
	}
	return r, nil
}

func parseDatabase(answer []byte) (*Database, error) {
	var db Database
	if err := json.Unmarshal(answer, &db); err != nil {
		return nil, fmt.Errorf("the answer of the server is not understood: %w: %q", err, document.Beginning(string(answer)))
	}
	return &db, nil
}

// object is the line of psql's answer that holds it: a profile of the owner may
// print something before.
func object(answer string) []byte {
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "{") {
			return []byte(line)
		}
	}
	return []byte(answer)
}

// parseContact reads "SECONDS BYTES".
func parseContact(s string) (c Contact) {
	heard, missing, _ := strings.Cut(s, " ")
	n, err := strconv.ParseInt(missing, 10, 64)
	if err != nil || n < 0 {
		return Contact{}
	}
	return Contact{Heard: document.Time(heard), Missing: n}
}

// parseWaiting reads three lines: the time, the names, synchronous_commit.
func parseWaiting(s string) Waiting {
	lines := strings.Split(s, "\n")
	if len(lines) != 3 {
		return Waiting{}
	}
	return Waiting{Asked: document.Time(lines[0]), Names: strings.TrimSpace(lines[1]), Commit: strings.TrimSpace(lines[2])}
}
