package demo

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo/page"
)

var crash = time.Date(2026, 11, 29, 22, 14, 3, 500e6, time.UTC)

func seen(after float64, lane, text string) Moment {
	m := Moment{At: crash.Add(time.Duration(after * float64(time.Second))), Lane: lane, Text: text}
	m.After = max(after, 0) // before the failure nobody knew when it would be
	return m
}

func TestPageMoments(t *testing.T) {
	r := Result{Timeline: []Moment{
		seen(-60, "control", "REFUSED the primary commits"),
		seen(-60, "control", "  evidence node_silent: gave up: deadline exceeded"),
		seen(-60, "control", "  next: hadr status orders"),
		seen(0, "host", "the host of node a vanishes"),
		seen(86.5, "alarm", "orders-a-failed went from OK to ALARM: red"),
		seen(100, "route", "the VIP leads to node b"),
	}}
	want := []page.Moment{
		{
			After: -60, Lane: page.ControlLane, Source: "control", Text: "REFUSED the primary commits",
			Evidence: []page.Evidence{{Signal: "node_silent", Detail: "gave up: deadline exceeded"}}, Next: "hadr status orders",
		},
		{After: 0, Lane: laneFailed, Source: "host", Text: "the host of node a vanishes"},
		{After: 86.5, Lane: "alarm orders-a-failed", Source: "alarm", Text: "orders-a-failed went from OK to ALARM: red"},
		{After: 100, Lane: page.ControlLane, Source: "route", Text: "the VIP leads to node b"},
	}
	p := r.page()
	if !p.Failure.Equal(crash) {
		t.Errorf("the failure was at %v, want %v", p.Failure, crash)
	}
	if diff := cmp.Diff(want, p.Moments); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailureWithoutLaterMoments(t *testing.T) {
	r := Result{Timeline: []Moment{seen(-60, "control", "REFUSED"), seen(0, "host", "vanishes")}}
	if got := r.failure(); !got.Equal(crash) {
		t.Errorf("got %v, want %v", got, crash)
	}
}

func TestAlarmLanes(t *testing.T) {
	all := moments([]Moment{
		seen(-10, "alarm", "a-latency went from INSUFFICIENT_DATA to OK: fine"),
		seen(20, "alarm", "a-failed went from OK to ALARM: red"),
		seen(30, "alarm", "a-silent went from OK to ALARM: red"),
		seen(50, "alarm", "a-failed went from ALARM to OK: fine"),
	}, crash)
	want := []page.Lane{
		{ID: "alarm a-failed", Title: "Alarms", Note: "a-failed", States: []page.State{{From: 20, To: 50, Kind: page.Red, Label: "red from +20.0 s", Short: "+20.0 s"}}},
		{ID: "alarm a-silent", Note: "a-silent", States: []page.State{{From: 30, To: math.Inf(1), Kind: page.Red, Label: "red from +30.0 s", Short: "+30.0 s"}}},
	}
	if diff := cmp.Diff(want, alarmLanes(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := alarmLanes(nil); len(got) != 1 || got[0].Note != "none turned red" {
		t.Errorf("without a red alarm: %+v", got)
	}
}

func TestNodeLanes(t *testing.T) {
	phases := []PhaseTime{{"detect", 80}, {"fence", 1}, {"fenced", 9}, {"promote", 10}, {"confirm", 5}, {"verify", 1}}
	story := func(l page.Lane) string {
		var parts []string
		for _, s := range l.States {
			parts = append(parts, s.Label)
		}
		return l.Title + ": " + strings.Join(parts, ", ")
	}
	tests := []struct {
		name   string
		result Result
		want   []string
		starts []float64 // of the states of the node that takes over
		fails  []float64 // and of the other one
	}{
		{
			"a takeover", Result{Primary: "b", Phases: phases},
			[]string{"Node a: primary, silent, stopping, stopped and fenced", "Node b: standby, taking over, primary"},
			[]float64{math.Inf(-1), 90, 105}, []float64{math.Inf(-1), 0, 81, 90},
		},
		{
			"promoted while the old primary stops", Result{Primary: "b", Phases: slices.Delete(slices.Clone(phases), 2, 3)},
			[]string{"Node a: primary, silent, stopping, stopped and fenced", "Node b: standby, taking over, primary"},
			[]float64{math.Inf(-1), 81, 96}, []float64{math.Inf(-1), 0, 81, 97},
		},
		{
			"the other way round", Result{Primary: "a", Phases: phases},
			[]string{"Node b: primary, silent, stopping, stopped and fenced", "Node a: standby, taking over, primary"},
			[]float64{math.Inf(-1), 90, 105}, []float64{math.Inf(-1), 0, 81, 90},
		},
		{
			"without phases nothing is claimed after the failure", Result{Primary: "b, by force"},
			[]string{"Node a: primary", "Node b: standby"},
			[]float64{math.Inf(-1)}, []float64{math.Inf(-1)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lanes := tt.result.nodeLanes()
			if diff := cmp.Diff(tt.want, []string{story(lanes[0]), story(lanes[1])}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for i, want := range [][]float64{tt.fails, tt.starts} {
				var starts []float64
				for _, s := range lanes[i].States {
					starts = append(starts, s.From)
				}
				if diff := cmp.Diff(want, starts); diff != "" {
					t.Errorf("starts of %s (-want +got):\n%s", lanes[i].Title, diff)
				}
			}
		})
	}
}

func TestWritePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.html")
	r := Result{Name: "core", Primary: "b", Recovery: 42, Audit: Audit{Acknowledged: 1234}}
	if err := r.WritePage(file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hadr demo: core", "1,234 commits acknowledged, 0 lost", "no commit for 42.0 s"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if err := r.WritePage(filepath.Join(file, "x")); err == nil || !strings.Contains(err.Error(), "writing the page") {
		t.Errorf("a file that cannot be written: %v", err)
	}
}
