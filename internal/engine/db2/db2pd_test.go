package db2

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type hadrRow struct {
	ID       string
	File     string
	Origin   string
	NowEpoch *float64 `json:"now_epoch"`
	Expect   struct {
		OK         bool
		ErrorClass string `json:"error_class"`
		Databases  []struct {
			Header struct {
				Member   int
				Database string
				Status   string
				UpS      int64  `json:"up_s"`
				DateRaw  string `json:"date_raw"`
			}
			Blocks []map[string]any
		}
	}
}

// What the oracle calls the troubles of an output.
var troubles = map[string]Trouble{
	"database_not_active": NotActive, "instance_not_attached": NoInstance, "hadr_not_active": NoHADR,
	"transient_retry": Transient, "unsupported_format": Unsupported, "incomplete_output": Incomplete, "empty_output": Empty,
}

func TestParseHADR(t *testing.T) {
	for _, row := range oracle[hadrRow](t, "db2pd/index.json") {
		t.Run(row.ID, func(t *testing.T) {
			got, err := ParseHADR(sample(t, "db2pd", row.File, row.Origin))
			if !row.Expect.OK {
				var bad *OutputError
				if !errors.As(err, &bad) || bad.Trouble != troubles[row.Expect.ErrorClass] {
					t.Fatalf("error %v, want %s", err, row.Expect.ErrorClass)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(row.Expect.Databases) {
				t.Fatalf("%d databases, want %d", len(got), len(row.Expect.Databases))
			}
			for i, want := range row.Expect.Databases {
				h := want.Header
				head := HADRDatabase{Member: h.Member, Name: h.Database, Status: h.Status, Up: time.Duration(h.UpS) * time.Second, Date: h.DateRaw}
				head.Blocks = got[i].Blocks
				if diff := cmp.Diff(head, got[i]); diff != "" {
					t.Errorf("header (-want +got):\n%s", diff)
				}
				if len(got[i].Blocks) != len(want.Blocks) {
					t.Fatalf("%d blocks, want %d", len(got[i].Blocks), len(want.Blocks))
				}
				for j, block := range want.Blocks {
					if diff := cmp.Diff(normal(t, block), normal(t, reading(got[i].Blocks[j], row.NowEpoch))); diff != "" {
						t.Errorf("block %d (-want +got):\n%s", j, diff)
					}
				}
			}
		})
	}
}

// normal brings numbers of both sides to one type.
func normal(t *testing.T, v map[string]any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for k, x := range m {
		if f, ok := x.(float64); ok && k == "seconds_to_peer_window_end" {
			m[k] = float64(int64(f*1000+0.5)) / 1000 // clocks are no exact floats
		}
	}
	return m
}

// reading names a block's values as the oracle does.
func reading(h HADR, now *float64) map[string]any {
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	at := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.Unix()
	}
	log := func(p *LogPosition) any {
		if p == nil {
			return nil
		}
		return map[string]any{"file": p.File, "page": p.Page, "pos": p.Pos}
	}
	m := map[string]any{
		"role": text(h.Role), "replay_type": text(h.ReplayType), "syncmode": text(h.SyncMode),
		"standby_id": h.StandbyID, "log_stream_id": h.LogStreamID, "state": text(h.State), "flags": h.Flags,
		"primary_host": text(h.PrimaryHost), "primary_instance": text(h.PrimaryInstance), "primary_member": h.PrimaryMember,
		"standby_host": text(h.StandbyHost), "standby_instance": text(h.StandbyInstance), "standby_member": h.StandbyMember,
		"connect_status": text(h.ConnectStatus), "connect_status_epoch": at(h.ConnectStatusTime),
		"heartbeat_interval_s": h.HeartbeatInterval, "heartbeat_missed": h.HeartbeatMissed, "heartbeat_expected": h.HeartbeatExpected,
		"hadr_timeout_s": h.Timeout, "time_since_last_recv_s": h.SinceLastRecv, "peer_wait_limit_s": h.PeerWaitLimit,
		"log_hadr_wait_cur_s": h.LogWaitCurrent, "log_hadr_wait_count": h.LogWaitCount,
		"primary_log": log(h.PrimaryLog), "standby_log": log(h.StandbyLog), "standby_replay_log": log(h.ReplayLog),
		"reported_log_gap_bytes": h.LogGapAverage, "reported_recv_replay_gap_bytes": h.ReplayGapAverage,
		"gap_bytes": h.Gap(), "replay_gap_bytes": h.ReplayGap(),
		"primary_log_epoch": at(h.PrimaryLogTime), "standby_log_epoch": at(h.StandbyLogTime), "standby_replay_log_epoch": at(h.ReplayLogTime),
		"recv_buf_percent": h.RecvBufPercent, "spool_limit_pages": h.SpoolLimit, "spool_percent": h.SpoolPercent,
		"standby_error_epoch": at(h.StandbyErrorTime), "peer_window_s": h.PeerWindow, "peer_window_end_epoch": at(h.PeerWindowEnd),
		"reads_on_standby": text(h.ReadsOnStandby), "replay_only_window_active": text(h.ReplayOnlyWindow),
		"replay_only_window_start_epoch": at(h.ReplayOnlyStart), "replay_only_window_tran_count": h.ReplayOnlyCount,
		"last_takeover_epoch": at(h.LastTakeover), "takeover_app_remaining_primary": h.TakeoverPrimary, "takeover_app_remaining_standby": h.TakeoverStandby,
		"seconds_to_peer_window_end": nil, "peer_window_takeover_possible": nil,
	}
	if now != nil && !h.PeerWindowEnd.IsZero() {
		m["seconds_to_peer_window_end"] = float64(h.PeerWindowEnd.Unix()) - *now
	}
	if now != nil && h.Role == "STANDBY" {
		clock := time.Unix(0, int64(*now*1e9))
		m["peer_window_takeover_possible"] = windowOpen(h, clock)
	}
	return m
}

func FuzzParseHADR(f *testing.F) {
	for _, file := range []string{"s01-standby-peer-normal.txt", "s16-primary-three-standbys-one-gone.txt", "s07-standby-never-connected-nulls.txt", "s18-crlf-line-ends.txt", "s39-truncated-in-the-middle.txt"} {
		f.Add(readFile(f, "testdata/db2pd/"+file))
	}
	f.Fuzz(func(t *testing.T, output string) {
		found, err := ParseHADR(output)
		if (err == nil) == (len(found) == 0) {
			t.Fatalf("neither an answer nor an error: %v, %v", found, err)
		}
		for _, db := range found {
			if len(db.Blocks) == 0 {
				t.Fatal("a database without a block was taken for an answer")
			}
			for _, b := range db.Blocks {
				if b.Role == "" || b.State == "" || b.ConnectStatus == "" {
					t.Fatalf("half a block was taken for an answer: %+v", b)
				}
			}
		}
	})
}
