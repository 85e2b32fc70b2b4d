package ec2

import (
	"iter"
	"slices"
)

// table keeps resources by their identifiers, in the order of creation.
type table[T any] struct {
	byID map[string]T
	ids  []string
}

func (t *table[T]) put(id string, v T) {
	if t.byID == nil {
		t.byID = map[string]T{}
	}
	if _, ok := t.byID[id]; !ok {
		t.ids = append(t.ids, id)
	}
	t.byID[id] = v
}

func (t *table[T]) get(id string) (T, bool) {
	v, ok := t.byID[id]
	return v, ok
}

func (t *table[T]) remove(id string) {
	delete(t.byID, id)
	t.ids = slices.DeleteFunc(t.ids, func(s string) bool { return s == id })
}

func (t *table[T]) all() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, id := range slices.Clone(t.ids) {
			if !yield(id, t.byID[id]) {
				return
			}
		}
	}
}
