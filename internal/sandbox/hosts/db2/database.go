package db2

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// State is HADR_STATE.
type State string

// HADR states.
const (
	Disconnected         State = "DISCONNECTED" // a primary without its standby
	LocalCatchup         State = "LOCAL_CATCHUP"
	RemoteCatchupPending State = "REMOTE_CATCHUP_PENDING"
	RemoteCatchup        State = "REMOTE_CATCHUP"
	Peer                 State = "PEER"
	DisconnectedPeer     State = "DISCONNECTED_PEER"
)

var (
	errInactive   = errors.New("the database is not active")
	errOnStandby  = errors.New("the database is a standby")
	errTerminated = errors.New("the database ended the request")
	errRejected   = errors.New("the partner refused the connection")
)

// database is one database of an instance.
type database struct {
	in    *Instance
	log   *logFile
	admin chan struct{} // held by the command that changes role or activation

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced when state, role or activation change
	cfg       Config
	rows      map[string]map[string]int64 // table -> row -> sequence
	logTime   int64                       // of the newest record
	takeovers int                         // in the log: the older primary has fewer
	run       *run                        // nil while the database is not active
}

// run is one activation of a database. database.mu guards its fields.
type run struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	role    Role
	started time.Time
	waiting bool // a primary that waits for its standby is not active yet
	state   State

	link      *session // nil while disconnected
	linkSince time.Time
	partner   partner
	seen      contact
	explicit  bool // by ACTIVATE or START HADR, not by a connection

	// windowEnd is the end of the peer window: what this primary promised with
	// its last heartbeat, or what this standby was last told.
	windowEnd time.Time
	nextBeat  time.Time

	ackTo        int64  // primary: what the standby has
	unwritten    []byte // primary, NEARSYNC: sent, but not in the own log yet
	grew         chan struct{}
	waiters      []*waiter
	waits        map[*waiter]struct{}
	waitCount    int
	waitTotal    time.Duration
	surrendering bool
	disabled     bool // taken over by force
	handing      bool // standby: a plain takeover runs
	takingOver   bool // standby: it follows nobody any more

	replay  mark   // standby
	delayed []mark // received and not replayed yet

	surrendered chan surrender // standby: answer to a plain takeover
}

type surrender struct {
	end     int64
	refused bool
}

// partner is what is known of the other database since activation.
type partner struct {
	known   bool
	host    string
	owner   string
	end     int64
	logTime int64

	// Of a standby.
	replay  mark
	delayed bool
	reads   bool // from applications
	full    bool // its log device
}

// contact counts heartbeats of the present or last connection.
type contact struct {
	expected, missed, beats int
	silence                 time.Duration
}

// waiter is a commit that has not returned.
type waiter struct {
	since time.Time
	pos   int64
	done  chan error
}

func openDatabase(in *Instance, name string) (*database, error) {
	cfg, err := in.layout.Config(name)
	if err != nil {
		return nil, err
	}
	d := &database{in: in, cfg: cfg, admin: make(chan struct{}, 1), changed: make(chan struct{}), rows: map[string]map[string]int64{}}
	d.log, err = openLog(in.layout.logFile(name), d.apply)
	return d, err
}

// apply replays a record into the tables.
func (d *database) apply(r record) {
	d.logTime = r.at
	switch {
	case r.kind == takeoverRecord:
		d.takeovers++
	case r.kind == updateRecord && len(r.fields) == 3:
		if seq, err := strconv.ParseInt(r.fields[2], 10, 64); err == nil {
			d.setRow(r.fields[0], r.fields[1], seq)
		}
	}
}

func (d *database) setRow(table, row string, seq int64) {
	if d.rows[table] == nil {
		d.rows[table] = map[string]int64{}
	}
	d.rows[table][row] = seq
}

