package page

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStairs(t *testing.T) {
	tests := []struct {
		name            string
		anchors, widths []float64
		rows            []int
		toLeft          bool
	}{
		{"one label stands at the top", []float64{10}, []float64{50}, []int{0}, false},
		{"labels far apart share the row", []float64{10, 100}, []float64{50, 50}, []int{0, 0}, false},
		{"a label goes below the line that its text would meet", []float64{10, 30}, []float64{50, 50}, []int{1, 0}, false},
		{"each of three close ones gets a row", []float64{10, 12, 14}, []float64{50, 50, 50}, []int{2, 1, 0}, false},
		{"a free label stays up beside a deep one", []float64{10, 80, 85}, []float64{20, 50, 50}, []int{0, 1, 0}, false},
		{"at the right edge they stand on the left", []float64{170, 190}, []float64{50, 50}, []int{0, 1}, true},
		{"anchors at the same place", []float64{50, 50}, []float64{10, 10}, []int{1, 0}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, toLeft := stairs(tt.anchors, tt.widths, 0, 200)
			if diff := cmp.Diff(tt.rows, rows); diff != "" || toLeft != tt.toLeft {
				t.Errorf("to the left: %v, want %v; rows (-want +got):\n%s", toLeft, tt.toLeft, diff)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	tests := []struct {
		name          string
		centres, want []float64
	}{
		{"nothing is nowhere", nil, []float64{}},
		{"a box with room stays", []float64{50}, []float64{50}},
		{"two at one place part evenly", []float64{50, 50}, []float64{44, 56}},
		{"the left edge pushes", []float64{0, 1}, []float64{5, 17}},
		{"the right edge pushes", []float64{99, 100}, []float64{83, 95}},
		{"neighbours give way only as far as needed", []float64{20, 50, 50, 90}, []float64{20, 44, 56, 90}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			widths := slices.Repeat([]float64{10}, len(tt.centres))
			if diff := cmp.Diff(tt.want, spread(tt.centres, widths, 2, 0, 100)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever is wanted, boxes that fit in get places in their order, inside, and
// apart from each other.
func TestSpreadNeverOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		centres := rapid.SliceOfN(rapid.Float64Range(-50, 1050), n, n).Draw(t, "centres")
		widths := rapid.SliceOfN(rapid.Float64Range(1, 30), n, n).Draw(t, "widths")
		slices.Sort(centres)
		const gap, eps = 3, 1e-6
		got := spread(centres, widths, gap, 0, 1000)
		end := -float64(gap)
		for i, c := range got {
			if left := c - widths[i]/2; left < end+gap-eps {
				t.Fatalf("box %d begins at %v, the one before it ends at %v", i, left, end)
			}
			end = c + widths[i]/2
		}
		if end > 1000+eps {
			t.Fatalf("the last box ends at %v", end)
		}
	})
}

func TestFitAndWrap(t *testing.T) {
	if got := fit("orders", 12, 100); got != "orders" {
		t.Errorf("a text with room became %q", got)
	}
	for _, room := range []float64{0, 5, 20, 40, 80} {
		if got := fit("the quick brown fox", 12, room); textWidth(got, 12) > room {
			t.Errorf("%q is wider than %v", got, room)
		}
	}
	want := []string{"the quick", "brown fox", "jumps o…"}
	if diff := cmp.Diff(want, wrap("the quick brown fox jumps over it", 10, 55, 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		name     string
		from, to float64
		room     float64
		want     []float64
	}{
		{"a takeover, wide", -17, 158, 1000, []float64{-15, 0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150}},
		{"a takeover, narrow", -17, 158, 600, []float64{0, 30, 60, 90, 120, 150}},
		{"below a second", -0.1, 0.9, 300, []float64{0, 0.5}},
		{"minutes", -100, 1000, 500, []float64{0, 300, 600, 900}},
		{"hours", -3600, 36000, 300, []float64{0, 18000, 36000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scale{window{tt.from, tt.to}, 0, tt.room}
			if diff := cmp.Diff(tt.want, s.ticks(tickGap)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTicksKeepTheirDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := math.Pow(10, rapid.Float64Range(-3, 8).Draw(t, "magnitude"))
		s := scale{window{-0.12 * end, 1.1 * end}, 100, rapid.Float64Range(400, 1300).Draw(t, "right")}
		at := s.ticks(tickGap)
		if !slices.Contains(at, 0) {
			t.Fatalf("no tick at the failure: %v", at)
		}
		for i := 1; i < len(at); i++ {
			if d := s.x(at[i]) - s.x(at[i-1]); d < tickGap-1e-6 {
				t.Fatalf("ticks %v and %v are %v px apart", at[i-1], at[i], d)
			}
		}
	})
}

func TestWindow(t *testing.T) {
	tests := []struct {
		name string
		page Page
		end  float64
	}{
		{"nothing happened", Page{}, 1},
		{"up to the end of the phases", Page{Recovery: 90, Phases: []Phase{{"detect", 80}, {"fence", 20}}}, 100},
		{"up to the recovery", Page{Recovery: 110, Phases: []Phase{{"detect", 80}}}, 110},
		{"with what follows soon", Page{Recovery: 100, Moments: []Moment{{After: 140}}}, 140},
		{"not squeezed by what follows late", Page{Recovery: 100, Moments: []Moment{{After: 151}}}, 100},
		{"not stretched by what was before", Page{Recovery: 100, Moments: []Moment{{After: -3600}}}, 100},
		{"without a recovery everything is shown", Page{Moments: []Moment{{After: 5}, {After: 900}}}, 900},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := window{-0.12 * tt.end, 1.1 * tt.end}
			if got := windowOf(tt.page); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
