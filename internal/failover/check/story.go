package check

// calmLines is how much is told of how a group comes to rest in vain.
const calmLines = 12

// tell returns the shortest way from the first world to what was found.
func (x *search) tell(first world) []string {
	var lines []string
	for _, s := range x.path(first) {
		lines = append(lines, x.cores.sentence(s))
	}
	told := map[string]bool{}
	for i, s := range x.found.calm {
		line := x.cores.sentence(s)
		if told[line] || !telling(s) && i < len(x.found.calm)-1 {
			continue
		}
		if told[line] = true; len(told) == 1 {
			line = "From now on nothing else goes wrong. " + line
		}
		if len(told) > calmLines && x.found.wrong >= restless {
			return append(lines, "It goes on like that.")
		}
		lines = append(lines, line)
	}
	return lines
}

// telling reports whether a step is worth a sentence after all has calmed down.
func telling(s step) bool {
	switch a := s.action; a.verb {
	case passes, greens, reddens, wakes:
		return false
	case looks, delivers:
		return a.said != 0
	case performs:
		return a.task.what() != doWait || a.said != 0
	case saves:
		return s.before.record != s.after.record
	}
	return true
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
