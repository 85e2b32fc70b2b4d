package page

import "math"

// lane draws the marks of a lane, below them its bars, and below these the labels
// that have no room inside.
func (d *sketch) lane(l Lane, rows []momentRow, phases []Phase) {
	top := d.y
	d.y += padding
	marks, at := marksOf(rows, l.ID, d.scale)
	if len(marks) > 0 {
		d.marks(marks, at)
	}
	height := barHeight
	if l.ID == ControlLane {
		height = phaseBar
	}
	barTop := d.y
	d.y += height
	var outside []label
	if l.ID == ControlLane {
		outside = d.phases(spans(phases), barTop)
	}
	for _, s := range l.States {
		if o, ok := d.state(s, barTop, height); !ok {
			outside = append(outside, o)
		}
	}
	d.outside(outside)
	d.y = max(d.y, d.heading(l, top, barTop)) + padding
}

// heading writes the name of the lane, and beside its bars the note. It returns
// where they end.
func (d *sketch) heading(l Lane, top, barTop float64) float64 {
	room := d.left - edge - gutter
	y := top + padding + 12
	d.text(edge, y, "strong", "start", fit(l.Title, boldSize, room))
	if beside := barTop + barHeight/2 + 4 - lineHeight; l.Title == "" || beside > y {
		y = beside
	}
	for _, s := range wrap(l.Note, smallSize, room, 3) {
		y += lineHeight
		d.text(edge, y, "small", "start", s)
	}
	return y + 2
}

func (d *sketch) marks(marks []mark, at []float64) {
	y := d.y + markHeight/2
	for i, m := range marks {
		m.Y = px(y)
		if !m.Edge {
			d.line(float64(m.X), y+markHeight/2, at[i], y+markHeight/2+leaderRoom, "leader")
		}
		d.Marks = append(d.Marks, m)
	}
	d.y += markHeight + leaderRoom
}

// label is a text that found no room inside its bar.
type label struct {
	anchor float64
	text   string
}

// thinnest is the least width of a bar, so that it can be seen.
const thinnest = 2.0

func (d *sketch) bar(from, to, y, h float64, kind Kind, title string) (x, w float64) {
	x = d.x(from)
	w = max(d.x(to)-x, thinnest)
	d.Bars = append(d.Bars, bar{px(x), px(y), px(w), px(h), kind, title})
	return x, w
}

// phases draws the phases; name and duration stand inside where there is room.
func (d *sketch) phases(all []span, y float64) (outside []label) {
	for i, s := range all {
		kind := Kind("phase")
		if i%2 == 1 {
			kind = "phase odd"
		}
		duration := seconds(s.Seconds)
		x, w := d.bar(s.From, s.To, y, phaseBar, kind, s.Name+", "+duration+", from "+after(s.From)+" to "+after(s.To))
		middle := x + w/2
		if max(textWidth(s.Name, textSize), textWidth(duration, textSize))+4 > w {
			outside = append(outside, label{middle, s.Name + " " + duration})
			continue
		}
		d.text(middle, y+phaseBar/2-3, "normal", "middle", s.Name)
		d.text(middle, y+phaseBar/2+12, "normal", "middle", duration)
	}
	return outside
}

// state draws a state. Without room for its text it returns the label instead.
func (d *sketch) state(s State, y, h float64) (label, bool) {
	if math.IsNaN(s.From) || math.IsNaN(s.To) || s.To <= s.From || s.To < d.from || s.From > d.to {
		return label{}, true
	}
	title := s.Label
	if !math.IsInf(s.From, 0) {
		title += ", from " + after(s.From)
	}
	if !math.IsInf(s.To, 0) {
		title += ", until " + after(s.To)
	}
	d.used[s.Kind] = true
	x, w := d.bar(s.From, s.To, y, h, s.Kind, title)
	for _, t := range []string{s.Label, s.Short} {
		if t != "" && textWidth(t, textSize)+8 <= w {
			d.text(x+w/2, y+h/2+4, "normal", "middle", t)
			return label{}, true
		}
	}
	return label{x + w/2, s.Label}, false
}

// outside writes labels below their bars, each at the end of a line.
func (d *sketch) outside(labels []label) {
	if len(labels) == 0 {
		return
	}
	const indent = 3.0
	var anchors, widths []float64
	for _, l := range labels {
		anchors = append(anchors, l.anchor)
		widths = append(widths, indent+textWidth(l.text, textSize))
	}
	rows, toLeft := stairs(anchors, widths, d.left, d.right)
	deepest := 0
	for i, l := range labels {
		y := d.y + leaderRoom + float64(rows[i])*lineHeight
		d.line(l.anchor, d.y, l.anchor, y+6, "leader")
		x, anchor, room := l.anchor+indent, "start", d.right-l.anchor-indent
		if toLeft {
			x, anchor, room = l.anchor-indent, "end", l.anchor-indent-d.left
		}
		d.text(x, y+8, "normal", anchor, fit(l.text, textSize, room))
		deepest = max(deepest, rows[i])
	}
	d.y += leaderRoom + float64(deepest)*lineHeight + 11
}
