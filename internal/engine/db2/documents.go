package db2

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

type (
	// Parameter of a document.
	Parameter = document.Parameter
	// Document is an SSM command document of this engine.
	Document = document.Document
)

var (
	//go:embed scripts/status.sh
	statusScript string
	//go:embed scripts/takeover.sh
	takeoverScript string
	//go:embed scripts/start.sh
	startScript string
	//go:embed scripts/rejoin.sh
	rejoinScript string
	//go:embed scripts/path_check.sh
	pathCheckScript string
)

var (
	paramDatabase = Parameter{Name: "database", Description: "Name of the database.", Pattern: `^[A-Za-z][A-Za-z0-9_]{0,7}$`}
	paramOwner    = document.Owner
)

// ordered are the parameters of a document that changes a node.
func ordered(more ...Parameter) []Parameter { return append(document.Order(), more...) }

var takeoverParameters = ordered(paramDatabase, paramOwner, document.VIP)

var documents = map[string]Document{
	"status": {
		Kind: "status", Description: "hadr: read the state of a Db2 HADR database. Changes nothing.",
		Parameters: []Parameter{document.Group, paramDatabase, paramOwner},
		Timeout:    30, Body: statusScript,
	},
	"takeover": {
		Kind: "takeover", Description: "hadr: take over a Db2 HADR database within its peer window.",
		Parameters: takeoverParameters,
		Timeout:    1000, Constants: "form='by force peer window only'\n", Body: takeoverScript,
	},
	// A document of its own: who may run it is a matter of IAM, and no policy of
	// a function names it (R19).
	"forced_takeover": {
		Kind: "forced_takeover", Description: "hadr: take over a Db2 HADR database by force, at a person's word.",
		Parameters: takeoverParameters,
		Timeout:    1000, Constants: "form='by force'\n", Body: takeoverScript,
	},
	"switchover": {
		Kind: "switchover", Description: "hadr: change the roles of a Db2 HADR pair in order.",
		Parameters: takeoverParameters,
		Timeout:    1000, Constants: "form=\n", Body: takeoverScript,
	},
	"start": {
		Kind: "start", Description: "hadr: start a Db2 instance and its database, in the role that it has.",
		Parameters: ordered(paramDatabase, paramOwner, document.Alone),
		Timeout:    400, Body: startScript,
	},
	"rejoin": {
		Kind: "rejoin", Description: "hadr: bring a Db2 database back as HADR standby.",
		Parameters: ordered(paramDatabase, paramOwner, document.VIP),
		Timeout:    240, Body: rejoinScript,
	},
	"path_check": {
		Kind: "path_check", Description: "hadr: open a TCP connection to the endpoint of a group.",
		Parameters: []Parameter{document.Address, document.Port},
		Timeout:    10, Body: pathCheckScript,
	},
}

// Kinds are the kinds of documents, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(documents)) }

// DocumentOf returns the document of a kind.
func DocumentOf(kind string) (Document, error) {
	d, ok := documents[kind]
	if !ok {
		return Document{}, fmt.Errorf("no SSM document of the kind %q: want one of %s", kind, strings.Join(Kinds(), ", "))
	}
	return d, nil
}
