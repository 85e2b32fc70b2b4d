package main

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

func TestPackIsReproducible(t *testing.T) {
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := pack(b, []byte("the binary")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same binary gives two different zips")
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "bootstrap" {
		t.Fatalf("files of the zip: %v, want bootstrap alone", z.File)
	}
	if mode := z.File[0].Mode(); mode.Perm() != 0o755 {
		t.Errorf("bootstrap has mode %v: Lambda could not start it", mode)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "the binary" {
		t.Errorf("bootstrap holds %q (%v)", got, err)
	}
}
