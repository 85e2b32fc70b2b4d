package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

func report(t *testing.T, texts ...string) detection.Report {
	t.Helper()
	s := detection.Simulation{Trials: 500, Seed: 1, Conditions: detection.Assumed}
	for _, text := range texts {
		set, err := detection.NewModel().ParseSet(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Sets = append(s.Sets, set)
	}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The picture says what is on its axes, in which units, and names every line.
func TestSVGSaysWhatItShows(t *testing.T) {
	var b bytes.Buffer
	if err := Draw(&b, report(t, "fill", "a<b = lease:6s/2s", "view:2s"), SVG); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(&b)
	var texts []string
	paths := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		switch x := token.(type) {
		case xml.CharData:
			texts = append(texts, strings.TrimSpace(string(x)))
		case xml.StartElement:
			if x.Name.Local == "path" {
				paths++
			}
		}
	}
	all := strings.Join(texts, "|")
	for _, want := range []string{
		"From a failure to its detection", "500 simulated failures each, seed 1", "assumed", "The host vanishes", "The database hangs",
		"The database's processes die", "noticed (% of failures)", "time since the failure (logarithmic)", "1 min", "5 s", "100", "fill", "a<b", "view:2s",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	if paths < 9 {
		t.Errorf("%d paths, want a line for each of 3 sets in 3 panels", paths)
	}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := Draw(&b, report(t, "fill"), PNG); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds(); size.Dx() < 800 || size.Dy() < 800 {
		t.Errorf("the picture is %v, too small to read", size)
	}
}

func TestDrawRefuses(t *testing.T) {
	many := detection.Report{Sets: make([]detection.SetReport, MaxSets+1)}
	many.Sets[0].Failures = make([]detection.Times, 1)
	for want, err := range map[string]error{
		"nothing to draw":        Draw(io.Discard, detection.Report{}, SVG),
		"choose some with --set": Draw(io.Discard, many, SVG),
		"none of svg, png":       Draw(io.Discard, report(t, "view:2s"), "gif"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Draw: %v, want %q", err, want)
		}
	}
}

func TestStrokesDiffer(t *testing.T) {
	seen := map[string]int{}
	for i, s := range strokes {
		key := fmt.Sprint(s.color, s.dashes)
		if j, twice := seen[key]; twice {
			t.Errorf("strokes %d and %d look the same", i, j)
		}
		seen[key] = i
	}
	if len(strokes) != MaxSets {
		t.Errorf("%d strokes for %d sets", len(strokes), MaxSets)
	}
}
