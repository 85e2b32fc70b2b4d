package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

const root = "../../.."

// released is how a module of this repository is named from outside of it. There
// is no shorter way: an address of a registry has a part for the module itself
// (https://developer.hashicorp.com/terraform/language/modules/sources).
var released = regexp.MustCompile(`^github\.com/hadr-dev/terraform-provider-hadr//modules/([a-z0-9-]+)\?ref=v\d+\.\d+\.\d+$`)

// TestDocumentedUsage: whoever copies a call of a module out of the documents
// gets one that names a module of ours, and arguments that it has and needs.
func TestDocumentedUsage(t *testing.T) {
	modules := map[string]bool{}
	for _, document := range documents(t) {
		for _, body := range configurations(t, document) {
			for _, call := range body.Blocks {
				if call.Type == "module" {
					modules[checkCall(t, document, call)] = true
				}
			}
		}
	}
	for _, name := range []string{"db2-hadr", "postgresql-pair"} {
		if !modules[name] {
			t.Errorf("no document shows how the module %s is used", name)
		}
	}
}

// TestDocumentedFormat: a configuration in the documents is as terraform fmt
// leaves it.
func TestDocumentedFormat(t *testing.T) {
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not in the PATH: https://developer.hashicorp.com/terraform/install")
	}
	for _, document := range documents(t) {
		for _, code := range fenced(t, document) {
			format := exec.CommandContext(t.Context(), terraform, "fmt", "-")
			format.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull, "CHECKPOINT_DISABLE=1")
			format.Stdin = strings.NewReader(code)
			if out, err := format.Output(); err != nil || string(out) != code {
				t.Errorf("%s: %v, terraform fmt writes\n%s\ninstead of\n%s", document, err, out, code)
			}
		}
	}
}

// documents that people read; those of single resources are generated.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/guides/*.md", "modules/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no documents %s (%v)", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

var fence = regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$")

// fenced are the configurations in a document.
func fenced(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		codes = append(codes, m[1])
	}
	return codes
}

func configurations(t *testing.T, document string) []*hclsyntax.Body {
	t.Helper()
	var bodies []*hclsyntax.Body
	for _, code := range fenced(t, document) {
		file, diags := hclsyntax.ParseConfig([]byte(code), document, hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%s: %v\n%s", document, diags, code)
			continue
		}
		bodies = append(bodies, file.Body.(*hclsyntax.Body))
	}
	return bodies
}

// checkCall returns the name of the module that is called.
func checkCall(t *testing.T, document string, call *hclsyntax.Block) string {
	t.Helper()
	source := ""
	if a := call.Body.Attributes["source"]; a != nil {
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
			source = v.AsString()
		}
	}
	name := released.FindStringSubmatch(source)
	if name == nil {
		t.Errorf("%s: a module comes from %q, want an address like %s", document, source, released)
		return ""
	}
	module, diags := tfconfig.LoadModule(filepath.Join(root, "modules", name[1]))
	if diags.HasErrors() || len(module.Variables) == 0 {
		t.Errorf("%s: there is no module %s: %v", document, name[1], diags.Err())
		return ""
	}
	for argument := range call.Body.Attributes {
		if module.Variables[argument] == nil && argument != "source" {
			t.Errorf("%s: the module %s has no input %q", document, name[1], argument)
		}
	}
	for _, v := range module.Variables {
		if v.Required && call.Body.Attributes[v.Name] == nil {
			t.Errorf("%s: the module %s needs the input %q", document, name[1], v.Name)
		}
	}
	return name[1]
}