// acquire takes the administrative lock.
func (d *database) acquire(ctx context.Context) error {
	select {
	case d.admin <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *database) release() { <-d.admin }

// touch wakes everybody who waits for a change. d.mu is held.
func (d *database) touch() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// enter changes the HADR state. d.mu is held.
func (d *database) enter(r *run, s State) {
	if r.state == s {
		return
	}
	d.in.diag("HADR state set to %s (was %s) on database %s", diagState(r.role, s), diagState(r.role, r.state), d.cfg.Database)
	r.state = s
	d.touch()
}

// diagState is the name of a state in db2diag.log.
func diagState(role Role, s State) string {
	side := "S"
	if role == Primary {
		side = "P"
	}
	switch s {
	case "":
		return "HDR_NO_STATE"
	case LocalCatchup:
		return "HDR_S_LOC_CATCHUP"
	case RemoteCatchupPending, Disconnected:
		return "HDR_" + side + "_REM_CATCHUP_PENDING"
	case RemoteCatchup:
		return "HDR_" + side + "_REM_CATCHUP"
	case DisconnectedPeer:
		return "HDR_" + side + "_DISCONN_PEER"
	}
	return "HDR_" + side + "_PEER"
}

func (d *database) newRun(role Role) *run {
	ctx, cancel := context.WithCancel(d.in.ctx)
	now := d.in.clock.Now()
	return &run{
		ctx: ctx, cancel: cancel, role: role, started: now, linkSince: now,
		grew: make(chan struct{}, 1), waits: map[*waiter]struct{}{}, surrendered: make(chan surrender, 1),
	}
}

// active reports whether applications or the partner may use the database.
// d.mu is held.
func (d *database) active() bool { return d.run != nil && !d.run.waiting }

// end is the log position behind the newest record, written or not. d.mu is
// held.
func (d *database) end() int64 {
	end := d.log.end()
	if d.run != nil {
		end += int64(len(d.run.unwritten))
	}
	return end
}

// writeOut brings everything that was logged into the log file. d.mu is held.
func (d *database) writeOut(r *run) error {
	b := r.unwritten
	r.unwritten = nil
	if len(b) == 0 {
		return nil
	}
	return d.log.append(b)
}

// stop ends a run. Commits that have not returned fail. It must not be called
// from the run's own goroutines.
func (d *database) stop(r *run) {
	d.mu.Lock()
	if d.run == r {
		d.run = nil
	}
	for _, w := range r.waiters {
		w.done <- errTerminated
	}
	r.waiters = nil
	link := r.link
	d.touch()
	d.mu.Unlock()
	r.cancel()
	if link != nil {
		link.close()
	}
	r.wg.Wait()
}

// sayGoodbye ends the HADR connection in order, so that the partner opens no
// peer window.
func (d *database) sayGoodbye(r *run) {
	d.mu.Lock()
	link := r.link
	d.mu.Unlock()
	if link != nil {
		link.send(frameBye, nil)
		d.drained(link)
	}
}

// drained waits, for a few seconds, until TCP has taken what is queued.
func (d *database) drained(link *session) {
	link.drain()
	ctx, cancel := context.WithCancel(d.in.ctx)
	defer cancel()
	t := d.in.clock.AfterFunc(3*time.Second, cancel)
	defer t.Stop()
	select {
	case <-link.finished:
	case <-ctx.Done():
	}
}

// heartbeat is the interval of heartbeats.
func (d *database) heartbeat() time.Duration {
	if h := d.in.cfg.Heartbeat; h > 0 {
		return h.Duration()
	}
	beat := min(d.cfg.timeout()/4, 30*time.Second)
	if w := time.Duration(d.cfg.PeerWindow) * time.Second; w > 0 {
		beat = min(beat, w/4)
	}
	return max(beat.Truncate(time.Second), time.Second)
}

// beatIfDue sends a heartbeat and counts the partner's. d.mu is held.
func (d *database) beatIfDue(r *run, now time.Time) {
	if r.link == nil {
		return
	}
	every := d.heartbeat()
	elapsed := now.Sub(r.linkSince)
	r.seen.expected = int(elapsed / every)
	r.seen.missed = max(0, int((elapsed-time.Second)/every)-r.seen.beats)
	if now.Before(r.nextBeat) {
		return
	}
	r.nextBeat = now.Add(every)
	b := beat{End: d.end(), LogTime: d.logTime}
	switch {
	case r.role == Standby:
		m := d.replayed(r, now)
		b.Replay, b.ReplayTime, b.Full = m.pos, m.at, d.in.levers.logFull()
	case r.state == Peer:
		b.WindowEnd = d.renewWindow(r, now)
	}
	r.link.send(frameBeat, b)
}

// renewWindow extends the peer window that this primary promises. d.mu is held.
func (d *database) renewWindow(r *run, now time.Time) int64 {
	w := d.cfg.window()
	if w == 0 {
		return 0
	}
	r.windowEnd = now.Add(w)
	return r.windowEnd.Unix()
}

// tick is how often a run looks at its timers; Db2 polls its socket as often.
const tick = 100 * time.Millisecond

// watch calls check at every tick until the run ends.
func (d *database) watch(r *run, check func(now time.Time)) {
	t := d.in.clock.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-t.C():
			check(d.in.clock.Now())
		}
	}
}

func (d *database) String() string { return fmt.Sprintf("database %s", d.cfg.Database) }
