package provider

import (
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document/install"
)

// agentInstall is the kind of the document that is no engine's.
const agentInstall = "agent_install"

// documents are the kinds of hadr_command_document, and the engine's document
// of each.
var documents = map[string]string{
	agentInstall:          agentInstall,
	"db2_status":          "status",
	"db2_takeover":        "takeover",
	"db2_forced_takeover": "forced_takeover",
	"db2_switchover":      "switchover",
	"db2_start":           "start",
	"db2_rejoin":          "rejoin",
	"path_check":          "path_check",
}

func documentKinds() []string { return sortedKeys(documents) }

// documentContent is the text of a kind of document, and false for an unknown
// kind.
func documentContent(kind string) (string, bool) {
	if kind == agentInstall {
		text, err := install.Document().Content()
		return text, err == nil
	}
	d, err := db2.DocumentOf(documents[kind])
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
