package procstat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

var db2 = procstat.Config{Namespace: "CWAgent", Processes: []string{"^db2sysc$"}, Interval: 10 * time.Second, Flush: 5 * time.Second}

const db2JSON = `{"metrics":{"namespace":"CWAgent","append_dimensions":{"InstanceId":"${aws:InstanceId}"},"aggregation_dimensions":[["InstanceId"]],` +
	`"force_flush_interval":5,"metrics_collected":{"procstat":[{"exe":"^db2sysc$","measurement":["pid_count"],"metrics_collection_interval":10}]}}}`

func TestConfiguration(t *testing.T) {
	if diff := cmp.Diff(db2JSON, db2.JSON()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	two := db2
	two.Processes = []string{"b&<", "a"}
	if text := two.JSON(); !strings.Contains(text, `"exe":"a"`) || !strings.Contains(text, `"exe":"b&<"`) || strings.Index(text, `"a"`) > strings.Index(text, `"b&<"`) {
		t.Errorf("processes are not in order, or not as they are: %s", text)
	}
}

// TestRoundTrip: what is written is read back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := procstat.Config{
			Namespace: rapid.StringN(1, 60, 255).Filter(validText).Draw(t, "namespace"),
			Processes: rapid.SliceOfNDistinct(rapid.StringMatching(`\^?[a-z0-9&<>"\\\\]{1,20}\$?`).Filter(compiles), 1, 5, rapid.ID[string]).Draw(t, "processes"),
			Interval:  time.Duration(rapid.IntRange(1, 3600).Draw(t, "interval")) * time.Second,
			Flush:     time.Duration(rapid.IntRange(1, 60).Draw(t, "flush")) * time.Second,
		}
		got, err := procstat.Parse(want.JSON())
		if err != nil {
			t.Fatal(err)
		}
		if got.JSON() != want.JSON() || got.Namespace != want.Namespace || got.Interval != want.Interval || got.Flush != want.Flush {
			t.Errorf("wrote %+v, read %+v", want, got)
		}
	})
}

func compiles(p string) bool { return procstat.CheckPattern(p) == nil }

func validText(s string) bool { return strings.ToValidUTF8(s, "") == s }

// TestOtherConfigurations: what JSON does not write is not taken for it.
func TestOtherConfigurations(t *testing.T) {
	without := func(old, by string) string { return strings.Replace(db2JSON, old, by, 1) }
	for name, tt := range map[string]struct{ text, why string }{
		"no JSON":                 {"{", "unexpected EOF"},
		"a list":                  {"[]", "cannot unmarshal"},
		"two of them":             {db2JSON + db2JSON, "something follows"},
		"another section":         {without(`{"metrics"`, `{"agent":{},"metrics"`), `unknown field "agent"`},
		"another plugin":          {without(`"procstat"`, `"cpu":{},"procstat"`), `unknown field "cpu"`},
		"other dimensions":        {without(`[["InstanceId"]]`, `[]`), "in another way"},
		"other measurements":      {without(`"pid_count"`, `"memory_rss"`), "in another way"},
		"no processes":            {`{"metrics":{"namespace":"CWAgent"}}`, "0 processes"},
		"no namespace":            {without("CWAgent", ""), "namespace has 0 characters"},
		"a pattern that is none":  {without("^db2sysc$", "("), "is no regular expression"},
		"a pattern too long":      {without("^db2sysc$", strings.Repeat("x", 256)), "256 characters"},
		"no interval":             {without(`"metrics_collection_interval":10`, `"metrics_collection_interval":0`), "a second or more"},
		"intervals that differ":   {without(`}]}}}`, `},{"exe":"x","measurement":["pid_count"],"metrics_collection_interval":20}]}}}`), "every 20s, others every 10s"},
		"an interval beyond sane": {without(`:10}`, `:1e99}`), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := procstat.Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%s\nread as %+v: error is %v, want %q", tt.text, c, err, tt.why)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(db2JSON)
	f.Add(`{"metrics":{"metrics_collected":{"procstat":[{"exe":"(","metrics_collection_interval":9223372036854775807}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := procstat.Parse(text)
		if err != nil {
			return
		}
		if again, err := procstat.Parse(c.JSON()); err != nil || again.JSON() != c.JSON() {
			t.Errorf("%q: read as %+v, then as %+v: %v", text, c, again, err)
		}
	})
}
