// Package chart draws how long detectors take to notice a failure.
package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// Format is the format of a picture.
type Format string

// Formats of pictures.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// MaxSets is how many sets a picture can tell apart.
const MaxSets = 12

// Sizes of the picture. Every kind of failure has a panel of its own, one below
// the other on the same axis of time.
const (
	width       = 22 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	headHeight  = 1.1 * vg.Centimeter
	lineHeight  = 0.62 * vg.Centimeter
	margin      = 0.4 * vg.Centimeter
	resolution  = 110 // dots per inch
	columns     = 2   // of the legend
)

// strokes tell sets apart by colour and by pattern: the palette of Okabe and Ito
// (https://jfly.uni-koeln.de/color/) stays distinct for colour-blind readers, and
// the patterns without any colour.
var strokes = []struct {
	color  color.RGBA
	dashes []vg.Length
}{
	{color.RGBA{0x00, 0x00, 0x00, 0xff}, nil},
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, nil},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, nil},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, []vg.Length{6, 2}},
	{color.RGBA{0xcc, 0x79, 0xa7, 0xff}, []vg.Length{6, 2}},
	{color.RGBA{0x56, 0xb4, 0xe9, 0xff}, []vg.Length{2, 2}},
	{color.RGBA{0xe6, 0x9f, 0x00, 0xff}, []vg.Length{2, 2}},
	{color.RGBA{0x55, 0x55, 0x55, 0xff}, []vg.Length{8, 2, 2, 2}},
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, []vg.Length{8, 2, 2, 2}},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, []vg.Length{8, 2, 2, 2}},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, []vg.Length{1, 2}},
	{color.RGBA{0x00, 0x00, 0x00, 0xff}, []vg.Length{1, 2}},
}

// Draw writes a picture of a report: for each kind of failure the share of
// failures that each set has noticed after a time.
func Draw(w io.Writer, r detection.Report, format Format) error {
	switch n := len(r.Sets); {
	case n == 0 || len(r.Sets[0].Failures) == 0:
		return errors.New("there is nothing to draw")
	case n > MaxSets:
		return fmt.Errorf("a picture can tell %d sets apart, not %d: choose some with --set", MaxSets, n)
	}
	panels, legend, err := plots(r)
	if err != nil {
		return err
	}
	legendHeight := vg.Length((len(r.Sets)+columns-1)/columns)*lineHeight + margin
	height := headHeight + vg.Length(len(panels))*panelHeight + legendHeight
	var target interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case SVG:
		target = vgsvg.New(width, height)
	case PNG:
		target = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution), vgimg.UseBackgroundColor(color.White))}
	default:
		return fmt.Errorf("format %q is none of svg, png", format)
	}
	canvas := draw.New(target)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	title(draw.Crop(canvas, margin, -margin, height-headHeight, 0), r)
	body := draw.Crop(canvas, margin, -margin, legendHeight, -headHeight)
	grid := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		grid[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: 0.3 * vg.Centimeter}
	for i, row := range plot.Align(grid, tiles, body) {
		panels[i].Draw(row[0])
	}
	explain(draw.Crop(canvas, 1.8*vg.Centimeter, -margin, margin/2, legendHeight-height), legend)
	_, err = target.WriteTo(w)
	return err
}

type entry struct {
	name string
	line *plotter.Line
}

// plots makes a panel for each kind of failure.
func plots(r detection.Report) (panels []*plot.Plot, legend []entry, err error) {
	low, high := axis(r)
	for k, of := range r.Sets[0].Failures {
		p := plot.New()
		p.Title.Text = of.Failure.Title()
		for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
			f.Variant, f.Size = "Sans", 9
		}
		p.Title.TextStyle.Font.Size = 11
		p.Title.Padding = 1.5 * vg.Millimeter
		p.Y.Label.Text = "noticed (% of failures)"
		p.X.Min, p.X.Max = low, high
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, timeTicks{}
		p.Y.Min, p.Y.Max = 0, 100
		p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}})
		if k == len(r.Sets[0].Failures)-1 {
			p.X.Label.Text = "time since the failure (logarithmic)"
		}
		g := plotter.NewGrid()
		g.Vertical.Color, g.Horizontal.Color = color.Gray{0xdd}, color.Gray{0xdd}
		p.Add(g)
		for i, s := range r.Sets {
			l, err := plotter.NewLine(shares(s.Failures[k], low, high))
			if err != nil {
				return nil, nil, fmt.Errorf("drawing %s: %w", s.Name, err)
			}
			l.Color, l.Dashes = strokes[i].color, strokes[i].dashes
			// Lines that lie on each other are told apart by their widths.
			l.Width = vg.Points(1.6 + 0.5*float64(len(r.Sets)-1-i))
			p.Add(l)
			if k == 0 {
				legend = append(legend, entry{s.Name, l})
			}
		}
		panels = append(panels, p)
	}
	return panels, legend, nil
}

