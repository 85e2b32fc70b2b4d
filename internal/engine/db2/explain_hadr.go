package db2

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// HADRExplanation is what hadr reads in the output of `db2pd -hadr`. In JSON,
// what is absent or NULL in the output is null.
type HADRExplanation struct {
	OK        bool                  `json:"ok"`
	Databases []DatabaseExplanation `json:"databases,omitempty"`
	Advice    []Advice              `json:"advice,omitempty"` // one per database

	ErrorClass string `json:"error_class,omitempty"` // why the output says nothing about HADR
	Meaning    string `json:"meaning,omitempty"`
	Next       string `json:"next,omitempty"`

	now time.Time
}

// DatabaseExplanation is one database of the output.
type DatabaseExplanation struct {
	Header struct {
		Member   int    `json:"member"`
		Database string `json:"database"`
		Status   string `json:"status"`
		Up       int64  `json:"up_s"`
		Date     string `json:"date_raw"`
	} `json:"header"`
	Blocks []BlockExplanation `json:"blocks"` // one per standby or log stream

	read []HADR
}

// Advice is what may be done with a node now.
type Advice struct {
	Database  string         `json:"database"`
	Takeovers []TakeoverForm `json:"takeovers"`
	HADR      string         `json:"hadr"` // what hadr itself would do
	Next      string         `json:"next,omitempty"`
}

// BlockExplanation is one block of the output. Times are seconds since 1970,
// taken only from the number in parentheses; gaps are counted from the
// positions.
type BlockExplanation struct {
	Role              *string  `json:"role"`
	ReplayType        *string  `json:"replay_type"`
	SyncMode          *string  `json:"syncmode"`
	StandbyID         *int64   `json:"standby_id"`
	LogStreamID       *int64   `json:"log_stream_id"`
	State             *string  `json:"state"`
	Flags             []string `json:"flags"` // null = no line, [] = an empty line
	PrimaryHost       *string  `json:"primary_host"`
	PrimaryInstance   *string  `json:"primary_instance"`
	PrimaryMember     *int64   `json:"primary_member"`
	StandbyHost       *string  `json:"standby_host"`
	StandbyInstance   *string  `json:"standby_instance"`
	StandbyMember     *int64   `json:"standby_member"`
	ConnectStatus     *string  `json:"connect_status"`
	ConnectStatusTime *int64   `json:"connect_status_epoch"`

	HeartbeatInterval *int64   `json:"heartbeat_interval_s"`
	HeartbeatMissed   *int64   `json:"heartbeat_missed"`
	HeartbeatExpected *int64   `json:"heartbeat_expected"`
	Timeout           *int64   `json:"hadr_timeout_s"`
	SinceLastRecv     *int64   `json:"time_since_last_recv_s"`
	PeerWaitLimit     *int64   `json:"peer_wait_limit_s"`
	LogWaitCurrent    *float64 `json:"log_hadr_wait_cur_s"`
	LogWaitCount      *int64   `json:"log_hadr_wait_count"`

	PrimaryLog       *PositionExplanation `json:"primary_log"`
	StandbyLog       *PositionExplanation `json:"standby_log"`
	ReplayLog        *PositionExplanation `json:"standby_replay_log"`
	LogGapAverage    *int64               `json:"reported_log_gap_bytes"`
	ReplayGapAverage *int64               `json:"reported_recv_replay_gap_bytes"`
	Gap              *uint64              `json:"gap_bytes"`
	ReplayGap        *uint64              `json:"replay_gap_bytes"`
	PrimaryLogTime   *int64               `json:"primary_log_epoch"`
	StandbyLogTime   *int64               `json:"standby_log_epoch"`
	ReplayLogTime    *int64               `json:"standby_replay_log_epoch"`

	RecvBufPercent   *int64 `json:"recv_buf_percent"`
	SpoolLimit       *int64 `json:"spool_limit_pages"`
	SpoolPercent     *int64 `json:"spool_percent"`
	StandbyErrorTime *int64 `json:"standby_error_epoch"`

	PeerWindow       *int64  `json:"peer_window_s"`
	PeerWindowEnd    *int64  `json:"peer_window_end_epoch"`
	ReadsOnStandby   *string `json:"reads_on_standby"`
	ReplayOnlyWindow *string `json:"replay_only_window_active"`
	ReplayOnlyStart  *int64  `json:"replay_only_window_start_epoch"`
	ReplayOnlyCount  *int64  `json:"replay_only_window_tran_count"`
	LastTakeover     *int64  `json:"last_takeover_epoch"`
	TakeoverPrimary  *int64  `json:"takeover_app_remaining_primary"`
	TakeoverStandby  *int64  `json:"takeover_app_remaining_standby"`

	WindowLeft *float64 `json:"seconds_to_peer_window_end"`
	WindowOpen *bool    `json:"peer_window_takeover_possible"` // null unless a standby
}

