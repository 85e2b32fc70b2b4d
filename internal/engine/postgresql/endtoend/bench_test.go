package endtoend

import (
	"slices"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// BenchmarkTakeover crashes the primary's server again and again, in real time,
// with a lease of 6 s that is renewed every 2 s, and reports the time from the
// failure to the first write that clients have acknowledged by the new primary
// through the endpoint, with either fencing. Figures are for
//
//	go test -run '^$' -bench Takeover -benchtime 20x ./internal/engine/postgresql/endtoend
//
// The servers, agents and functions are real. What AWS takes is the sandbox's:
// 8 s from an accepted stop of the old primary to the confirmed one, half a
// second for the delivery of a command. An acknowledged row that is lost fails
// it.
func BenchmarkTakeover(b *testing.B) {
	for _, fencing := range []failover.Fencing{failover.PeerWindow, failover.Strict} {
		b.Run(string(fencing), func(b *testing.B) {
			crashes(b, newStage(b, options{lease: map[string]any{"duration_seconds": 6, "interval_seconds": 2}, strict: true, fencing: &fencing}))
		})
	}
}

func crashes(b *testing.B, s *stage) {
	b.Helper()
	primary := "a"
	var outages []time.Duration
	for b.Loop() {
		client := s.client()
		client.Await(b, 20, patience)
		began := time.Now()
		s.hosts[primary].Crash(b)
		first := s.takenOver(other(primary), client)
		outages = append(outages, first.Sub(began))
		b.StopTimer()
		b.Logf("failure to first write on the new primary: %s; %s", first.Sub(began).Round(100*time.Millisecond), s.begun())
		s.nothingIsLost(other(primary), client)
		s.rejoin(primary)
		primary = other(primary)
		b.StartTimer()
	}
	slices.Sort(outages)
	b.ReportMetric(quantile(outages, 0.50).Seconds(), "p50-s")
	b.ReportMetric(quantile(outages, 0.95).Seconds(), "p95-s")
	b.ReportMetric(outages[len(outages)-1].Seconds(), "max-s")
}

// begun is how the last operation began, for who wonders what took so long.
func (s *stage) begun() string {
	entries, err := s.table.History(s.tb.Context(), group, 0)
	must(s.tb, err)
	i := slices.IndexFunc(entries, func(e failover.Entry) bool { return e.Event == "started" })
	if i < 0 {
		return "no operation began"
	}
	return entries[i].Reason
}

// quantile is the smallest of the sorted values that at least q of them do not
// exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	n := int(q * float64(len(sorted)))
	if float64(n) < q*float64(len(sorted)) {
		n++
	}
	return sorted[max(n, 1)-1]
}
