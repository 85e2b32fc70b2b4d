// Command moduledocs writes the tables of inputs and outputs into the README of
// each module, between the markers that terraform-docs uses.
//
//	go run ./internal/tools/moduledocs modules/*
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

const (
	begin = "<!-- BEGIN_TF_DOCS -->"
	end   = "<!-- END_TF_DOCS -->"
)

func main() {
	for _, dir := range os.Args[1:] {
		if err := update(dir); err != nil {
			log.Fatalf("moduledocs: %v", err)
		}
	}
}

func update(dir string) error {
	m, diags := tfconfig.LoadModule(dir)
	if diags.HasErrors() {
		return fmt.Errorf("read module %s: %w", dir, diags.Err())
	}
	tables, err := render(m)
	if err != nil {
		return fmt.Errorf("module %s: %w", dir, err)
	}
	name := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	done, err := splice(string(text), tables)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(done), 0o644)
}

// splice puts the tables between the markers.
func splice(text, tables string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the lines %s and %s are missing", begin, end)
	}
	return before + begin + "\n" + tables + end + after, nil
}

// render makes the tables, and refuses what has no description or type.
func render(m *tfconfig.Module) (string, error) {
	var b strings.Builder
	b.WriteString("## Inputs\n\n| name | description | type | default |\n|---|---|---|---|\n")
	for _, name := range sorted(m.Variables) {
		v := m.Variables[name]
		if v.Description == "" || v.Type == "" {
			return "", fmt.Errorf("variable %s needs a description and a type", name)
		}
		byDefault := "required"
		if !v.Required {
			byDefault = code(literal(v.Default))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, v.Description, code(v.Type), byDefault)
	}
	b.WriteString("\n## Outputs\n\n| name | description |\n|---|---|\n")
	for _, name := range sorted(m.Outputs) {
		if m.Outputs[name].Description == "" {
			return "", fmt.Errorf("output %s needs a description", name)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, m.Outputs[name].Description)
	}
	return b.String(), nil
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "{}"
	case []any:
		return "[]"
	}
	return fmt.Sprint(v)
}

// code is a cell of code: on one line, and without the border of a table.
func code(s string) string {
	return "`" + strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|") + "`"
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
