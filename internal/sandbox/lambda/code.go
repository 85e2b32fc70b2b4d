package lambda

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Code is an uploaded deployment package.
type Code struct {
	Zip    []byte
	SHA256 string // in base64, as Lambda shows it
}

func newCode(in *types.FunctionCode) (*Code, error) {
	switch {
	case in == nil || len(in.ZipFile) == 0 && in.S3Bucket == nil && in.ImageUri == nil:
		return nil, invalid("Please provide a source for function code.")
	case len(in.ZipFile) == 0:
		return nil, invalid("The sandbox takes code from ZipFile only, not from S3 or an image.")
	case len(in.ZipFile) > maxZip:
		return nil, invalid("Request must be smaller than %d bytes for the CreateFunction operation", maxZip)
	}
	z, err := zip.NewReader(bytes.NewReader(in.ZipFile), int64(len(in.ZipFile)))
	if err != nil {
		return nil, invalid("Could not unzip uploaded file. Please check your file, then try to upload again.")
	}
	size := uint64(0)
	for _, f := range z.File {
		size += f.UncompressedSize64
		if size > maxUnzipped || f.UncompressedSize64 > maxUnzipped {
			return nil, invalid("Unzipped size must be smaller than %d bytes", maxUnzipped)
		}
		if !filepath.IsLocal(f.Name) {
			return nil, invalid("Could not unzip uploaded file: the path %q leads out of it.", f.Name)
		}
	}
	sum := sha256.Sum256(in.ZipFile)
	return &Code{Zip: in.ZipFile, SHA256: base64.StdEncoding.EncodeToString(sum[:])}, nil
}

// extract unpacks the code into dir.
func (c *Code) extract(dir string) error {
	z, err := zip.NewReader(bytes.NewReader(c.Zip), int64(len(c.Zip)))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range z.File {
		if err := extractFile(root, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func extractFile(root *os.Root, f *zip.File) (err error) {
	if f.FileInfo().IsDir() {
		return root.MkdirAll(filepath.Clean(f.Name), 0o755)
	}
	if parent := filepath.Dir(f.Name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	// Archives made on systems without permissions have none; the execution
	// environment needs to read them.
	out, err := root.OpenFile(f.Name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, f.Mode().Perm()|0o644)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	// The size in the archive's directory may be a lie.
	n, err := io.Copy(out, io.LimitReader(in, maxUnzipped+1))
	if err == nil && n > maxUnzipped {
		err = fmt.Errorf("larger than %d bytes", maxUnzipped)
	}
	return err
}
