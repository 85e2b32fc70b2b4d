package db2

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type clpRow struct {
	ID        string
	File      string
	Command   string
	TextBasis string `json:"text_basis"`
	Expect    struct {
		Messages []struct {
			Code       string
			ReasonCode *int `json:"reason_code"`
			SQLState   *string
		}
		Decisive   *string
		SQLCode    *int
		ReasonCode *int `json:"reason_code"`
		SQLState   *string
		OK         bool
		Class      string
		Retryable  *bool
		Config     map[string]any
	}
}

func TestParseReply(t *testing.T) {
	for _, row := range oracle[clpRow](t, "clp/index.json") {
		t.Run(row.ID, func(t *testing.T) {
			output := sample(t, "clp", row.File, row.TextBasis)
			want := row.Expect
			if want.Config != nil {
				checkConfig(t, output, want.Config)
				return
			}
			got := ParseReply(output)
			type message struct {
				Code     string
				Reason   *int
				SQLState string
			}
			var wantMessages, gotMessages []message
			for _, m := range want.Messages {
				wantMessages = append(wantMessages, message{m.Code, m.ReasonCode, value(m.SQLState)})
			}
			for _, m := range got.Messages {
				gotMessages = append(gotMessages, message(m))
			}
			if diff := cmp.Diff(wantMessages, gotMessages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			var m Message
			if got.Decisive != nil {
				m = *got.Decisive
			}
			if diff := cmp.Diff(message{value(want.Decisive), want.ReasonCode, value(want.SQLState)}, message(m)); diff != "" {
				t.Errorf("decisive message (-want +got):\n%s", diff)
			}
			if m.SQLCode() != value(want.SQLCode) {
				t.Errorf("SQLCODE %d, want %d", m.SQLCode(), value(want.SQLCode))
			}
			c := got.Classify(row.Command)
			if c.Name != want.Class || c.OK != want.OK || c.Retry != value(want.Retryable) && !want.OK {
				t.Errorf("class %+v, want %s, ok %v, retry %v", c, want.Class, want.OK, value(want.Retryable))
			}
		})
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func checkConfig(t *testing.T, output string, want map[string]any) {
	t.Helper()
	c, ok := ParseDatabaseConfig(output)
	if !ok {
		t.Fatal("no role found")
	}
	for key, wanted := range want {
		var got any
		switch key {
		case "role":
			got = c.Role
		case "hadr_timeout":
			got = float64(value(c.Number("HADR_TIMEOUT")))
		case "hadr_peer_window":
			got = float64(value(c.Number("HADR_PEER_WINDOW")))
		default:
			if v := c.Parameters[strings.ToUpper(key)]; v != "" {
				got = v
			}
		}
		if got != wanted {
			t.Errorf("%s = %v, want %v", key, got, wanted)
		}
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func FuzzParseReply(f *testing.F) {
	f.Add("SQL1770N  Takeover HADR cannot complete. Reason \ncode = \"9\".")
	f.Add("DB21034E  x\nSQL0911N  y  Reason code \"68\".  SQLSTATE=40001")
	f.Fuzz(func(t *testing.T, output string) {
		r := ParseReply(output)
		if (r.Decisive == nil) != (len(r.Messages) == 0) {
			t.Fatalf("%d messages, decisive %v", len(r.Messages), r.Decisive)
		}
		if c := r.Classify("takeover hadr on db X"); c.OK && r.Decisive == nil {
			t.Fatal("silence was taken for success")
		}
	})
}

func FuzzParseDatabaseConfig(f *testing.F) {
	f.Add(" HADR database role                                      = STANDARD\n HADR timeout value                       (HADR_TIMEOUT) = 120")
	f.Fuzz(func(t *testing.T, output string) {
		if c, ok := ParseDatabaseConfig(output); ok == (c.Role == "") {
			t.Fatalf("ok %v with role %q", ok, c.Role)
		}
	})
}
