package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file anew")

// takeover is a recovery as the demo sees it, with every kind of content.
func takeover() Page {
	never, always := math.Inf(1), math.Inf(-1)
	return Page{
		Title:    "hadr demo: main job",
		Note:     "Times are of the sandbox's clock.",
		Failure:  time.Date(2026, 11, 29, 22, 14, 3, 358196028, time.UTC),
		Recovery: 142.0027,
		Phases: []Phase{
			{"detect", 86.266}, {"decide", 19.499}, {"recheck", 2.908}, {"fence", 0.063}, {"fenced", 10.331},
			{"promote", 9.985}, {"confirm", 12.859}, {"redirect", 0.058}, {"verify", 2.057},
		},
		Lanes: []Lane{
			{ID: "a", Title: "Node a", Note: "primary before the failure", States: []State{
				{From: 119, To: never, Kind: Stopped, Label: "stopped and fenced", Short: "stopped"},
				{From: always, To: 0, Kind: Serving, Label: "primary"},
				{From: 0, To: 108.7, Kind: Silent, Label: "silent"},
				{From: 108.7, To: 119, Kind: Changing, Label: "stopping"},
			}},
			{ID: "b", Title: "Node b", Note: "standby before the failure", States: []State{
				{From: always, To: 119, Kind: Standby, Label: "standby"},
				{From: 119, To: 141.9, Kind: Changing, Label: "taking over"},
				{From: 141.9, To: never, Kind: Serving, Label: "primary"},
			}},
			{ID: "alarm", Title: "Alarms", Note: "orders-a-failed", States: []State{{From: 86.2, To: never, Kind: Red, Label: "red from +86.2 s"}}},
			{ID: ControlLane, Title: "Control plane", Note: "phases of the recovery"},
			{ID: "client", Title: "Clients", Note: "151,798 commits acknowledged, 0 lost", States: []State{
				{From: always, To: 0, Kind: Serving, Label: "writing: 725 commits in the last second", Short: "725 commits/s"},
				{From: 0, To: 142, Kind: Blocked, Label: "no commit for 142.0 s"},
				{From: 142, To: never, Kind: Serving, Label: "writing again", Short: "writing"},
			}},
		},
		Moments: []Moment{
			{After: 144.03, Lane: ControlLane, Source: "control", Text: "ENDED node b is primary in epoch 2"},
			{After: -139, Lane: ControlLane, Source: "control", Text: "IGNORED standby unhealthy"},
			{After: -63.2, Lane: ControlLane, Source: "control", Text: "REFUSED the primary commits", Next: "hadr status orders"},
			{After: 0, Lane: "a", Source: "host", Text: "the host of node a <vanishes> & is gone"},
			{After: 86.2, Lane: "alarm", Source: "alarm", Text: "orders-a-failed went from OK to ALARM"},
			{After: 105.8, Lane: ControlLane, Source: "control", Text: "STARTED takeover from a to b", Evidence: []Evidence{
				{"instance_state", "the status check of the instance fails"}, {"standby_view", "node b does not hear node a"},
			}},
			{After: 108.67, Lane: ControlLane, Source: "control", Text: "stop node a"},
			{After: 108.73, Lane: ControlLane, Source: "control", Text: "stop accepted"},
			{After: 142, Lane: "client", Source: "client", Text: "first write again, on node b"},
			{After: 3600, Lane: ControlLane, Source: "control", Text: "rejoined"},
		},
		Audit:   Audit{Acknowledged: 151798, LastSecond: 725},
		Primary: "b",
		Epoch:   2,
		Owners:  []Owner{{"rtb-4dc09ae88b5f6e695", "node b"}, {"rtb-6934192d71bd3f334", "node b"}},
		Plan:    &Plan{Empty: true, Warnings: []string{"Group is failed over: orders runs on node b"}},
	}
}

func render(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "takeover.html")
	got := render(t, takeover())
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the page has changed; look at it and run with -update (-want +got):\n%s", diff)
	}
	if again := render(t, takeover()); again != got {
		t.Error("the same input gives another page")
	}
}

