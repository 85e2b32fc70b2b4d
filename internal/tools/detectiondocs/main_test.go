package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection/chart"
)

// What the documents say and show is what the model says.
func TestDocumentsAreUpToDate(t *testing.T) {
	t.Chdir("../../..")
	r, err := simulate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for file, rows := range map[string][]row{readme: moduleRows, guide: guideRows} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := splice(string(text), render(choose(r, rows), rows))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d := cmp.Diff(want, string(text)); d != "" {
			t.Errorf("%s is out of date, run `make generate` (-want +got):\n%s", file, d)
		}
	}
	have, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := chart.Draw(&want, choose(r, drawn), chart.SVG); err != nil || !bytes.Equal(want.Bytes(), have) {
		t.Errorf("%s is out of date, run `make generate` (%v)", picture, err)
	}
}

func TestSpliceNeedsMarkers(t *testing.T) {
	if _, err := splice("# Module\n", "table"); err == nil {
		t.Error("a document without markers was accepted")
	}
}
