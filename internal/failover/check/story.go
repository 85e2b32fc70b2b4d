package check

// tell returns the shortest way from the first world to what was found.
func (x *search) tell(first world) []string {
	var lines []string
	for _, s := range x.path(first) {
		lines = append(lines, x.cores.sentence(s))
	}
	for _, s := range x.found.calm {
		lines = append(lines, "calm: "+x.cores.sentence(s))
	}
	return lines
}

// path walks again from the first world to the one in which something went
// wrong, along the hashes of the search.
func (x *search) path(first world) []step {
	var hashes []uint64
	end := x.hash(&x.found.parent)
	for h := end; h != x.hash(&first); h = x.seen.parent(h) {
		hashes = append(hashes, h)
	}
	var steps []step
	w := first
	m := x.cores.mind()
	for i := len(hashes) - 1; i >= 0; i-- {
		var taken *step
		e := explorer{mind: m, setup: &x.Setup}
		e.emit = func(next world, a action) {
			if taken == nil && x.hash(&next) == hashes[i] {
				taken = &step{w, next, a}
			}
		}
		from := w
		e.next(&from)
		steps = append(steps, *taken)
		w = taken.after
	}
	if x.found.calm == nil {
		steps = append(steps, step{x.found.parent, x.found.child, x.found.action})
	}
	return steps
}
