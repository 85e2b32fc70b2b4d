package postgresql

import (
	"fmt"
	"time"
)

// Lag is how far a standby is behind what it knows of its primary's log.
type Lag struct {
	Missing int64         // bytes that it has not on disk
	Replay  int64         // bytes that it has, and has not replayed
	Time    time.Duration // age of the newest commit that it shows, where it is behind; a quiet primary is no lag
}

// Lag measures a standby at now, on its own clock.
func (d Database) Lag(now time.Time) Lag {
	end := d.Flushed
	if d.Receiver != nil {
		end = max(end, d.Receiver.PrimaryEnd)
	}
	l := Lag{Missing: d.Flushed.behind(end), Replay: d.Replayed.behind(d.Flushed)}
	if d.Replayed < end && !d.LastCommit.IsZero() {
		l.Time = max(0, now.Sub(d.LastCommit.Time))
	}
	return l
}

// Lag is how far a standby is behind, as its primary at position end sees it.
func (s Sender) Lag(end LSN) Lag {
	l := Lag{Missing: s.Flushed.behind(end), Replay: s.Replayed.behind(s.Flushed)}
	if l.Missing+l.Replay > 0 {
		l.Time = max(time.Duration(s.FlushLag), time.Duration(s.ReplayLag))
	}
	return l
}

// noteworthy reports whether people want to see it.
func (l Lag) noteworthy() bool {
	return l.Time >= noteworthyTime || l.Missing+l.Replay >= noteworthyBytes
}

const (
	noteworthyTime  = time.Second
	noteworthyBytes = 1 << 20
)

// String is for people.
func (l Lag) String() string {
	return fmt.Sprintf("%d bytes to receive, %d to replay, %.1f s", l.Missing, l.Replay, l.Time.Seconds())
}

// Exposure is what a promotion of a standby can lose of acknowledged commits
// (R33).
type Exposure struct {
	Mode    Mode
	Missing int64     // bytes of the primary's log that it is known to lack
	Since   time.Time // it has every commit acknowledged until then; zero = not known
	At      time.Time // of the promotion, or now
}

// For is how many seconds of commits that may be.
func (e Exposure) For() time.Duration {
	if e.Mode == Sync || e.Since.IsZero() {
		return 0
	}
	return max(0, e.At.Sub(e.Since))
}

// String is for people and for the history of operations.
func (e Exposure) String() string {
	switch {
	case e.Mode == Sync:
		return "no acknowledged commit is lost: they waited for this standby"
	case e.Since.IsZero():
		return "it is not known how many acknowledged commits are lost"
	}
	return fmt.Sprintf("acknowledged commits of at most %.1f s are lost, from %s to the end of the old primary; of its log %d bytes are known to be missing",
		e.For().Seconds(), e.Since.UTC().Format("2006-01-02T15:04:05.0Z"), e.Missing)
}

// covered is the moment until which a standby has every commit that its primary
// acknowledged: when it last heard of a primary whose log it had to the end, or
// the newest commit that it shows, as the log is in order. The one is on its own
// clock and the other on the primary's.
func covered(c Contact, lastCommit time.Time) time.Time {
	if c.Missing == 0 && c.Heard.After(lastCommit) {
		return c.Heard
	}
	return lastCommit
}