// axis returns the range of times in seconds that all panels share.
func axis(r detection.Report) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, s := range r.Sets {
		for _, t := range s.Failures {
			if t.Min != detection.Never {
				low = min(low, max(1, t.Min.Seconds()))
			}
			for i := len(t.Sorted) - 1; i >= 0; i-- {
				if t.Sorted[i] != detection.Never {
					high = max(high, t.Sorted[i].Seconds())
					break
				}
			}
		}
	}
	if high <= low {
		low, high = 1, 600
	}
	return low / 1.15, high * 1.15
}

// steps is how many points a line has: enough for a smooth one.
const steps = 250

// shares are the points of a distribution: time in seconds, share in percent. A
// line starts at the left border and ends at the right one.
func shares(t detection.Times, low, high float64) plotter.XYs {
	out := plotter.XYs{{X: low, Y: 0}}
	n := len(t.Sorted)
	for i := 0; i <= steps; i++ {
		k := min(i*n/steps, n-1)
		if t.Sorted[k] == detection.Never {
			break
		}
		at := plotter.XY{X: t.Sorted[k].Seconds(), Y: 100 * float64(k+1) / float64(n)}
		if at.X <= low {
			out[0].Y = at.Y
			continue
		}
		out = append(out, at)
	}
	return append(out, plotter.XY{X: high, Y: out[len(out)-1].Y})
}

// timeTicks are round times.
type timeTicks struct{}

// Ticks implements plot.Ticker.
func (timeTicks) Ticks(low, high float64) (out []plot.Tick) {
	for _, d := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 7 * time.Minute, 10 * time.Minute, 20 * time.Minute, time.Hour, 3 * time.Hour,
	} {
		s := d.Seconds()
		if s < low || s > high {
			continue
		}
		label := fmt.Sprintf("%g s", s)
		switch {
		case d >= time.Hour:
			label = fmt.Sprintf("%g h", d.Hours())
		case d >= time.Minute:
			label = fmt.Sprintf("%g min", d.Minutes())
		}
		out = append(out, plot.Tick{Value: s, Label: label})
	}
	return out
}

func style(size vg.Length, bold bool) text.Style {
	f := font.Font{Typeface: plot.DefaultFont.Typeface, Variant: "Sans", Size: size}
	if bold {
		f.Weight = 3 // bold, of golang.org/x/image/font
	}
	return text.Style{Color: color.Black, Font: f, XAlign: draw.XLeft, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
}

func title(c draw.Canvas, r detection.Report) {
	at := vg.Point{X: c.Min.X, Y: (c.Min.Y + c.Max.Y) / 2}
	c.FillText(style(14, true), at, "From a failure to its detection")
	small := style(9, false)
	small.XAlign = draw.XRight
	c.FillText(small, vg.Point{X: c.Max.X, Y: at.Y}, fmt.Sprintf("%d simulated failures each, seed %d; %s", r.Trials, r.Seed, weather(r.Conditions)))
}

func weather(c detection.Conditions) string {
	if c == detection.Ideal {
		return "nothing late or lost"
	}
	return fmt.Sprintf("metrics %g s late (p99 %g s), %g %% lost: assumed", c.Ingestion.P50.Seconds(), c.Ingestion.P99.Seconds(), 100*c.Loss)
}

// explain draws the legend in columns.
func explain(c draw.Canvas, legend []entry) {
	rows := (len(legend) + columns - 1) / columns
	column := (c.Max.X - c.Min.X) / columns
	for i, e := range legend {
		x := c.Min.X + vg.Length(i/rows)*column
		y := c.Max.Y - (vg.Length(i%rows)+0.5)*lineHeight
		c.StrokeLine2(e.line.LineStyle, x, y, x+1.3*vg.Centimeter, y)
		c.FillText(style(10, false), vg.Point{X: x + 1.5*vg.Centimeter, Y: y}, e.name)
	}
}
