package db2_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// matrixRow is a row of testdata/takeover_matrix.json: what Db2 does with a
// TAKEOVER command in a standing of the pair.
type matrixRow struct {
	ID       string       `json:"id"`
	Kind     string       `json:"kind"`
	State    string       `json:"standby_state"`
	Connect  string       `json:"connect_status"`
	SyncMode db2.SyncMode `json:"syncmode"`
	Left     *int         `json:"seconds_to_peer_window_end"`
	Really   string       `json:"primary_really"`
	Command  string       `json:"command"`
	Result   string       `json:"result"`
	SQLCode  *int         `json:"sqlcode"`
	Reason   *int         `json:"reason_code"`
	Loss     *bool        `json:"data_loss_possible"`
}

func matrix(t *testing.T) []matrixRow {
	b, err := os.ReadFile("testdata/takeover_matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []matrixRow }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	var rows []matrixRow
	for _, r := range file.Rows {
		if r.Kind == "command" {
			rows = append(rows, r)
		}
	}
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

// bring puts a pair into the standing of a row, with commits on the way.
func bring(x *pair, r matrixRow) (acked []int64) {
	if r.State == "any" {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		return nil
	}
	if r.State == "LOCAL_CATCHUP" {
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		return nil
	}
	x.up()
	state := db2.Peer
	if r.State == "REMOTE_CATCHUP" || r.SyncMode == db2.SuperAsync {
		state = db2.RemoteCatchup
	}
	x.b.waitFor(state, 10*time.Second)
	w := x.a.write("c")
	time.Sleep(2 * time.Second)
	switch {
	case r.Connect == "DISCONNECTED":
		x.fab.CutBoth("a", "b")
	case r.Connect == "CONGESTED":
		x.fab.Congest("b", "a", true)
		time.Sleep(10 * time.Second) // past a heartbeat, less than HADR_TIMEOUT
	case r.Really == "silent_dead":
		x.a.vanish()
	case r.SyncMode == db2.Async:
		w.stop() // nothing is on its way
		time.Sleep(time.Second)
	}
	if r.State != "REMOTE_CATCHUP" {
		x.b.waitFor(db2.State(r.State), 400*time.Second)
	}
	if r.Left != nil && (r.Connect == "DISCONNECTED" || r.Really == "silent_dead") {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		for x.b.epoch("PEER_WINDOW_END")-time.Now().Unix() > int64(*r.Left) {
			time.Sleep(time.Second)
		}
	}
	return w.stop()
}

func TestTakeoverMatrix(t *testing.T) {
	for _, r := range matrix(t) {
		t.Run(r.ID, func(t *testing.T) {
			p := db2.Pair{SyncMode: r.SyncMode, PeerWindow: 300 * time.Second, Timeout: 60 * time.Second}
			if r.SyncMode == "any" {
				p.SyncMode = db2.Sync
			}
			switch {
			case r.State == "PEER" && r.Left == nil && r.SyncMode == db2.NearSync:
				p.PeerWindow = 0
			case r.Really == "silent_dead":
				p.Timeout = 400 * time.Second // the standby has not noticed yet
			case r.State == "REMOTE_CATCHUP":
				p.ReplayDelay = time.Second
			case r.State == "LOCAL_CATCHUP":
				p.LocalCatchup = time.Minute
			}
			inBubble(t, p, func(t *testing.T, x *pair) {
				acked := bring(x, r)
				if r.Connect == "CONNECTED" || r.Connect == "CONGESTED" {
					if got := x.b.pd()["HADR_CONNECT_STATUS"]; got != r.Connect {
						t.Fatalf("connect status %s, want %s", got, r.Connect)
					}
				}
				on := x.b
				if strings.Contains(r.Really, "PRIMARY") {
					on = x.a
				}
				began := time.Now()
				text, code := on.run(strings.Replace(strings.ToLower(r.Command), "takeover", "takeover hadr on db SAMPLE", 1))
				took := time.Since(began)
				check(t, r, text, code, took)
				role := on.pd()["HADR_ROLE"]
				if promoted := r.Result == "allowed"; on == x.b && (role == "PRIMARY") != promoted {
					t.Errorf("role %s after %s", role, r.Result)
				}
				if r.Result == "allowed" && !*r.Loss {
					if lost := on.lost("c", acked); len(lost) > 0 {
						t.Errorf("lost acknowledged commits %v", lost)
					}
				}
			})
		})
	}
}

func check(t *testing.T, r matrixRow, text string, code int, took time.Duration) {
	t.Helper()
	switch r.Result {
	case "allowed":
		if code != 0 || !strings.HasPrefix(text, "DB20000I") {
			t.Errorf("want success, got %d %s", code, text)
		}
		return
	case "hang_then_error":
		if took < 100*time.Second {
			t.Errorf("failed after %s, want to hang until HADR_TIMEOUT", took)
		}
	default: // unverified is to be treated as an error
		if took > 0 {
			t.Errorf("refused after %s", took)
		}
	}
	if code != 4 || !strings.HasPrefix(text, "SQL1770N ") {
		t.Errorf("want SQL1770N, got %d %s", code, text)
	}
	reason := strings.Contains(text, "Reason code")
	if r.Reason == nil && reason {
		t.Errorf("a reason code that nobody verified: %s", text)
	}
	if r.Reason != nil && !strings.HasSuffix(text, fmt.Sprintf(`Reason code = "%d".`, *r.Reason)) {
		t.Errorf("want reason %d: %s", *r.Reason, text)
	}
}
