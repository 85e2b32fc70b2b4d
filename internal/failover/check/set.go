package check

import "sync"

// set remembers hashes of worlds, and with each one from which it was reached
// first, or how far it is to rest. Sixteen bytes a state: tens of millions fit.
type set struct {
	shards [shards]shard
}

const shards = 64

type shard struct {
	mu      sync.Mutex
	keys    []uint64
	parents []uint64
	used    int
}

func newSet() *set {
	s := &set{}
	for i := range s.shards {
		s.shards[i].grow(1 << 8)
	}
	return s
}

func (s *set) shard(h uint64) *shard { return &s.shards[h>>58] }

// add reports whether h is new.
func (s *set) add(h, parent uint64) bool {
	sh := s.shard(h)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.used*4 > len(sh.keys)*3 {
		sh.grow(len(sh.keys) * 2)
	}
	i, ok := sh.find(h)
	if ok {
		return false
	}
	sh.keys[i] = h
	sh.parents[i] = parent
	sh.used++
	return true
}

// get returns what was added with h.
func (s *set) get(h uint64) (parent uint64, ok bool) {
	sh := s.shard(h)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	i, ok := sh.find(h)
	return sh.parents[i], ok
}

// parent returns from where h was reached first.
func (s *set) parent(h uint64) uint64 {
	sh := s.shard(h)
	i, _ := sh.find(h)
	return sh.parents[i]
}

func (s *set) len() (n int64) {
	for i := range s.shards {
		n += int64(s.shards[i].used)
	}
	return n
}

func (s *shard) find(h uint64) (i uint64, ok bool) {
	mask := uint64(len(s.keys) - 1)
	for i = h & mask; s.keys[i] != 0; i = (i + 1) & mask {
		if s.keys[i] == h {
			return i, true
		}
	}
	return i, false
}

func (s *shard) grow(size int) {
	old, was := s.keys, s.parents
	s.keys, s.parents = make([]uint64, size), make([]uint64, size)
	for i, h := range old {
		if h == 0 {
			continue
		}
		j, _ := s.find(h)
		s.keys[j], s.parents[j] = h, was[i]
	}
}
