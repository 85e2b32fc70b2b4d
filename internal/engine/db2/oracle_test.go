package db2

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oracle reads testdata/<set>/index.json into rows.
func oracle[T any](t *testing.T, path string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Rows []T }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Rows) == 0 {
		t.Fatalf("%s has no rows", path)
	}
	return index.Rows
}

// sample reads a sample. Output quoted from elsewhere is not part of this
// repository: it is read from the directory that HADR_ORACLES names.
func sample(t *testing.T, set, file, origin string) string {
	t.Helper()
	path := filepath.Join("testdata", set, file)
	if strings.HasPrefix(origin, "real") {
		dir := os.Getenv("HADR_ORACLES")
		if dir == "" {
			t.Skip("quoted output: set HADR_ORACLES to the directory with the samples")
		}
		path = filepath.Join(dir, set, file)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every sample is tested, and every row has its sample: here, or in the
// directory of quoted output.
func TestEverySampleHasItsRow(t *testing.T) {
	type row struct {
		ID, File, Origin string
		TextBasis        string `json:"text_basis"`
	}
	for _, set := range []string{"db2pd", "clp"} {
		rows := map[string]bool{"index.json": true}
		for _, r := range oracle[row](t, set+"/index.json") {
			if rows[r.File] {
				t.Errorf("%s %s: %s has a row already", set, r.ID, r.File)
			}
			rows[r.File] = true
			_, err := os.Stat(filepath.Join("testdata", set, r.File))
			if quoted := strings.HasPrefix(r.Origin+r.TextBasis, "real"); quoted == (err == nil) {
				t.Errorf("%s %s: quoted output is not part of this repository, and all else is: %v", set, r.ID, err)
			}
		}
		files, err := os.ReadDir(filepath.Join("testdata", set))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !rows[f.Name()] {
				t.Errorf("%s/%s has no row", set, f.Name())
			}
		}
	}
}
