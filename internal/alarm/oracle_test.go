package alarm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// oracle reads the rows of a file of expected values in testdata.
func oracle[Row any](t *testing.T, name string) []Row {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Rows []Row }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(f.Rows) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return f.Rows
}

// slots reads "0", "X" and "-".
func slots(t *testing.T, marks []string) []Slot {
	t.Helper()
	var s []Slot
	for _, m := range marks {
		k, ok := map[string]Slot{"0": Good, "X": Breaching, "-": Missing}[m]
		if !ok {
			t.Fatalf("slot %q", m)
		}
		s = append(s, k)
	}
	return s
}
