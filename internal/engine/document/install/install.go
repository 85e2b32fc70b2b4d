// Package install is the SSM document that puts hadr-agent on a host.
package install

import (
	_ "embed"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

//go:embed install.sh
var script string

// Document installs a version of the agent from an address, if its digest is
// right, and reports its health.
func Document() document.Document {
	return document.Document{
		Kind:        "agent_install",
		Description: "hadr: install a version of hadr-agent whose digest is known, and report its health.",
		Parameters: []document.Parameter{
			{Name: "version", Description: "Version of the package, such as 0.1.0.", Pattern: `^[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}([-+.][0-9A-Za-z.-]{1,40})?$`},
			{Name: "source", Description: "Address of the package: https://HOST/PATH or s3://BUCKET/KEY, ending in .deb or .rpm.", Pattern: `^(https|s3)://[A-Za-z0-9][A-Za-z0-9.-]{1,253}/[A-Za-z0-9._/~+-]{1,700}\.(deb|rpm)$`},
			{Name: "sha256", Description: "SHA-256 digest of the package, in hexadecimal digits.", Pattern: `^[0-9a-f]{64}$`},
			{Name: "table", Description: "Name of the state table.", Pattern: `^[A-Za-z0-9_.-]{3,255}$`},
			document.Group,
			{Name: "node", Description: "Node of the group that this host is.", Pattern: `^[a-z][a-z0-9-]{0,30}$`},
			{Name: "metrics", Description: "Loopback address of the Prometheus metrics, such as 127.0.0.1:9788, or none.", Pattern: `^(none|127\.0\.0\.1:[1-9][0-9]{0,4})$`},
		},
		Timeout: 600,
		Body:    script,
	}
}