func TestContent(t *testing.T) {
	p := takeover()
	p.Deviations = []string{"terraform plan wants to change something"}
	p.Audit.Lost, p.Audit.Examples = 3, []string{"c1/7 is lost"}
	p.Plan = &Plan{Text: "~ update in-place"}
	bad := render(t, p)
	tests := []struct {
		name, page, want string
	}{
		{"success is said", render(t, takeover()), "✓ Everything is as it must be"},
		{"without times there is no failure and no recovery", render(t, Page{}), "not measured"},
		{"a deviation is said", bad, "✗ Not as it must be"},
		{"each deviation is named", bad, "<li>terraform plan wants to change something</li>"},
		{"lost commits are marked by more than colour", bad, "✗ 3"},
		{"examples are shown", bad, "<li>c1/7 is lost</li>"},
		{"the changes of a plan are shown", bad, "<pre>~ update in-place</pre>"},
		{"texts are escaped", bad, "the host of node a &lt;vanishes&gt; &amp; is gone"},
		{"time of day of a moment before the failure", bad, "22:11:44.358"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.page, tt.want) {
				t.Errorf("no %q in the page", tt.want)
			}
		})
	}
	if strings.Contains(bad, "✓") {
		t.Error("a page with deviations says that everything is as it must be")
	}
}

// The page must work from a file, behind a firewall, in a mail.
func TestNeedsNothing(t *testing.T) {
	for _, foreign := range []string{"<script", "src=", "<link", "@import", "url(http"} {
		if strings.Contains(render(t, takeover()), foreign) {
			t.Errorf("the page has %q", foreign)
		}
	}
}

// pictures returns the SVG parts of a page.
func pictures(page string) []string {
	var all []string
	for {
		begin := strings.Index(page, "<svg")
		end := strings.Index(page, "</svg>")
		if begin < 0 || end < begin {
			return all
		}
		all = append(all, page[begin:end+len("</svg>")])
		page = page[end+len("</svg>"):]
	}
}

// elements counts the elements of well-formed XML.
func elements(t *testing.T, s string) map[string]int {
	t.Helper()
	found := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("the picture is not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
		}
	}
}

// A text may be anything, also what an attacker writes into an alarm.
func FuzzTextsDoNotBreakTheMarkup(f *testing.F) {
	for _, s := range []string{"plain", `</title><script>alert(1)</script>`, `"><g`, "a&b", "]]>", "\x00\x1b\xff\ufffe", "</svg>", "{{.}}", "日本語", "-->"} {
		f.Add(s, 3.5, -1.0)
	}
	f.Fuzz(func(t *testing.T, s string, at, took float64) {
		page := func(s string) []string {
			return pictures(render(t, Page{
				Title: s, Note: s, Failure: time.Unix(0, 0), Recovery: at,
				Lanes: []Lane{
					{ID: "l", Title: s, Note: s, States: []State{{From: at, To: took, Kind: Serving, Label: s, Short: s}}},
					{ID: ControlLane, Title: "c"},
				},
				Phases:  []Phase{{s, took}, {s, at}},
				Moments: []Moment{{After: at, Lane: "l", Text: s, Source: s, Next: s, Evidence: []Evidence{{s, s}}}, {After: took, Lane: ControlLane, Text: s}},
				Primary: s, Owners: []Owner{{s, s}}, Plan: &Plan{Text: s, Warnings: []string{s}}, Deviations: []string{s},
				Audit: Audit{Examples: []string{s}},
			}))
		}
		got := page(s)
		if len(got) != 2 {
			t.Fatalf("%d pictures in the page", len(got))
		}
		for _, svg := range got {
			found := elements(t, svg)
			for name := range found {
				if !strings.Contains(" svg title desc defs pattern path circle marker g line rect text ", " "+name+" ") {
					t.Errorf("an element %q came in with a text", name)
				}
			}
			if found["svg"] != 1 || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("broken picture: %s", svg)
			}
		}
	})
}
