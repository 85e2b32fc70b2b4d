package page

import (
	"math"
	"slices"
	"strconv"
)

// px is a length in the picture, written with one decimal.
type px float64

func (v px) String() string { return strconv.FormatFloat(math.Round(float64(v)*10)/10+0, 'f', -1, 64) }

// picture is a timeline that is laid out: only shapes, no decisions left.
type picture struct {
	ID            string // prefix of the ids of its patterns
	Width, Height px
	Title, Desc   string
	Lines         []line
	Bars          []bar
	Texts         []text
	Marks         []mark
}

type line struct {
	X1, Y1, X2, Y2 px
	Class          string
}

type bar struct {
	X, Y, W, H px
	Kind       Kind
	Title      string
}

// Patterned reports whether the kind has a pattern of its own.
func (b bar) Patterned() bool {
	return slices.ContainsFunc(kinds, func(k explained) bool { return k.kind == b.Kind })
}

type text struct {
	X, Y   px
	Class  string // decides on the size; see page.gohtml
	Anchor string // start, middle or end
	Text   string
}

// Sizes of texts and shapes in px.
const (
	textSize   = 12.0
	smallSize  = 11.0
	boldSize   = 13.0 * 1.05 // bold text is wider
	edge       = 1.0         // around the picture
	gutter     = 10.0
	padding    = 7.0
	lineHeight = 14.0
	barHeight  = 24.0
	phaseBar   = 38.0
	leaderRoom = 9.0
	tickGap    = 62.0
)

// sketch is a picture that is being drawn, from top to bottom.
type sketch struct {
	picture
	scale
	y    float64
	used map[Kind]bool
}

func draw(p Page, id string, width float64) picture {
	column := min(max(0.15*width, 140), 190)
	d := &sketch{
		picture: picture{ID: id, Width: px(width), Title: "Timeline: " + p.Title, Desc: p.describe()},
		scale:   scale{window: windowOf(p), left: edge + column + gutter, right: width - edge},
		used:    map[Kind]bool{},
	}
	d.y = 46
	top, rows := d.y, p.rows()
	for i, l := range p.Lanes {
		d.lane(l, rows, p.Phases)
		if i+1 == len(p.Lanes) || p.Lanes[i+1].Title != "" {
			d.line(edge, d.y, d.right, d.y, "rule")
		}
	}
	d.line(edge, top, d.right, top, "rule")
	d.axis(top)
	d.limits(p, top)
	d.y += 34
	d.legend()
	d.Height = px(d.y + 8)
	return d.picture
}

func (d *sketch) line(x1, y1, x2, y2 float64, class string) {
	d.Lines = append(d.Lines, line{px(x1), px(y1), px(x2), px(y2), class})
}

func (d *sketch) text(x, y float64, class, anchor, s string) {
	if s != "" {
		d.Texts = append(d.Texts, text{px(x), px(y), class, anchor, s})
	}
}

// axis draws the ticks through all lanes.
func (d *sketch) axis(top float64) {
	for _, t := range d.ticks(tickGap) {
		x := d.x(t)
		d.line(x, top, x, d.y+4, "grid")
		label := minus(strconv.FormatFloat(t, 'g', 6, 64))
		if t > 0 {
			label = "+" + label
		}
		half := textWidth(label, smallSize) / 2
		d.text(min(x, d.right-half), d.y+16, "small", "middle", label)
	}
	d.text(edge, d.y+16, "small", "start", fit("seconds after the failure", smallSize, d.left-edge-gutter))
}

// limits draws the failure and the end of the recovery, and the distance between
// them.
func (d *sketch) limits(p Page, top float64) {
	if p.Failure.IsZero() {
		return
	}
	failed := d.x(0)
	d.line(failed, 4, failed, d.y, "failure")
	d.text(failed+5, 14, "strong failure", "start", fit("failure at "+p.Failure.UTC().Format("15:04:05.000")+" UTC", boldSize, d.right-failed-5))
	if p.Recovery <= 0 {
		return
	}
	first, y := d.x(p.Recovery), top-14
	d.line(first, top-22, first, d.y, "recovered")
	d.line(failed+1, y, first-1, y, "measure")
	short := "recovery " + seconds(p.Recovery)
	for _, s := range []string{short + ": from the failure to the first write on the new primary", short} {
		if w := textWidth(s, boldSize); w+2*labelGap < first-failed {
			d.Bars = append(d.Bars, bar{X: px((failed+first-w)/2 - 4), Y: px(y - 8), W: px(w + 8), H: 16, Kind: "paper"})
			d.text((failed+first)/2, y+4, "strong", "middle", s)
			return
		}
	}
	d.text(first+5, y+4, "strong", "start", fit(short, boldSize, d.right-first-5))
}

// explained is a kind with its text in the legend.
type explained struct {
	kind Kind
	text string
}

var kinds = []explained{
	{Serving, "takes writes"},
	{Standby, "standby"},
	{Changing, "changes its role"},
	{Silent, "silent"},
	{Stopped, "confirmed stopped"},
	{Red, "alarm is red"},
	{Blocked, "cannot commit"},
}

// legend explains the kinds of states that occur.
func (d *sketch) legend() {
	x := edge
	next := func(w float64) float64 {
		if x+w > d.right && x > edge {
			x, d.y = edge, d.y+lineHeight+6
		}
		at := x
		x += w + 18
		return at
	}
	for _, k := range kinds {
		if !d.used[k.kind] {
			continue
		}
		at := next(24 + textWidth(k.text, smallSize))
		d.Bars = append(d.Bars, bar{X: px(at), Y: px(d.y), W: 20, H: 12, Kind: k.kind})
		d.text(at+24, d.y+10, "small", "start", k.text)
	}
	if len(d.Marks) > 0 {
		const note = "number in the table of moments"
		at := next(22 + textWidth(note, smallSize))
		d.Marks = append(d.Marks, mark{X: px(at + 9), Y: px(d.y + 6), W: 16, Text: "n"})
		d.text(at+22, d.y+10, "small", "start", note)
	}
	for _, m := range d.Marks {
		if m.Edge {
			const note = "outside the picture"
			at := next(28 + textWidth(note, smallSize))
			d.Marks = append(d.Marks, mark{X: px(at + 12), Y: px(d.y + 6), W: 24, Text: "n–n", Edge: true})
			d.text(at+28, d.y+10, "small", "start", note)
			break
		}
	}
	d.y += 16
}
