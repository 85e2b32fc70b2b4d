// Package engine knows the kinds of databases that there are, by the names that
// a group's record has for them.
package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
)

// Names of the engines.
const (
	Db2        = "db2"
	PostgreSQL = "postgresql"
)

// Runner runs a document on an instance.
type Runner interface {
	Run(ctx context.Context, q command.Request) command.Result
}

var engines = map[string]struct {
	open     func(Runner, clock.Clock) control.Engine
	kinds    func() []string
	document func(kind string) (document.Document, error)
}{
	Db2:        {func(r Runner, c clock.Clock) control.Engine { return db2.New(r, c) }, db2.Kinds, db2.DocumentOf},
	PostgreSQL: {func(r Runner, c clock.Clock) control.Engine { return postgresql.New(r, c) }, postgresql.Kinds, postgresql.DocumentOf},
}

// Names are the names of all engines, in order.
func Names() []string { return slices.Sorted(maps.Keys(engines)) }

// New returns the engine of a name, which reaches hosts through r.
func New(name string, r Runner, c clock.Clock) (control.Engine, error) {
	e, ok := engines[name]
	if !ok {
		return nil, unknown(name)
	}
	return e.open(r, c), nil
}

// Kinds are the kinds of an engine's documents, in order.
func Kinds(name string) ([]string, error) {
	e, ok := engines[name]
	if !ok {
		return nil, unknown(name)
	}
	return e.kinds(), nil
}

// DocumentOf returns an engine's document of a kind.
func DocumentOf(name, kind string) (document.Document, error) {
	e, ok := engines[name]
	if !ok {
		return document.Document{}, unknown(name)
	}
	return e.document(kind)
}

func unknown(name string) error {
	return fmt.Errorf("no engine %q: declare one of %s", name, strings.Join(Names(), ", "))
}