// PositionExplanation is a place in the log.
type PositionExplanation struct {
	File string `json:"file"`
	Page int64  `json:"page"`
	Pos  uint64 `json:"pos"`
}

// ExplainHADR reads the output of `db2pd -hadr` as hadr does, with now on the
// clock of the host that printed it.
func ExplainHADR(output string, now time.Time) HADRExplanation {
	x := HADRExplanation{now: now}
	found, err := ParseHADR(output)
	if err != nil {
		t := Incomplete
		if bad := new(OutputError); errors.As(err, &bad) {
			t = bad.Trouble
		}
		s := troubleSayings[t]
		x.ErrorClass, x.Meaning, x.Next = s.class, s.meaning, s.next
		return x
	}
	x.OK = true
	for _, db := range found {
		d := DatabaseExplanation{read: db.Blocks}
		d.Header.Member, d.Header.Database, d.Header.Status = db.Member, db.Name, db.Status
		d.Header.Up, d.Header.Date = int64(db.Up/time.Second), db.Date
		for _, b := range db.Blocks {
			d.Blocks = append(d.Blocks, explainBlock(b, now))
		}
		x.Databases = append(x.Databases, d)
		x.Advice = append(x.Advice, advise(db, now))
	}
	return x
}

// Unreadable reports whether the output is no answer at all, rather than one
// about a database that is down.
func (x HADRExplanation) Unreadable() bool {
	switch x.ErrorClass {
	case troubleSayings[Empty].class, troubleSayings[Incomplete].class, troubleSayings[Unsupported].class:
		return true
	}
	return false
}

