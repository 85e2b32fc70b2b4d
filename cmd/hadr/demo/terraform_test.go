package demo

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A state or a landscape that somebody left in the example belongs to another
// sandbox.
func TestCopyConfigurationLeavesStateBehind(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{"main.tf", "db2/main.tf", "terraform.tfstate", "landscape.auto.tfvars", ".terraform/modules/x/main.tf", ".terraform.lock.hcl"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyConfiguration(to, from); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := fs.WalkDir(os.DirFS(to), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"db2/main.tf", "main.tf"}, got); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
}
