package check

// groups reads and replaces the security groups of a node.
func (p performance) groups() {
	n := p.t.node()
	if p.t.what() == doReadGroups {
		h := hint{kind: groupsRead}
		if p.w.nodes[n].isolated {
			h.code = 1
		}
		p.ends(NoFault, h, nil)
		p.ends(GroupsUnread, hint{kind: groupsRead, answer: failed}, nil)
		return
	}
	set := func(w *world) {
		w.nodes[n].isolated = p.t.what() == doCut
		if f := p.about(w.record); w.nodes[n].isolated && w.nodes[n].serves() && !f.fenced[n] {
			w.wrong = shotByAGhost
		}
	}
	p.ends(NoFault, hint{kind: groupsSet}, set)
	p.ends(GroupsFailed, hint{kind: groupsSet, answer: failed}, nil)
	p.ends(GroupsLost, hint{kind: groupsSet, answer: failed}, set)
}
