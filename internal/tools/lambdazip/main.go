// Command lambdazip builds the functions' binary for the architectures of
// Lambda and packs it into zips that are the same for the same source: fixed
// times and modes, and a build without paths.
//
//	go run ./internal/tools/lambdazip -out provider/zips
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// binary is the name that Lambda starts in the runtimes provided.*:
// https://docs.aws.amazon.com/lambda/latest/dg/golang-package.html
const binary = "bootstrap"

// modified is the first moment that a zip can hold.
var modified = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func main() {
	out := flag.String("out", "provider/zips", "folder for the zips")
	arch := flag.String("arch", "arm64,amd64", "architectures, as Go calls them")
	pkg := flag.String("package", "./lambdas/bootstrap", "package of the binary")
	version := flag.String("version", "dev", "version that the binary reports")
	flag.Parse()
	for _, a := range strings.Split(*arch, ",") {
		name := filepath.Join(*out, binary+"_"+a+".zip")
		if err := build(context.Background(), *pkg, a, *version, name); err != nil {
			log.Fatalf("lambdazip: %v", err)
		}
		fmt.Println(name)
	}
}

func build(ctx context.Context, pkg, arch, version, name string) error {
	dir, err := os.MkdirTemp("", "lambdazip")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, binary)
	// lambda.norpc leaves the old RPC mode out, which provided.* never uses.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", file, pkg)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s: %w\n%s", pkg, arch, err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := pack(&packed, content); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return replace(name, packed.Bytes())
}

// pack writes a zip with the binary as its only file.
func pack(w io.Writer, content []byte) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	h := &zip.FileHeader{Name: binary, Method: zip.Deflate, Modified: modified}
	h.SetMode(fs.FileMode(0o755))
	f, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return z.Close()
}

// replace leaves a file that has the content already alone, so that what
// depends on it need not be built again.
func replace(name string, content []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return nil
	}
	return os.WriteFile(name, content, 0o644)
}
