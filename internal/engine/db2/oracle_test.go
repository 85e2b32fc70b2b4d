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
