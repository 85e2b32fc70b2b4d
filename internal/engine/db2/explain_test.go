package db2

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of explanations")

// sampleClock is the clock of the samples that are made for this package.
var sampleClock = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// without is a value's JSON as a map, less the named keys.
func without(t *testing.T, v any, keys ...string) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if m[k] == nil {
			t.Errorf("no %s", k)
		}
		delete(m, k)
	}
	return m
}

func TestExplainHADRHasTheFieldsOfTheOracle(t *testing.T) {
	type row struct {
		ID, File, Origin string
		NowEpoch         float64 `json:"now_epoch"`
		Expect           map[string]any
	}
	for _, row := range oracle[row](t, "db2pd/index.json") {
		t.Run(row.ID, func(t *testing.T) {
			now := time.UnixMicro(int64(row.NowEpoch*1e6 + 0.5))
			x := ExplainHADR(sample(t, "db2pd", row.File, row.Origin), now)
			extra := []string{"advice"}
			if !x.OK {
				extra = []string{"meaning", "next"}
			}
			if diff := cmp.Diff(row.Expect, without(t, x, extra...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplainReplyHasTheFieldsOfTheOracle(t *testing.T) {
	type row struct {
		ID, File, Command string
		TextBasis         string `json:"text_basis"`
		Expect            map[string]any
	}
	for _, row := range oracle[row](t, "clp/index.json") {
		t.Run(row.ID, func(t *testing.T) {
			output := sample(t, "clp", row.File, row.TextBasis)
			if want, ok := row.Expect["config"].(map[string]any); ok {
				x, ok := ExplainConfig(output)
				if !ok {
					t.Fatal("no role found")
				}
				got := without(t, x)["config"].(map[string]any)
				for key, value := range want {
					if found, ok := got[key]; !ok || found != value {
						t.Errorf("%s = %v, want %v", key, found, value)
					}
				}
				return
			}
			for _, command := range []string{row.Command, ""} { // the output tells enough
				if diff := cmp.Diff(row.Expect, without(t, ExplainReply(output, command), "meaning", "next")); diff != "" {
					t.Errorf("command %q (-want +got):\n%s", command, diff)
				}
			}
		})
	}
}

func TestTakeoverForms(t *testing.T) {
	type row struct {
		ID, Kind, Command string
		State             string   `json:"standby_state"`
		Connect           string   `json:"connect_status"`
		SyncMode          string   `json:"syncmode"`
		Left              *float64 `json:"seconds_to_peer_window_end"`
		Primary           string   `json:"primary_really"`
		Result            Verdict
		SQLCode           *int  `json:"sqlcode"`
		Reason            *int  `json:"reason_code"`
		DataLoss          *bool `json:"data_loss_possible"`
	}
	checked := 0
	for _, row := range oracle[row](t, "takeover_matrix.json") {
		if row.Kind != "command" {
			continue
		}
		checked++
		t.Run(row.ID, func(t *testing.T) {
			beat, silence := int64(15), int64(2)
			h := HADR{Role: "STANDBY", State: row.State, ConnectStatus: row.Connect, SyncMode: row.SyncMode, HeartbeatInterval: &beat, SinceLastRecv: &silence}
			if row.Left != nil {
				h.PeerWindowEnd = sampleClock.Add(time.Duration(*row.Left) * time.Second)
			}
			switch {
			case row.Primary == "silent_dead":
				silence = 50
			case strings.Contains(row.Primary, "issued on a PRIMARY"):
				h.Role = "PRIMARY"
			}
			for _, f := range TakeoverForms([]HADR{h}, sampleClock) {
				if f.Command != row.Command {
					continue
				}
				want := TakeoverForm{Command: row.Command, Verdict: row.Result, SQLCode: row.SQLCode, Reason: row.Reason, DataLoss: row.DataLoss, Why: f.Why}
				if diff := cmp.Diff(want, f); diff != "" || f.Why == "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			t.Fatalf("%s is not judged", row.Command)
		})
	}
	if checked == 0 {
		t.Fatal("no row of kind command")
	}
}

func TestTakeoverFormsTakesTheWeakestStream(t *testing.T) {
	peer := HADR{Role: "STANDBY", State: "PEER", ConnectStatus: "CONNECTED", SyncMode: "SYNC", PeerWindowEnd: sampleClock.Add(time.Minute)}
	behind, expired := peer, peer
	behind.State = "REMOTE_CATCHUP"
	expired.PeerWindowEnd = sampleClock.Add(-time.Minute)
	for _, blocks := range [][]HADR{{peer, behind}, {behind, peer}} {
		for _, f := range TakeoverForms(blocks, sampleClock) {
			if f.Verdict != VerdictError {
				t.Errorf("%s is %s although a stream catches up", f.Command, f.Verdict)
			}
		}
	}
	for _, blocks := range [][]HADR{{peer, expired}, {expired, peer}} {
		if f := TakeoverForms(blocks, sampleClock)[2]; !deref(f.DataLoss) {
			t.Errorf("%+v although the window of a stream is over", f)
		}
	}
}

func TestExplanationsAreGolden(t *testing.T) {
	type text interface{ WriteText(io.Writer) error }
	hadr := func(file string) text { return ExplainHADR(readFile(t, "testdata/db2pd/"+file), sampleClock) }
	clp := func(file string) text { return ExplainReply(readFile(t, "testdata/clp/"+file), "") }
	for name, x := range map[string]text{
		"standby-in-window":    hadr("s03-standby-disconnected-peer-in-window.txt"),
		"standby-after-window": hadr("s06-standby-remote-catchup-pending-after-window.txt"),
		"standby-silent":       hadr("s24-standby-silent-dead-primary.txt"),
		"primary-blocked":      hadr("s10-primary-disconnected-peer-log-blocked.txt"),
		"three-standbys":       hadr("s16-primary-three-standbys-one-gone.txt"),
		"takeover-running":     hadr("s29-standby-takeover-in-progress.txt"),
		"hadr-not-active":      hadr("r18-hadr-not-active.txt"),
		"outside-window":       clp("c16-sql1770n-rc9.txt"),
		"unknown-code":         clp("c53-unknown-code.txt"),
		"nothing-printed":      clp("c52-empty.txt"),
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := x.WriteText(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "explain", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(readFile(t, path), got.String()); diff != "" {
				t.Errorf("(-want +got), -update writes it:\n%s", diff)
			}
		})
	}
}

func TestEveryClassIsExplained(t *testing.T) {
	outputs := []string{"", "SQL9999N  x", "DB21034E  x\nSQL0204N  y"}
	for code := range classes {
		code, reason, found := strings.Cut(code, "/")
		if found {
			code += "  x  Reason code = \"" + reason + "\"."
		}
		outputs = append(outputs, code)
	}
	for _, output := range outputs {
		x := ExplainReply(output, "")
		if x.Action == "" || x.Meaning == "" || x.Next == "" || strings.Contains(x.Meaning, "%") {
			t.Errorf("%q is not explained: %+v", output, x)
		}
	}
	for name, trouble := range troubles {
		s := troubleSayings[trouble]
		if s.class != name || s.meaning == "" || s.next == "" {
			t.Errorf("%s is not explained: %+v", trouble, s)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(readFile(f, "testdata/db2pd/s16-primary-three-standbys-one-gone.txt"))
	f.Add(readFile(f, "testdata/db2pd/s39-truncated-in-the-middle.txt"))
	f.Add(readFile(f, "testdata/clp/c35-sql1776n-rc4-old-text.txt"))
	f.Add("\x00\xff HADR_ROLE = \xfe")
	f.Fuzz(func(t *testing.T, output string) {
		x := ExplainHADR(output, sampleClock)
		if x.OK == (x.ErrorClass != "") || len(x.Advice) != len(x.Databases) {
			t.Fatalf("neither an answer nor an error: %+v", x)
		}
		for _, explained := range []interface{ WriteText(io.Writer) error }{x, ExplainReply(output, "")} {
			if _, err := json.Marshal(explained); err != nil {
				t.Fatal(err)
			}
			if err := explained.WriteText(io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	})
}
