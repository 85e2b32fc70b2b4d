package fabric

// Obstruct puts an obstacle into the network, under a name: lost is asked for
// every packet from one machine to another, under the fabric's lock.
func (f *Fabric) Obstruct(name string, lost func(from, to string) bool) {
	f.change(func() { f.obstacles[name] = lost })
}

// Clear takes an obstacle away; what waited for that goes on.
func (f *Fabric) Clear(name string) { f.change(func() { delete(f.obstacles, name) }) }

// obstructed asks all obstacles. f.mu is held.
func (f *Fabric) obstructed(from, to string) bool {
	for _, lost := range f.obstacles {
		if lost(from, to) {
			return true
		}
	}
	return false
}
