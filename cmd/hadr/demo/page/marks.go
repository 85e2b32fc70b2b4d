package page

import "fmt"

const (
	markSize = 11.0 // of its text, px
	markGap  = 3.0
)

// mark is a number in the picture that refers to the table of moments.
type mark struct {
	X, Y, W px // centre and width
	Text    string
	Title   string
	Edge    bool // it stands for moments outside the picture
}

// Left is the left edge of its box.
func (m mark) Left() px { return m.X - m.W/2 }

// Top is the upper edge of its box.
func (m mark) Top() px { return m.Y - markHeight/2 }

// Baseline is where its text stands.
func (m mark) Baseline() px { return m.Y + 4 }

const markHeight = 16

// group is a run of moments that share a mark.
type group struct {
	first, last int // numbers in the table
	at          float64
	title       string
	edge        bool
}

func (g group) text() string {
	if g.first == g.last {
		return fmt.Sprint(g.first)
	}
	return fmt.Sprintf("%d–%d", g.first, g.last)
}

func (g group) width() float64 { return max(textWidth(g.text(), markSize)+8, markHeight) }

// marksOf returns the marks of a lane at their places, and where their moments
// really were. Moments outside the window share a mark at its edge.
func marksOf(rows []momentRow, lane string, s scale) (marks []mark, at []float64) {
	var early, inside, late []group
	for _, r := range rows {
		if r.Lane != lane {
			continue
		}
		g := group{first: r.Number, last: r.Number, at: r.After, title: after(r.After) + ": " + r.Text}
		switch {
		case r.After < s.from:
			early = append(early, g)
		case r.After > s.to:
			late = append(late, g)
		default:
			inside = append(inside, g)
		}
	}
	edge := func(gs []group, format string) []group {
		if len(gs) == 0 {
			return nil
		}
		g := join(gs)
		g.edge, g.title = true, fmt.Sprintf(format, len(gs))
		return []group{g}
	}
	early = edge(early, "before the picture begins: moments in the table: %d")
	late = edge(late, "after the picture ends: moments in the table: %d")
	room := s.right - s.left
	for size := 1; ; size++ {
		gs := append(append(early[:len(early):len(early)], crowd(inside, size)...), late...)
		if size > len(inside) || markWidths(gs) <= room {
			return put(gs, s)
		}
	}
}

// crowd joins every size neighbours.
func crowd(gs []group, size int) []group {
	var joined []group
	for len(gs) > 0 {
		n := min(size, len(gs))
		joined = append(joined, join(gs[:n]))
		gs = gs[n:]
	}
	return joined
}

func join(gs []group) group {
	g := gs[0]
	g.last = gs[len(gs)-1].last
	for _, other := range gs[1:] {
		g.title += "\n" + other.title
	}
	return g
}

func markWidths(gs []group) float64 {
	var sum float64
	for _, g := range gs {
		sum += g.width() + markGap
	}
	return sum
}

func put(gs []group, s scale) (marks []mark, at []float64) {
	var centres, widths []float64
	for _, g := range gs {
		centres = append(centres, s.x(g.at))
		widths = append(widths, g.width())
	}
	for i, x := range spread(centres, widths, markGap, s.left, s.right) {
		text := gs[i].text()
		marks = append(marks, mark{X: px(x), W: px(widths[i]), Text: text, Title: gs[i].title, Edge: gs[i].edge})
	}
	return marks, centres
}
