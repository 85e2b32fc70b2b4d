package db2

import (
	"time"
)

// mark is a place in the log and the time of its record.
type mark struct {
	pos int64
	at  int64 // Unix seconds
}

// replayed is how far a standby has replayed what it received: all of it, or
// with HADR_REPLAY_DELAY what is old enough. d.mu is held.
// https://www.ibm.com/docs/en/db2/11.5.x?topic=parameters-hadr-replay-delay-hadr-replay-delay
func (d *database) replayed(r *run, now time.Time) mark {
	if r.replay.pos == 0 || d.cfg.ReplayDelay == 0 {
		r.replay = mark{d.log.end(), d.logTime}
		r.delayed = nil
		return r.replay
	}
	due := now.Unix() - int64(d.cfg.ReplayDelay)
	n := 0
	for n < len(r.delayed) && r.delayed[n].at <= due {
		r.replay = r.delayed[n]
		n++
	}
	r.delayed = r.delayed[n:]
	return r.replay
}

// received notes where records of the primary end. d.mu is held.
func (d *database) received(r *run, start int64, b []byte) {
	for _, rec := range decodeRecords(b) {
		d.apply(rec)
		start += int64(len(rec.encode()))
		if d.cfg.ReplayDelay > 0 {
			r.delayed = append(r.delayed, mark{start, rec.at})
		}
	}
}
