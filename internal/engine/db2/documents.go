package db2

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Parameter of a document. Its pattern is checked here before a command is
// sent, and by Systems Manager as allowedPattern: a value can't leave the
// quotes of the script.
type Parameter struct {
	Name        string
	Description string
	Pattern     string
}

// Document is an SSM command document of this engine.
type Document struct {
	Kind        string // "status", "takeover", "forced_takeover", "switchover", "start", "rejoin" or "path_check"
	Description string
	Parameters  []Parameter
	timeout     int    // seconds that the script may run
	constants   string // assignments that tell documents with the same script apart
	script      string
}

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

const ipv4 = `((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`

var (
	paramGroup     = Parameter{"group", "Name of the failover group.", `^[a-z][a-z0-9-]{1,30}$`}
	paramDatabase  = Parameter{"database", "Name of the database.", `^[A-Za-z][A-Za-z0-9_]{0,7}$`}
	paramOwner     = Parameter{"owner", "User who owns the Db2 instance.", `^[a-z_][a-z0-9_-]{0,31}$`}
	paramTable     = Parameter{"table_arn", "ARN of the state table that this node belongs to.", `^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255}$`}
	paramEpoch     = Parameter{"epoch", "Epoch of the takeover.", `^[1-9][0-9]{0,17}$`}
	paramOperation = Parameter{"operation", "Operation that takes over.", `^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`}
	paramStep      = Parameter{"step", "Step of the operation.", `^[a-z][a-z_]{0,19}$`}
	paramAttempt   = Parameter{"attempt", "Attempt of the step.", `^[0-9]{1,4}$`}
	paramDeadline  = Parameter{"deadline", "Start of the command at the latest, in seconds since 1970-01-01 UTC on the clock of the node.", `^[0-9]{1,12}$`}
	paramVIP       = Parameter{"vip", "IPv4 address of the endpoint, or none.", `^(none|` + ipv4 + `)$`}
	paramAlone     = Parameter{"alone", "Start the primary without its standby: yes only where the other node is stopped for certain.", `^(yes|no)$`}
	paramAddress   = Parameter{"vip", "IPv4 address of the endpoint.", `^` + ipv4 + `$`}
	paramPort      = Parameter{"port", "TCP port of the endpoint.", `^[1-9][0-9]{0,4}$`}
)

var takeoverParameters = []Parameter{
	paramGroup, paramTable, paramEpoch, paramOperation, paramStep, paramAttempt, paramDeadline, paramDatabase, paramOwner, paramVIP,
}

var documents = map[string]Document{
	"status": {
		Kind: "status", Description: "hadr: read the state of a Db2 HADR database. Changes nothing.",
		Parameters: []Parameter{paramGroup, paramDatabase, paramOwner},
		timeout:    30, script: statusScript,
	},
	"takeover": {
		Kind: "takeover", Description: "hadr: take over a Db2 HADR database within its peer window.",
		Parameters: takeoverParameters,
		timeout:    1000, constants: "form='by force peer window only'\n", script: takeoverScript,
	},
	// A document of its own: who may run it is a matter of IAM, and no policy of
	// a function names it (R19).
	"forced_takeover": {
		Kind: "forced_takeover", Description: "hadr: take over a Db2 HADR database by force, at a person's word.",
		Parameters: takeoverParameters,
		timeout:    1000, constants: "form='by force'\n", script: takeoverScript,
	},
	"switchover": {
		Kind: "switchover", Description: "hadr: change the roles of a Db2 HADR pair in order.",
		Parameters: takeoverParameters,
		timeout:    1000, constants: "form=\n", script: takeoverScript,
	},
	"start": {
		Kind: "start", Description: "hadr: start a Db2 instance and its database, in the role that it has.",
		Parameters: []Parameter{paramGroup, paramTable, paramEpoch, paramOperation, paramStep, paramAttempt, paramDeadline, paramDatabase, paramOwner, paramAlone},
		timeout:    400, script: startScript,
	},
	"rejoin": {
		Kind: "rejoin", Description: "hadr: bring a Db2 database back as HADR standby.",
		Parameters: []Parameter{paramGroup, paramTable, paramEpoch, paramOperation, paramStep, paramAttempt, paramDeadline, paramDatabase, paramOwner, paramVIP},
		timeout:    240, script: rejoinScript,
	},
	"path_check": {
		Kind: "path_check", Description: "hadr: open a TCP connection to the endpoint of a group.",
		Parameters: []Parameter{paramAddress, paramPort},
		timeout:    10, script: pathCheckScript,
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

// Validate returns an error for a parameter that is missing, not known or not
// allowed.
func (d Document) Validate(values map[string]string) error {
	for _, p := range d.Parameters {
		v, ok := values[p.Name]
		if !ok {
			return fmt.Errorf("document %s: parameter %s is missing", d.Kind, p.Name)
		}
		if !regexp.MustCompile(p.Pattern).MatchString(v) {
			return fmt.Errorf("document %s: parameter %s = %q does not match %s", d.Kind, p.Name, v, p.Pattern)
		}
	}
	if len(values) != len(d.Parameters) {
		return fmt.Errorf("document %s takes %d parameters, not %d", d.Kind, len(d.Parameters), len(values))
	}
	return nil
}

// Script is what runs on the host, with the parameters as {{ name }} in place.
func (d Document) Script() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, p := range d.Parameters {
		fmt.Fprintf(&b, "%s='{{ %s }}'\n", p.Name, p.Name)
	}
	return b.String() + d.constants + "\n" + d.script
}

// Content is the document for CreateDocument, as JSON of the schema 2.2
// (https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-schemas-features.html).
// The same document always has the same text.
func (d Document) Content() (string, error) {
	type parameter struct {
		Type           string `json:"type"`
		Description    string `json:"description"`
		AllowedPattern string `json:"allowedPattern"`
	}
	type inputs struct {
		TimeoutSeconds string   `json:"timeoutSeconds"`
		RunCommand     []string `json:"runCommand"`
	}
	type step struct {
		Action string `json:"action"`
		Name   string `json:"name"`
		Inputs inputs `json:"inputs"`
	}
	parameters := map[string]parameter{}
	for _, p := range d.Parameters {
		parameters[p.Name] = parameter{"String", p.Description, p.Pattern}
	}
	content := struct {
		SchemaVersion string               `json:"schemaVersion"`
		Description   string               `json:"description"`
		Parameters    map[string]parameter `json:"parameters"`
		MainSteps     []step               `json:"mainSteps"`
	}{
		"2.2", d.Description, parameters,
		[]step{{"aws:runShellScript", d.Kind, inputs{fmt.Sprint(d.timeout), strings.Split(strings.TrimRight(d.Script(), "\n"), "\n")}}},
	}
	b, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write document %s: %w", d.Kind, err)
	}
	return string(b), nil
}
