package benchmark

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestLatency(t *testing.T) {
	l := Latency{P50: 2 * time.Second, P99: 12 * time.Second}
	for u, want := range map[float64]time.Duration{.5: 2 * time.Second, .99: 12 * time.Second, .01: time.Second / 3} {
		if got := l.Quantile(u); math.Abs(float64(got-want)) > 1e-6*float64(want) {
			t.Errorf("quantile %g: %s, want %s", u, got, want)
		}
	}
}

// TestDice: half of what is drawn is below the median, whatever it is drawn for.
func TestDice(t *testing.T) {
	p, err := Assumed()
	if err != nil {
		t.Fatal(err)
	}
	d, below := newDice(1, p), 0
	const n = 4000
	for i := range n {
		if d.draw(CommandDelivery, uint64(i%3)) < p[CommandDelivery].P50 {
			below++
		}
	}
	if below < n*46/100 || below > n*54/100 {
		t.Errorf("%d of %d are below the median", below, n)
	}
}

func TestParseProfileRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"unexpected end":     `{"rows":[`,
		"want 0 < p50":       `{"rows":[{"id":"dynamodb_call","p50":2,"p99":1}]}`,
		"is missing":         `{"rows":[{"id":"dynamodb_call","p50":1,"p99":1}]}`,
		"row ssm_delivery: ": `{"rows":[{"id":"ssm_delivery","p50":0,"p99":1}]}`,
	} {
		if _, err := parseProfile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
