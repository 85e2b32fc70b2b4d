package check

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Result is what a search has found.
type Result struct {
	Setup       *Setup
	States      int64
	Transitions int64
	Depth       int
	Cores       int   // distinct states of the core
	Calls       int64 // of Step
	Calmed      int64 // states from which it was seen that the group comes to rest
	Longest     int64 // how many steps that took at most
	Coverage    *Coverage
	Found       string   // what went wrong, "" if nothing
	Story       []string // how, in plain words
	Complete    bool     // every state within the bound was seen
}

// Search is one breadth-first search.
type Search struct {
	Setup   Setup
	Workers int   // 0 = 1: the story is then the same in every run
	Limit   int64 // of states, 0 = none
	Calm    int   // look at the rest of every n-th state, 0 = of none
}

type search struct {
	Search
	cores    *cores
	seed     maphash.Seed
	seen     *set
	calmed   *set
	coverage *Coverage
	depth    int
	steps    atomic.Int64
	calms    int64
	longest  int64

	mu    sync.Mutex
	found *find
}

// find is a world in which something went wrong.
type find struct {
	parent, child world
	action        action
	calm          []step
	wrong         violation
}

type step struct {
	before, after world
	action        action
}

// Run searches until nothing new is found, something is wrong, or the limit is
// reached.
func (s Search) Run() Result {
	x := newSearch(s)
	first, left := x.run()
	r := Result{
		Setup: &x.Setup, Depth: x.depth, States: x.seen.len(), Transitions: x.steps.Load(), Calls: x.cores.calls.Load(),
		Cores: len(x.cores.states), Calmed: x.calms, Longest: x.longest, Coverage: x.coverage, Complete: left == 0,
	}
	if x.found != nil {
		r.Found, r.Story = x.found.wrong.String(), x.tell(first)
	}
	return r
}

func newSearch(s Search) *search {
	x := &search{Search: s, seed: maphash.MakeSeed(), seen: newSet(), calmed: newSet(), coverage: NewCoverage()}
	x.cores = newCores(setupConfig(&x.Setup), x.Setup.Off)
	return x
}

// run returns the first world, and how many were left when it stopped.
func (x *search) run() (first world, left int) {
	first = x.Setup.start(x.cores.intern(x.Setup.Begin.record(x.cores.config)))
	x.seen.add(x.hash(&first), 0)
	frontier := []world{first}
	for len(frontier) > 0 && x.found == nil && (x.Limit == 0 || x.seen.len() < x.Limit) {
		frontier = x.level(frontier)
		x.depth++
	}
	return first, len(frontier)
}

func (x *search) hash(w *world) uint64 {
	h := maphash.Comparable(x.seed, *w)
	if h == 0 {
		return 1
	}
	return h
}

// level expands every world of a level and returns the next one.
func (x *search) level(frontier []world) []world {
	workers := max(1, x.Workers)
	found := make([][]world, workers)
	var next atomic.Int64
	const chunk = 256
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			e := x.expander(&found[k])
			for {
				i := int(next.Add(chunk)) - chunk
				if i >= len(frontier) || x.stopped() {
					break
				}
				for j := i; j < min(i+chunk, len(frontier)); j++ {
					e.expand(&frontier[j])
				}
			}
			x.note(e)
		})
	}
	wg.Wait()
	var all []world
	for _, f := range found {
		all = append(all, f...)
	}
	return all
}

// note adds up what a worker has counted.
func (x *search) note(e *expander) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.steps.Add(e.count)
	x.calms, x.longest = x.calms+e.calms, max(x.longest, e.longest)
	x.coverage.Merge(e.covered)
}

func (x *search) stopped() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.found != nil
}

// expander is one worker.
type expander struct {
	*search
	explorer explorer
	calmer   *calmer
	covered  *Coverage
	from     *world
	hash     uint64
	out      *[]world
	last     []world // after the last fault of a sweep
	count    int64
	calms    int64 // states from which it was seen that the group comes to rest
	longest  int64 // steps of the longest way there
}

func (x *search) expander(out *[]world) *expander {
	e := &expander{search: x, out: out, covered: NewCoverage()}
	m := x.cores.mind()
	e.explorer = explorer{mind: m, setup: &x.Setup, emit: e.emit}
	e.calmer = newCalmer(m, &x.Setup)
	return e
}

func (e *expander) expand(w *world) {
	e.from, e.hash = w, e.search.hash(w)
	e.explorer.next(w)
	for i := range e.last {
		e.rest(&e.last[i])
	}
	e.last = e.last[:0]
	if e.Calm > 0 && e.hash%uint64(e.Calm) == 0 {
		e.rest(w)
	}
}

func (e *expander) emit(w world, a action) {
	e.count++
	if a.fault != NoFault {
		e.covered.note(e.explorer.about(e.from.record), a.fault)
	}
	if w == *e.from {
		return
	}
	if !e.seen.add(e.search.hash(&w), e.hash) {
		return
	}
	if w.wrong != fine && e.loud(e.from) {
		return
	}
	if w.wrong != fine {
		e.report(find{parent: *e.from, child: w, action: a, wrong: w.wrong})
		return
	}
	if e.Setup.Sweep && w.faults == 0 && e.from.faults > 0 {
		e.last = append(e.last, w)
		return
	}
	*e.out = append(*e.out, w)
}

// loud reports whether people know already, and that is enough.
func (x *search) loud(before *world) bool {
	return x.Setup.LoudIsEnough && x.cores.about(before.record).blocked
}

func (x *search) report(f find) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.found == nil {
		x.found = &f
	}
}
