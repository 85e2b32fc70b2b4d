package page

import (
	"math"
	"strings"
)

// textWidth estimates the width of a text in px, a little more than Arial needs:
// the page is drawn without knowing which font the reader has.
func textWidth(s string, size float64) float64 {
	var em float64
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl'|", r):
			em += 0.26
		case strings.ContainsRune("ftrI.,:;!()[]/\\ -", r):
			em += 0.35
		case strings.ContainsRune("mMwW%@", r):
			em += 0.96
		case r >= 'A' && r <= 'Z', r >= 0x80 && r < 0x1100:
			em += 0.78
		case r < 0x80:
			em += 0.58
		case r < 0x1F000:
			em += 1.05
		default:
			em += 1.4
		}
	}
	return em * size
}

// fit shortens a text to a width.
func fit(s string, size, room float64) string {
	if textWidth(s, size) <= room {
		return s
	}
	kept := []rune(s)
	for len(kept) > 0 && textWidth(string(kept)+"…", size) > room {
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 0 {
		return ""
	}
	return strings.TrimRight(string(kept), " ") + "…"
}

// wrap breaks a text into at most limit lines; the last one is shortened.
func wrap(s string, size, room float64, limit int) []string {
	var lines []string
	words := strings.Fields(s)
	for len(words) > 0 && len(lines) < limit-1 {
		n := 1
		for n < len(words) && textWidth(strings.Join(words[:n+1], " "), size) <= room {
			n++
		}
		lines = append(lines, fit(strings.Join(words[:n], " "), size, room))
		words = words[n:]
	}
	if len(words) > 0 {
		lines = append(lines, fit(strings.Join(words, " "), size, room))
	}
	return lines
}

// labelGap is the least distance between two texts in px.
const labelGap = 8

// stairs puts labels below their anchors, each at the end of a straight line
// down, so that no text meets another text or line. Anchors are in ascending
// order. All labels stand on the same side of their line. It returns the row of
// each label, 0 being the topmost.
//
// A label on the right must lie below every label whose anchor is under its
// text: only lines of labels further left pass it, and they are left of it.
func stairs(anchors, widths []float64, left, right float64) (rows []int, toLeft bool) {
	var beyondRight, beyondLeft float64
	for i, x := range anchors {
		beyondRight = max(beyondRight, x+widths[i]-right)
		beyondLeft = max(beyondLeft, left-(x-widths[i]))
	}
	toLeft = beyondRight > beyondLeft
	rows = make([]int, len(anchors))
	for n := range anchors {
		i, side := len(anchors)-1-n, 1.0
		if toLeft {
			i, side = n, -1
		}
		for k := range n {
			j := len(anchors) - 1 - k
			if toLeft {
				j = k
			}
			if side*(anchors[j]-anchors[i]) < widths[i]+labelGap {
				rows[i] = max(rows[i], rows[j]+1)
			}
		}
	}
	return rows, toLeft
}

// spread moves boxes, given by their wanted centres in ascending order, as little
// as possible (least squares) so that none overlaps another and all lie between
// left and right. It returns their centres. Their widths must fit in.
func spread(centres, widths []float64, gap, left, right float64) []float64 {
	type block struct{ sum, n float64 }
	var blocks []block
	offset := make([]float64, len(centres))
	var used float64
	for i, c := range centres {
		offset[i] = used + widths[i]/2
		used += widths[i] + gap
		b := block{c - offset[i], 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum/blocks[len(blocks)-1].n > b.sum/b.n {
			last := blocks[len(blocks)-1]
			b = block{b.sum + last.sum, b.n + last.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	placed := make([]float64, 0, len(centres))
	for _, b := range blocks {
		start := max(left, min(b.sum/b.n, right-(used-gap)))
		for range int(math.Round(b.n)) {
			placed = append(placed, start+offset[len(placed)])
		}
	}
	return placed
}
