package dynamodb

import (
	"crypto/sha256"
	"slices"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/expression"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// store holds the items of a replica, sorted by primary key and by the keys of
// each index. Stored items are never changed in place.
type store struct {
	items   *sorted
	indexes map[string]*sorted
}

func newStore(t *table) *store {
	s := &store{items: &sorted{key: t.key}}
	s.reindex(t)
	return s
}

// clone returns a store with the same items and indexes. Items are never
// changed in place, so that both can have them.
func (s *store) clone() *store {
	c := &store{items: s.items.clone(), indexes: map[string]*sorted{}}
	for name, v := range s.indexes {
		c.indexes[name] = v.clone()
	}
	return c
}

func (s *sorted) clone() *sorted {
	c := *s
	c.entries = slices.Clone(s.entries)
	return &c
}

// reindex adds the indexes that t has and s lacks, and drops the others.
func (s *store) reindex(t *table) {
	indexes := map[string]*sorted{}
	for _, x := range t.indexes {
		v := s.indexes[x.name]
		if v == nil {
			v = &sorted{key: x.key, primary: &t.key}
			for _, e := range s.items.entries {
				v.put(e.item)
			}
		}
		indexes[x.name] = v
	}
	s.indexes = indexes
}

// get returns the item with the primary key of key, nil if there is none.
func (s *store) get(key value.Item) value.Item {
	position := s.items.position(key)
	if i, found := s.items.find(position); found {
		return s.items.entries[i].item
	}
	return nil
}

// replace puts item in the place of old; either may be nil.
func (s *store) replace(old, item value.Item) {
	for _, v := range s.indexes {
		v.remove(old)
		v.put(item)
	}
	if item == nil {
		s.items.remove(old)
		return
	}
	s.items.put(item)
}

// measure counts the items and bytes of the table, or of an index.
func (s *store) measure(index string) (count, size int64) {
	v := s.items
	if index != "" {
		v = s.indexes[index]
	}
	for _, e := range v.entries {
		size += int64(value.Size(e.item))
	}
	return int64(len(v.entries)), size
}

// sorted are items in the order of a Scan: partitions by the hash of their
// key, as in DynamoDB's key space, and within a partition by sort key.
type sorted struct {
	key     expression.Key
	primary *expression.Key // of the table, for an index: breaks ties
	entries []entry
}

type entry struct {
	position string
	item     value.Item
}

// hashBytes is the length of the hash at the start of a position.
const hashBytes = 4

// partition is the common prefix of the positions of one partition.
func partition(hash types.AttributeValue) string {
	encoded := value.Encode(nil, hash)
	sum := sha256.Sum256(encoded)
	return string(sum[:hashBytes]) + string(encoded)
}

// position places an item, or a key with all key attributes.
func (s *sorted) position(item value.Item) string {
	p := []byte(partition(item[s.key.Hash]))
	if s.key.Sort != "" {
		p = value.Encode(p, item[s.key.Sort])
	}
	if s.primary != nil {
		p = value.Encode(p, item[s.primary.Hash])
		if s.primary.Sort != "" {
			p = value.Encode(p, item[s.primary.Sort])
		}
	}
	return string(p)
}

// holds reports whether item has the key attributes of s; an index leaves out
// the others.
func (s *sorted) holds(item value.Item) bool {
	return item != nil && item[s.key.Hash] != nil && (s.key.Sort == "" || item[s.key.Sort] != nil)
}

func (s *sorted) find(position string) (int, bool) {
	return slices.BinarySearchFunc(s.entries, position, func(e entry, p string) int { return strings.Compare(e.position, p) })
}

func (s *sorted) put(item value.Item) {
	if !s.holds(item) {
		return
	}
	e := entry{s.position(item), item}
	i, found := s.find(e.position)
	if found {
		s.entries[i] = e
		return
	}
	s.entries = slices.Insert(s.entries, i, e)
}

func (s *sorted) remove(item value.Item) {
	if !s.holds(item) {
		return
	}
	if i, found := s.find(s.position(item)); found {
		s.entries = slices.Delete(s.entries, i, i+1)
	}
}

// within returns the entries of one partition in order.
func (s *sorted) within(hash types.AttributeValue) []entry {
	prefix := partition(hash)
	from, _ := s.find(prefix)
	n := sort.Search(len(s.entries)-from, func(i int) bool { return !strings.HasPrefix(s.entries[from+i].position, prefix) })
	return s.entries[from : from+n]
}

// segment returns part i of n of the key space.
func (s *sorted) segment(i, n int32) []entry {
	from := func(i int32) int {
		return sort.Search(len(s.entries), func(j int) bool { return segmentOf(s.entries[j].position, n) >= i })
	}
	return s.entries[from(i):from(i+1)]
}

func segmentOf(position string, n int32) int32 {
	var h uint64
	for i := range hashBytes {
		h = h<<8 | uint64(position[i])
	}
	return int32(h * uint64(n) >> (8 * hashBytes))
}
