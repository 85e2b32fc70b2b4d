package postgresql

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func ago(d time.Duration) epoch { return epoch{now.Add(-d)} }

func TestLagOfAStandby(t *testing.T) {
	tests := []struct {
		name string
		db   Database
		want Lag
	}{
		{"a quiet primary is no lag", Database{Flushed: 1000, Replayed: 1000, LastCommit: ago(time.Hour), Receiver: &Receiver{Flushed: 1000, PrimaryEnd: 1000}}, Lag{}},
		{"a quiet primary that is gone", Database{Flushed: 1000, Replayed: 1000, LastCommit: ago(time.Hour)}, Lag{}},
		{"not replayed yet", Database{Flushed: 1000, Replayed: 400, LastCommit: ago(3 * time.Second), Receiver: &Receiver{PrimaryEnd: 1000}}, Lag{Replay: 600, Time: 3 * time.Second}},
		{"not received yet", Database{Flushed: 1000, Replayed: 1000, LastCommit: ago(3 * time.Second), Receiver: &Receiver{PrimaryEnd: 5000}}, Lag{Missing: 4000, Time: 3 * time.Second}},
		{"no commit seen", Database{Flushed: 1000, Replayed: 400}, Lag{Replay: 600}},
		{"the primary's clock is ahead", Database{Flushed: 1000, Replayed: 400, LastCommit: ago(-time.Second)}, Lag{Replay: 600}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.db.Lag(now); got != tt.want {
				t.Errorf("lag %s, want %s", got, tt.want)
			}
		})
	}
}

func TestLagOfASender(t *testing.T) {
	behind := Sender{Flushed: 400, Replayed: 300, FlushLag: seconds(time.Second), ReplayLag: seconds(2 * time.Second)}
	if got, want := behind.Lag(1000), (Lag{Missing: 600, Replay: 100, Time: 2 * time.Second}); got != want {
		t.Errorf("lag %s, want %s", got, want)
	}
	// The columns keep their last values for a while after everything has arrived.
	caught := Sender{Flushed: 1000, Replayed: 1000, FlushLag: seconds(time.Second), ReplayLag: seconds(time.Second)}
	if got := caught.Lag(1000); got != (Lag{}) {
		t.Errorf("lag %s, want none", got)
	}
}

func TestExposure(t *testing.T) {
	tests := []struct {
		name string
		x    Exposure
		most time.Duration
		says string
	}{
		{"synchronous", Exposure{Mode: Sync, Missing: 5, Since: now, At: now.Add(time.Hour)}, 0, "no acknowledged commit is lost"},
		{"asynchronous", Exposure{Mode: Async, Missing: 5, Since: now, At: now.Add(1500 * time.Millisecond)}, 1500 * time.Millisecond, "at most 1.5 s are lost, from 2026-03-02T10:00:00.0Z"},
		{"never heard of", Exposure{Mode: Async, At: now}, 0, "not known"},
		{"clocks differ", Exposure{Mode: Async, Since: now.Add(time.Second), At: now}, 0, "at most 0.0 s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.x.For() != tt.most || !strings.Contains(tt.x.String(), tt.says) {
				t.Errorf("%s: %s; want %s, %q", tt.x.For(), tt.x, tt.most, tt.says)
			}
		})
	}
}

func TestCovered(t *testing.T) {
	tests := []struct {
		name    string
		contact Contact
		commit  time.Time
		want    time.Time
	}{
		{"it had everything when it heard last", Contact{Heard: now}, now.Add(-time.Minute), now},
		{"it lacked something: only what it shows is proven", Contact{Heard: now, Missing: 1}, now.Add(-time.Minute), now.Add(-time.Minute)},
		{"a commit came after the word that was kept", Contact{Heard: now.Add(-time.Minute)}, now, now},
		{"nothing", Contact{}, time.Time{}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := covered(tt.contact, tt.commit); !got.Equal(tt.want) {
				t.Errorf("covered %s, want %s", got, tt.want)
			}
		})
	}
}
