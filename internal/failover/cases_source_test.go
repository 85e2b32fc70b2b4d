package failover_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// core is the source of the package, so that nothing new in it goes without a
// case.
type core []*ast.File

func source(t *testing.T) (c core) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		c = append(c, f)
	}
	return c
}

// constants are the values of a type of strings.
func (c core) constants(of string) (values []string) {
	c.each(func(n ast.Node) {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return
		}
		lit, text := v.Values[0].(*ast.BasicLit)
		if id, typed := v.Type.(*ast.Ident); !typed || id.Name != of || !text {
			return
		}
		if value, err := strconv.Unquote(lit.Value); err == nil && value != "" {
			values = append(values, value)
		}
	})
	return values
}

// implementing are the types with a method.
func (c core) implementing(method string) (types []string) {
	c.each(func(n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != method {
			return
		}
		if id, named := f.Recv.List[0].Type.(*ast.Ident); named {
			types = append(types, id.Name)
		}
	})
	return types
}

// rules are those that the core asks for: on(R8).
func (c core) rules() (rules []string) {
	c.each(func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if id, named := call.Args[0].(*ast.Ident); ok && named && method.Sel.Name == "on" && strings.HasPrefix(id.Name, "R") {
			rules = append(rules, id.Name)
		}
	})
	slices.Sort(rules)
	return slices.Compact(rules)
}

func (c core) each(visit func(ast.Node)) {
	for _, f := range c {
		ast.Inspect(f, func(n ast.Node) bool { visit(n); return true })
	}
}
