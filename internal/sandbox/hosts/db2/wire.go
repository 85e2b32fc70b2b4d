package db2

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// frameType is the kind of a message between the two databases of a pair.
type frameType byte

const (
	frameHello     frameType = iota + 1 // standby: who I am, what I have
	frameAccept                         // primary: what I have
	frameReject                         // primary: why not
	frameReady                          // standby: my peer window is void, go on
	frameData                           // primary: log bytes
	frameAck                            // standby: received up to
	frameBeat                           // both: heartbeat
	framePeer                           // primary: you are in peer state
	frameTakeover                       // standby: please hand over
	frameSurrender                      // primary: all log is shipped, I am a standby now
	frameRefuse                         // primary: cannot hand over
	frameDisable                        // standby: taken over by force, stop writing
	frameBye                            // both: orderly end, no peer window
	frameWho                            // administrative: who are you?
	frameIAm                            // its answer
)

const maxFrame = 4 << 20

// hello opens a connection.
type hello struct {
	Database   string   `json:"database"`
	Owner      string   `json:"owner"`
	Host       string   `json:"host"`
	Timeout    int      `json:"timeout"`
	PeerWindow int      `json:"peer_window"`
	SyncMode   SyncMode `json:"sync_mode"`
	Delayed    bool     `json:"delayed"`
	Reads      bool     `json:"reads"`
	Local      bool     `json:"local"` // still in local catch-up: ready comes later
	End        int64    `json:"end"`
}

type accept struct {
	Owner string `json:"owner"`
	Host  string `json:"host"`
	End   int64  `json:"end"`
	// Sum is the checksum of the log up to the smaller of both ends.
	Sum uint64 `json:"sum"`
}

type beat struct {
	End       int64 `json:"end"`
	LogTime   int64 `json:"log_time"`   // Unix seconds of the last record
	WindowEnd int64 `json:"window_end"` // Unix seconds, 0 outside peer state

	// Of a standby.
	Replay     int64 `json:"replay,omitempty"`
	ReplayTime int64 `json:"replay_time,omitempty"`
	Full       bool  `json:"full,omitempty"`
}

type identity struct {
	Role      Role `json:"role"`
	Active    bool `json:"active"`
	Takeovers int  `json:"takeovers"`
}

type position struct {
	End int64 `json:"end"`
}

// session is one HADR connection. Sending never blocks: a goroutine writes
// what is queued, many frames at a time.
type session struct {
	conn  net.Conn
	clock clock.Clock

	mu           sync.Mutex
	cond         *sync.Cond
	queue        []byte
	queuedTo     int64 // end of the newest log bytes in the queue
	sentTo       int64 // end of the log bytes that TCP took
	writingSince time.Time
	closed       bool
	draining     bool
	lastRecv     time.Time
	received     int // messages
	onSent       func()
	finished     chan struct{} // closed when nothing more will be written
}

func newSession(conn net.Conn, c clock.Clock) *session {
	s := &session{conn: conn, clock: c, lastRecv: c.Now(), finished: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	return s
}

// write sends what is queued until the session is closed.
func (s *session) write() {
	defer close(s.finished)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed && !s.draining {
			s.cond.Wait()
		}
		if s.closed || len(s.queue) == 0 {
			s.mu.Unlock()
			_ = s.conn.Close()
			return
		}
		b, to := s.queue, s.queuedTo
		s.queue = nil
		s.writingSince = s.clock.Now()
		s.mu.Unlock()

		_, err := s.conn.Write(b)

		s.mu.Lock()
		s.writingSince = time.Time{}
		if err == nil {
			s.sentTo = to
		} else {
			s.closed = true
		}
		s.cond.Broadcast()
		sent := s.onSent
		s.mu.Unlock()
		if err != nil {
			return // the reader takes what has still arrived and finds the end
		}
		if sent != nil {
			sent()
		}
	}
}

func (s *session) enqueue(t frameType, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.draining {
		return
	}
	s.queue = append(s.queue, byte(t))
	s.queue = binary.BigEndian.AppendUint32(s.queue, uint32(len(payload)))
	s.queue = append(s.queue, payload...)
	s.cond.Broadcast()
}

func (s *session) send(t frameType, v any) {
	var b []byte
	if v != nil {
		b, _ = json.Marshal(v) // plain structs: cannot fail
	}
	s.enqueue(t, b)
}

// sendLog queues the log bytes that start at a position.
func (s *session) sendLog(from int64, b []byte) {
	payload := make([]byte, 8, 8+len(b))
	binary.BigEndian.PutUint64(payload, uint64(from))
	s.enqueue(frameData, append(payload, b...))
	s.mu.Lock()
	s.queuedTo = from + int64(len(b))
	s.mu.Unlock()
}

func (s *session) sendAck(end int64) {
	s.enqueue(frameAck, binary.BigEndian.AppendUint64(nil, uint64(end)))
}

// room waits until the queue is short.
func (s *session) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 1<<20 && !s.closed {
		s.cond.Wait()
	}
	return !s.closed
}

// close ends the connection at once.
func (s *session) close() {
	s.mu.Lock()
	s.closed = true
	s.cond.Broadcast()
	s.mu.Unlock()
	_ = s.conn.Close()
}

// drain sends what is queued and then closes, if TCP takes it.
func (s *session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	s.cond.Broadcast()
}

func (s *session) silence(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.lastRecv)
}

// status is HADR_CONNECT_STATUS of a live session, and since when if it is not
// what it was at first: congested means that TCP is alive but does not take
// what is to be sent.
func (s *session) status(now time.Time) (string, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writingSince.IsZero() && now.Sub(s.writingSince) >= time.Second {
		return "CONGESTED", s.writingSince
	}
	return "CONNECTED", time.Time{}
}

func (s *session) sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sentTo
}

func (s *session) heard(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastRecv = now
	s.received++
}

func readFrame(r *bufio.Reader) (frameType, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("message of %d bytes on the HADR connection", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return frameType(head[0]), b, err
}

// readAs reads one frame of a type and decodes it into v; ctx bounds it.
func readAs(ctx context.Context, conn net.Conn, r *bufio.Reader, want frameType, v any) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	t, b, err := readFrame(r)
	if err != nil {
		return err
	}
	if t == frameReject {
		return fmt.Errorf("%w: %s", errRejected, b)
	}
	if t != want {
		return fmt.Errorf("message %d on the HADR connection, want %d", t, want)
	}
	return json.Unmarshal(b, v)
}

func (s *session) lastHeard() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastRecv
}

// onSentDo calls f whenever TCP has taken what was queued.
func (s *session) onSentDo(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onSent = f
}

// shippedTo notes that the standby needs nothing before a position.
func (s *session) shippedTo(end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queuedTo = end
}
