package alarm

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestDecideFollowsTheMissingDataTables(t *testing.T) {
	type row struct {
		ID      string
		N, M    int
		Range   int
		Slots   []string
		Fills   *int
		Results map[Treatment]*string
	}
	for _, r := range oracle[row](t, "alarm_missing_data.json") {
		for treatment, want := range r.Results {
			t.Run(fmt.Sprintf("%s/%s", r.ID, treatment), func(t *testing.T) {
				got, filled := Decide(slots(t, r.Slots), r.N, r.M, treatment)
				if r.Fills != nil && filled != *r.Fills {
					t.Errorf("%v: %d filled, want %d", r.Slots, filled, *r.Fills)
				}
				switch {
				case want == nil:
				case *want == "!ALARM":
					if got == Alarm {
						t.Errorf("%v: ALARM", r.Slots)
					}
				case *want == "retain":
					if got != Retain {
						t.Errorf("%v: %s, want the state retained", r.Slots, got)
					}
				case string(got) != *want:
					t.Errorf("%v: %q, want %s", r.Slots, got, *want)
				}
			})
		}
	}
}

func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		m := rapid.IntRange(1, n).Draw(t, "m")
		s := rapid.SliceOfN(rapid.SampledFrom([]Slot{Missing, Good, Breaching}), n, n+6).Draw(t, "slots")
		breaching, filled := Decide(s, n, m, TreatBreaching)
		notBreaching, _ := Decide(s, n, m, TreatNotBreaching)
		missing, _ := Decide(s, n, m, TreatMissing)
		ignore, _ := Decide(s, n, m, TreatIgnore)
		if notBreaching == Alarm && breaching != Alarm {
			t.Fatalf("notBreaching alarms, breaching is %s", breaching)
		}
		if filled == 0 && (breaching != notBreaching || missing != ignore || missing != breaching) {
			t.Fatal("nothing was filled, but the treatment matters")
		}
		if ignore == InsufficientData || breaching == InsufficientData || notBreaching == InsufficientData {
			t.Fatal("INSUFFICIENT_DATA without TreatMissing")
		}
		older := append([]Slot{Missing}, s...)
		if again, _ := Decide(older, n, m, TreatMissing); again != missing {
			t.Fatalf("an older empty slot changes %s to %s", missing, again)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	s := []Slot{Good, Missing, Breaching, Missing, Breaching, Good, Good}
	for b.Loop() {
		Decide(s, 3, 2, TreatBreaching)
	}
}
