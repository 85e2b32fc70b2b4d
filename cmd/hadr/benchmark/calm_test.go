package benchmark

import (
	"testing"
	"time"
)

// TestQuiet: nothing that ends within seconds makes the standby take over, but
// for a short lease that outlasts its holder's way to everybody: that is a
// failure as long as it lasts, and tells that the model can see takeovers.
func TestQuiet(t *testing.T) {
	rough := Weather{Cuts: 1, Spikes: 3, Loss: 0.01}
	alone := Weather{Isolated: 3}
	tests := []struct {
		name    string
		which   int
		weather Weather
		takes   bool
		minimum int // suspicions
	}{
		{"lease 6s/2s, a cut of each kind, spikes and losses", shortLease, rough, false, 1},
		{"lease 20s/5s, the same", longLease, rough, false, 0},
		{"alarms alone, the same", alarmsAlone, rough, false, 0},
		{"lease 20s/5s, the primary is cut off from everybody", longLease, alone, false, 0},
		{"lease 6s/2s, the primary is cut off from everybody", shortLease, alone, true, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := quiet(t, Cases[tt.which], tt.weather, 2*time.Hour, 1)
			if (q.Takeovers > 0) != tt.takes || q.Reports+q.Alarms < tt.minimum {
				t.Errorf("%+v", q)
			}
			t.Logf("%d reports, %d alarms, %d takeovers", q.Reports, q.Alarms, q.Takeovers)
		})
	}
}
