package detection

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// View is the standby's own view of its connection to the primary, read by its
// agent from the database. A process that dies resets the connection at once, a
// host that vanishes is missed after HADR_TIMEOUT, and a database that hangs
// stays connected.
//
// https://ibm.github.io/db2-hadr-wiki/hadrConfig.html
type View struct {
	Poll    time.Duration // between two readings of the database's status
	Timeout time.Duration // HADR_TIMEOUT
}

// maxHeartbeat is the longest interval of HADR heartbeats.
const maxHeartbeat = 30 * time.Second

// Check refuses settings that cannot work.
func (v View) Check() error {
	if v.Poll <= 0 || v.Timeout <= 0 || v.Poll > time.Hour || v.Timeout > time.Hour {
		return fmt.Errorf("%s: poll and HADR time-out must be above 0 and at most an hour", v.Name())
	}
	return nil
}

// Name implements Detector.
func (v View) Name() string { return "standby's view every " + short(v.Poll) }

// Key implements Detector.
func (v View) Key() string { return fmt.Sprintf("view %+v", v) }

// Worst implements Detector.
func (v View) Worst(f Failure) time.Duration {
	switch f {
	case Crash:
		return v.Poll
	case Host:
		return v.Timeout + v.Poll
	}
	return Never
}

// Notes implements Detector.
func (v View) Notes() []string {
	return []string{"The standby's view does not see a database that hangs: the connection stays"}
}

func (v View) signals() []*Signal                            { return nil }
func (v View) horizon(Failure) (before, after time.Duration) { return 0, 0 }
func (v View) charges(Prices) []charge                       { return nil }

func (v View) watcher(r *rand.Rand) watcher { return &viewWatcher{v, r} }

type viewWatcher struct {
	View
	r *rand.Rand
}

func (w *viewWatcher) sees(t *trial) time.Duration {
	switch t.failure {
	case Crash:
		return uniform(w.r, w.Poll)
	case Host:
		lost := w.Timeout - uniform(w.r, min(maxHeartbeat, w.Timeout/4))
		phase := uniform(w.r, w.Poll)
		return phase + ceilPolls(lost-phase, w.Poll)
	}
	return Never
}

// suspects: the standby is not cut off from the primary when that is cut off
// from AWS.
func (w *viewWatcher) suspects(*stretch) []span { return nil }
