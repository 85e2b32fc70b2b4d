package provider

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
)

// embedded holds the function code for each architecture, where `make build` has
// put it: zips/bootstrap_arm64.zip and zips/bootstrap_amd64.zip.
//
//go:embed zips
var embedded embed.FS

// functionCode is one package for Lambda.
type functionCode struct {
	Zip  []byte
	Hash string // base64 of SHA-256, as Lambda's CodeSha256
}

// codeFor returns the code for an architecture, and false if this build has
// none.
func (c *clients) codeFor(architecture string) (functionCode, bool) {
	zip, err := fs.ReadFile(c.code, "zips/bootstrap_"+architecture+".zip")
	if err != nil {
		return functionCode{}, false
	}
	sum := sha256.Sum256(zip)
	return functionCode{Zip: zip, Hash: base64.StdEncoding.EncodeToString(sum[:])}, true
}
