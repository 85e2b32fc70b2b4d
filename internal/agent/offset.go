package agent

import (
	"net/http"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// ServerClock measures this host's clock by the Date header of AWS's answers,
// on their way through its transport. A header has whole seconds, so that an
// offset is known to about a second: enough for the two seconds that R8 allows.
type ServerClock struct {
	next  http.RoundTripper
	clock clock.Clock

	mu     sync.Mutex
	offset time.Duration
	at     time.Time
}

// NewServerClock returns a transport that measures on the way to next.
func NewServerClock(next http.RoundTripper, c clock.Clock) *ServerClock {
	return &ServerClock{next: next, clock: c}
}

// RoundTrip implements http.RoundTripper.
func (s *ServerClock) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := s.clock.Now()
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		s.note(sent, s.clock.Now(), date)
	}
	return resp, nil
}

// note keeps the smallest offset that explains what was seen: the server wrote
// a time of [date, date+1s) between sent and received.
func (s *ServerClock) note(sent, received, date time.Time) {
	least, most := sent.Sub(date.Add(time.Second)), received.Sub(date)
	var offset time.Duration
	switch {
	case least > 0:
		offset = least
	case most < 0:
		offset = most
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset, s.at = offset, received
}

// Offset implements Offset.
func (s *ServerClock) Offset() (time.Duration, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offset, s.at
}
