// Package imds is the instance metadata service of simulated hosts: what runs
// on a host learns from it who it is, and gets the credentials of its role.
//
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-categories.html
package imds

import (
	"net/http"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Instance is what EC2 knows about an instance that asks for its metadata.
type Instance struct {
	world.Machine
	Type           string // such as "r6i.large"
	Architecture   string // "x86_64" or "arm64"
	Launched       time.Time
	TokensRequired bool // IMDSv2 only
	TagsShown      bool // instance tags in the metadata
}

// Service serves the metadata of all instances. It implements
// world.InstanceMetadata.
type Service struct {
	w      *world.World
	lookup func(instanceID string) (Instance, bool)

	mu        sync.Mutex
	instances map[string]*instance
}

var _ world.InstanceMetadata = (*Service)(nil)

// instance is the state behind one host's endpoint.
type instance struct {
	tokens map[string]time.Time // when they expire
	creds  world.Credentials
	issued time.Time
}

// New returns a Service. lookup finds an instance; it is asked at each
// request, so that changed tags and profiles are seen at once.
func New(w *world.World, lookup func(instanceID string) (Instance, bool)) *Service {
	return &Service{w: w, lookup: lookup, instances: map[string]*instance{}}
}

// renewBefore is how long before their end credentials are replaced: AWS
// promises new ones at least five minutes before the old expire.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html
const renewBefore = 15 * time.Minute

// credentials returns the current credentials of the instance's role. A
// profile whose role has changed gets new ones.
func (s *Service) credentials(i Instance) (world.Credentials, time.Time, error) {
	role, err := s.w.Identity.InstanceProfileRole(i.Profile)
	if err != nil {
		return world.Credentials{}, time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state(i.InstanceID)
	now := s.w.Clock.Now()
	if st.creds.RoleARN != role || st.creds.Expiration.Sub(now) < renewBefore {
		// The session of an instance's role bears the instance's name.
		c, err := s.w.Identity.ServiceSession(role, "ec2.amazonaws.com", i.InstanceID)
		if err != nil {
			return world.Credentials{}, time.Time{}, err
		}
		st.creds, st.issued = c, now
	}
	return st.creds, st.issued, nil
}

// state returns the state of an instance. The caller holds mu.
func (s *Service) state(id string) *instance {
	st := s.instances[id]
	if st == nil {
		st = &instance{tokens: map[string]time.Time{}}
		s.instances[id] = st
	}
	return st
}

// newToken opens a session of IMDSv2.
func (s *Service) newToken(id string, ttl time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, now := s.state(id), s.w.Clock.Now()
	for t, end := range st.tokens {
		if now.After(end) {
			delete(st.tokens, t)
		}
	}
	token := "AQAEA" + s.w.Hex(50)
	st.tokens[token] = now.Add(ttl)
	return token
}

func (s *Service) validToken(id, token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.state(id).tokens[token]
	return ok && s.w.Clock.Now().Before(end)
}

// Handler implements world.InstanceMetadata.
func (s *Service) Handler(instanceID string) http.Handler {
	return &handler{service: s, id: instanceID}
}
