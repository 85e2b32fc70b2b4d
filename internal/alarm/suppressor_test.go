package alarm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSuppressor(t *testing.T) {
	type interval struct {
		From, To int
		By       SuppressedBy
	}
	type action struct {
		T     int
		State State `json:"for_state"`
	}
	type row struct {
		ID        string
		Wait      int `json:"wait_period"`
		Extension int `json:"extension_period"`
		Initial   struct{ Suppressor State }
		Events    []struct {
			T     int
			Alarm string
			To    State
		}
		Actions     []action   `json:"expected_actions"`
		Suppression []interval `json:"expected_suppression"`
		Horizon     int
	}
	start := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	at := func(unit int) time.Time { return start.Add(time.Duration(unit) * time.Second) }
	for _, r := range oracle[row](t, "suppressor.json") {
		t.Run(r.ID, func(t *testing.T) {
			s := Suppression{Wait: time.Duration(r.Wait) * time.Second, Extension: time.Duration(r.Extension) * time.Second}
			suppressor := r.Initial.Suppressor
			actions, suppressed := []action{}, []interval{}
			for now := 0; now < r.Horizon; now++ {
				if state := s.Expire(at(now)); state != Retain {
					actions = append(actions, action{now, state})
				}
				changed := false
				for _, e := range r.Events {
					switch {
					case e.T != now:
					case e.Alarm == "composite":
						changed = true
						if s.Changed(at(now), e.To, suppressor == Alarm) {
							actions = append(actions, action{now, e.To})
						}
					default:
						suppressor = e.To
						if state := s.Suppressor(at(now), e.To == Alarm); state != Retain {
							actions = append(actions, action{now, state})
						}
					}
				}
				if s.By() == NotSuppressed {
					continue
				}
				if n := len(suppressed); n > 0 && suppressed[n-1].By == s.By() && suppressed[n-1].To == now && (!changed || s.By() == ByAlarm) {
					suppressed[n-1].To = now + 1
				} else {
					suppressed = append(suppressed, interval{now, now + 1, s.By()})
				}
			}
			if diff := cmp.Diff(r.Actions, actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r.Suppression, suppressed); diff != "" {
				t.Errorf("suppression (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSuppressorWithoutPeriods(t *testing.T) {
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	var s Suppression
	if !s.Changed(now, Alarm, false) {
		t.Error("without a wait period the actions do not run at once")
	}
	if s.Changed(now, OK, true) || s.By() != ByAlarm {
		t.Errorf("suppressed by %q, want Alarm", s.By())
	}
	if state := s.Suppressor(now, false); state != OK || s.By() != NotSuppressed {
		t.Errorf("without an extension period: %q runs, suppressed by %q", state, s.By())
	}
}