func explainBlock(h HADR, now time.Time) BlockExplanation {
	b := BlockExplanation{
		Role: present(h.Role), ReplayType: present(h.ReplayType), SyncMode: present(h.SyncMode),
		StandbyID: h.StandbyID, LogStreamID: h.LogStreamID, State: present(h.State), Flags: h.Flags,
		PrimaryHost: present(h.PrimaryHost), PrimaryInstance: present(h.PrimaryInstance), PrimaryMember: h.PrimaryMember,
		StandbyHost: present(h.StandbyHost), StandbyInstance: present(h.StandbyInstance), StandbyMember: h.StandbyMember,
		ConnectStatus: present(h.ConnectStatus), ConnectStatusTime: unix(h.ConnectStatusTime),
		HeartbeatInterval: h.HeartbeatInterval, HeartbeatMissed: h.HeartbeatMissed, HeartbeatExpected: h.HeartbeatExpected,
		Timeout: h.Timeout, SinceLastRecv: h.SinceLastRecv, PeerWaitLimit: h.PeerWaitLimit,
		LogWaitCurrent: h.LogWaitCurrent, LogWaitCount: h.LogWaitCount,
		PrimaryLog: place(h.PrimaryLog), StandbyLog: place(h.StandbyLog), ReplayLog: place(h.ReplayLog),
		LogGapAverage: h.LogGapAverage, ReplayGapAverage: h.ReplayGapAverage, Gap: h.Gap(), ReplayGap: h.ReplayGap(),
		PrimaryLogTime: unix(h.PrimaryLogTime), StandbyLogTime: unix(h.StandbyLogTime), ReplayLogTime: unix(h.ReplayLogTime),
		RecvBufPercent: h.RecvBufPercent, SpoolLimit: h.SpoolLimit, SpoolPercent: h.SpoolPercent, StandbyErrorTime: unix(h.StandbyErrorTime),
		PeerWindow: h.PeerWindow, PeerWindowEnd: unix(h.PeerWindowEnd), ReadsOnStandby: present(h.ReadsOnStandby),
		ReplayOnlyWindow: present(h.ReplayOnlyWindow), ReplayOnlyStart: unix(h.ReplayOnlyStart), ReplayOnlyCount: h.ReplayOnlyCount,
		LastTakeover: unix(h.LastTakeover), TakeoverPrimary: h.TakeoverPrimary, TakeoverStandby: h.TakeoverStandby,
	}
	if !h.PeerWindowEnd.IsZero() {
		left := math.Round(h.PeerWindowEnd.Sub(now).Seconds()*1e6) / 1e6
		b.WindowLeft = &left
	}
	if h.Role == "STANDBY" {
		open := windowOpen(h, now)
		b.WindowOpen = &open
	}
	return b
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func unix(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.Unix()
	return &n
}

func place(p *LogPosition) *PositionExplanation {
	if p == nil {
		return nil
	}
	return &PositionExplanation{File: p.File, Page: p.Page, Pos: p.Pos}
}

// advise judges a node by its own view alone; hadr asks for proof of the
// primary's failure besides.
func advise(db HADRDatabase, now time.Time) Advice {
	a := Advice{Database: db.Name, Takeovers: TakeoverForms(db.Blocks, now)}
	name := cmp.Or(db.Name, "DATABASE") // output without its first line names none
	look := fmt.Sprintf("db2pd -db %s -hadr", name)
	main := principal(db.Blocks)
	for _, b := range db.Blocks {
		if takenOver(b) {
			a.HADR = fmt.Sprintf("wait: a takeover runs on this node now (applications to end: %d on the primary, %d on the standby); its role may change at any moment",
				deref(b.TakeoverPrimary), deref(b.TakeoverStandby))
			a.Next = "do not stop it; read again: " + look
			return a
		}
	}
	switch main.Role {
	case "STANDBY":
		o := failover.Observation{HostTime: now}
		assessStandby(&o, Settings{Database: name}, db.Blocks)
		if o.Fitness != failover.Fit {
			a.HADR, a.Next = "refuse to promote this node: "+o.FitnessWhy, o.FitnessNext
			return a
		}
		a.HADR = fmt.Sprintf("promote this node with BY FORCE PEER WINDOW ONLY, once the primary is proven to have failed and is fenced, until %s", stamp(o.PromoteUntil))
	case "PRIMARY":
		a.HADR = "do nothing with this node: it is primary"
		a.Next = "on the standby: " + look
		for _, b := range db.Blocks {
			if waits(b) {
				a.HADR = "refuse to take over from this node: its commits wait for the standby, or the link to it, so a takeover would make it worse"
				a.Next = "look at the standby and the network between them; on the standby: " + look
			}
		}
	default:
		a.HADR, a.Next = fmt.Sprintf("refuse: HADR_ROLE %q is not known", main.Role), look
	}
	return a
}

// troubleSayings explains output that is no answer.
var troubleSayings = map[Trouble]struct{ class, meaning, next string }{
	NotActive: {
		"database_not_active", "the database is not active on this node, or not in its catalog: db2pd prints the same for both",
		"read the role on disk: db2 get db cfg for DATABASE. After a takeover never activate the old primary: db2 start hadr on db DATABASE as standby. Otherwise: db2 activate db DATABASE",
	},
	NoInstance: {
		"instance_not_attached", "the Db2 instance does not run on this node, or db2pd was run as another user",
		"as the instance owner: db2start, then db2pd -db DATABASE -hadr. If the other node is primary by now: db2 start hadr on db DATABASE as standby",
	},
	NoHADR: {
		"hadr_not_active", "the database is active and takes part in no HADR: its role is STANDARD, or HADR was stopped",
		"read the role on disk: db2 get db cfg for DATABASE. A standby is started with: db2 start hadr on db DATABASE as standby",
	},
	Transient: {
		"transient_retry", "Db2 changed the structure while db2pd read it: what is printed before can be wrong",
		"run the same command again in a few seconds",
	},
	Unsupported: {
		"unsupported_format", "this is the layout of Db2 9.7 and older, which hadr does not read",
		"use Db2 10.5 or newer",
	},
	Incomplete: {
		"incomplete_output", "the output is cut off, or is not that of db2pd -hadr: nothing in it is trusted",
		"save it again: db2pd -db DATABASE -hadr > FILE",
	},
	Empty: {
		"empty_output", "nothing was printed: db2pd did not run, or was stopped",
		"as the instance owner: db2pd -db DATABASE -hadr",
	},
}
