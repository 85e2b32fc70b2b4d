package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type box struct{ x1, y1, x2, y2 float64 }

func (b box) meets(o box) bool {
	return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2
}

// place is the box that a text takes up.
func place(t text) box {
	size := textSize
	if strings.Contains(t.Class, "small") {
		size = smallSize
	}
	w, x := textWidth(t.Text, size), float64(t.X)
	switch t.Anchor {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return box{x, float64(t.Y) - 0.75*size, x + w, float64(t.Y) + 0.2*size}
}

// legible fails if a text or a mark lies upon another or leaves the picture.
func legible(t interface{ Fatalf(string, ...any) }, p picture) {
	boxes := map[string]box{}
	for i, x := range p.Texts {
		boxes[fmt.Sprintf("text %d %q", i, x.Text)] = place(x)
	}
	for i, m := range p.Marks {
		boxes[fmt.Sprintf("mark %d %q", i, m.Text)] = box{float64(m.Left()), float64(m.Top()), float64(m.Left() + m.W), float64(m.Top()) + markHeight}
	}
	for name, b := range boxes {
		if b.x1 < 0 || b.y1 < 0 || b.x2 > float64(p.Width) || b.y2 > float64(p.Height) {
			t.Fatalf("%s leaves the picture: %v", name, b)
		}
		for other, o := range boxes {
			if name != other && b.meets(o) {
				t.Fatalf("%s lies upon %s", name, other)
			}
		}
	}
}

func TestTextsDoNotMeet(t *testing.T) {
	for _, width := range []float64{wide, narrow, 640} {
		legible(t, draw(takeover().ordered(), "x", width))
	}
}

func TestTextsNeverMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Page{Failure: time.Unix(0, 0), Lanes: []Lane{
			{ID: "a", Title: "Node a", Note: "primary before the failure"}, {ID: ControlLane, Title: "Control plane"}, {ID: "z", Note: "alarm"},
		}}
		p.Recovery = rapid.Float64Range(0, 300).Draw(t, "recovery")
		for i := range rapid.IntRange(0, 12).Draw(t, "phases") {
			p.Phases = append(p.Phases, Phase{strings.Repeat("p", 3+i%7), rapid.Float64Range(0, 60).Draw(t, "took")})
		}
		for range rapid.IntRange(0, 90).Draw(t, "moments") {
			p.Moments = append(p.Moments, Moment{After: rapid.Float64Range(-100, 500).Draw(t, "after"), Lane: rapid.SampledFrom([]string{"a", ControlLane, "z", "none"}).Draw(t, "lane")})
		}
		for at, i := -50.0, 0; i < rapid.IntRange(0, 6).Draw(t, "states"); i++ {
			took := rapid.Float64Range(0.1, 90).Draw(t, "lasted")
			p.Lanes[0].States = append(p.Lanes[0].States, State{From: at, To: at + took, Kind: Silent, Label: "a state with a name", Short: "state"})
			at += took
		}
		legible(t, draw(p.ordered(), "x", rapid.SampledFrom([]float64{wide, narrow}).Draw(t, "width")))
	})
}

func TestMarks(t *testing.T) {
	s := scale{window{-10, 100}, 100, 400}
	many := make([]Moment, 0, 100)
	for i := range 100 {
		many = append(many, Moment{After: float64(i), Lane: "l"})
	}
	tests := []struct {
		name    string
		moments []Moment
		want    []string
	}{
		{"each moment has its number", []Moment{{After: 1, Lane: "l"}, {After: 50, Lane: "l"}}, []string{"1", "2"}},
		{"numbers count the moments of all lanes", []Moment{{After: 1, Lane: "other"}, {After: 50, Lane: "l"}}, []string{"2"}},
		{"what was long before shares a mark at the edge", []Moment{{After: -3600, Lane: "l"}, {After: -60, Lane: "l"}, {After: 0, Lane: "l"}}, []string{"edge 1–2", "3"}},
		{"what is long after too", []Moment{{After: 0, Lane: "l"}, {After: 101, Lane: "l"}}, []string{"1", "edge 2"}},
		{"a crowd is joined until it has room", many, []string{"1–17", "18–34", "35–51", "52–68", "69–85", "86–100"}},
		{"no moment, no mark", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			marks, at := marksOf(Page{Moments: tt.moments}.ordered().rows(), "l", s)
			var got []string
			for i, m := range marks {
				text := m.Text
				if m.Edge {
					text = "edge " + text
					if x := at[i]; x != s.left && x != s.right {
						t.Errorf("mark %q belongs to %v, not to an edge", m.Text, x)
					}
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPhaseLabels(t *testing.T) {
	has := func(p picture, s string) bool {
		return slices.ContainsFunc(p.Texts, func(x text) bool { return x.Text == s })
	}
	p := draw(takeover().ordered(), "x", wide)
	for _, s := range []string{"detect", "86.3 s", "fenced", "10.3 s", "fence 0.06 s", "recheck 2.9 s", "verify 2.1 s"} {
		if !has(p, s) {
			t.Errorf("no text %q", s)
		}
	}
	if p := draw(takeover().ordered(), "x", narrow); !has(p, "fenced 10.3 s") {
		t.Error("in the narrow picture the label of fenced does not stand outside its bar")
	}
}

func TestNumbers(t *testing.T) {
	tests := []struct{ got, want string }{
		{seconds(142.0027), "142.0 s"},
		{seconds(0.0581), "0.06 s"},
		{seconds(0), "0.0 s"},
		{after(86.22), "+86.2 s"},
		{after(-139), "−139.0 s"},
		{after(0), "0.0 s"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(151798), "151,798"},
		{Count(-1234567), "-1,234,567"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
