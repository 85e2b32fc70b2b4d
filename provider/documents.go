package provider

import (
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document/install"
)

const (
	// agentInstall is the kind of the document that is no engine's.
	agentInstall = "agent_install"
	// pathCheck is the kind that every engine's groups use.
	pathCheck = "path_check"
)

// documentKind is whose document a kind of hadr_command_document is, and what
// that engine calls it.
type documentKind struct{ engine, kind string }

var documents = map[string]documentKind{
	agentInstall:          {},
	pathCheck:             {engine.Db2, "path_check"},
	"db2_status":          {engine.Db2, "status"},
	"db2_takeover":        {engine.Db2, "takeover"},
	"db2_forced_takeover": {engine.Db2, "forced_takeover"},
	"db2_switchover":      {engine.Db2, "switchover"},
	"db2_start":           {engine.Db2, "start"},
	"db2_rejoin":          {engine.Db2, "rejoin"},
	"postgresql_status":   {engine.PostgreSQL, "status"},
	"postgresql_promote":  {engine.PostgreSQL, "promote"},
	"postgresql_demote":   {engine.PostgreSQL, "demote"},
	"postgresql_start":    {engine.PostgreSQL, "start"},
	"postgresql_rejoin":   {engine.PostgreSQL, "rejoin"},
}

func documentKinds() []string { return sortedKeys(documents) }

// documentKindsOf are the kinds that a group of an engine uses.
func documentKindsOf(name string) (kinds []string) {
	for _, kind := range documentKinds() {
		if kind == pathCheck || strings.HasPrefix(kind, name+"_") {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// documentContent is the text of a kind of document, and false for an unknown
// kind.
func documentContent(kind string) (string, bool) {
	if kind == agentInstall {
		text, err := install.Document().Content()
		return text, err == nil
	}
	of, ok := documents[kind]
	if !ok {
		return "", false
	}
	d, err := engine.DocumentOf(of.engine, of.kind)
	if err != nil {
		return "", false
	}
	text, err := d.Content()
	return text, err == nil
}

// documentKindOf recognises a document, "" if it is none of this provider's.
func documentKindOf(content string) string {
	for _, kind := range documentKinds() {
		if text, ok := documentContent(kind); ok && sameJSON(text, content) {
			return kind
		}
	}
	return ""
}
