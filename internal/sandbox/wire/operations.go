package wire

import (
	"maps"
	"slices"
)

// Operations returns the names of the operations of s, sorted.
func (s *Service) Operations() []string { return slices.Sorted(maps.Keys(s.ops)) }

// Services returns what is registered, in the order of registration.
func (s *Server) Services() []*Service { return s.all() }
