package wire

import (
	"maps"
	"slices"
)

// Operations returns the names of the operations of s, sorted.
func (s *Service) Operations() []string { return slices.Sorted(maps.Keys(s.ops)) }
