// Package document is what the engines' SSM command documents have in common:
// parameters that are checked before they reach a shell, the guards that a node
// keeps, and the report that a document prints.
package document

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Parameter of a document. Its pattern is checked here before a command is
// sent, and by Systems Manager as allowedPattern: a value can't leave the
// quotes of the script.
type Parameter struct {
	Name        string
	Description string
	Pattern     string
}

// Check returns an error for a value that is not allowed.
func (p Parameter) Check(value string) error {
	if !compiled(p.Pattern).MatchString(value) {
		return fmt.Errorf("parameter %s = %q does not match %s", p.Name, value, p.Pattern)
	}
	return nil
}

// patterns are compiled once: an agent checks what it reads at every look.
var patterns struct {
	sync.RWMutex
	compiled map[string]*regexp.Regexp
}

func compiled(pattern string) *regexp.Regexp {
	patterns.RLock()
	re := patterns.compiled[pattern]
	patterns.RUnlock()
	if re != nil {
		return re
	}
	patterns.Lock()
	defer patterns.Unlock()
	if patterns.compiled == nil {
		patterns.compiled = map[string]*regexp.Regexp{}
	}
	re = regexp.MustCompile(pattern)
	patterns.compiled[pattern] = re
	return re
}

const ipv4 = `((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`

// Parameters that every engine's documents take in the same form.
var (
	Group     = Parameter{"group", "Name of the failover group.", `^[a-z][a-z0-9-]{1,30}$`}
	Owner     = Parameter{"owner", "User who owns the database server.", `^[a-z_][a-z0-9_-]{0,31}$`}
	TableARN  = Parameter{"table_arn", "ARN of the state table that this node belongs to.", `^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255}$`}
	Epoch     = Parameter{"epoch", "Epoch of the operation.", `^[1-9][0-9]{0,17}$`}
	Operation = Parameter{"operation", "Operation that this run belongs to.", `^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`}
	Step      = Parameter{"step", "Step of the operation.", `^[a-z][a-z_]{0,19}$`}
	Attempt   = Parameter{"attempt", "Attempt of the step.", `^[0-9]{1,4}$`}
	Deadline  = Parameter{"deadline", "Start of the command at the latest, in seconds since 1970-01-01 UTC on the clock of the node.", `^[0-9]{1,12}$`}
	VIP       = Parameter{"vip", "IPv4 address of the endpoint, or none.", `^(none|` + ipv4 + `)$`}
	Address   = Parameter{"vip", "IPv4 address of the endpoint.", `^` + ipv4 + `$`}
	Port      = Parameter{"port", "TCP port of the endpoint.", `^[1-9][0-9]{0,4}$`}
	Alone     = Parameter{"alone", "Start a primary without its standby: yes only where the other node is stopped for certain.", `^(yes|no)$`}
)

// Order are the parameters that the guards need (R12, R21).
func Order() []Parameter {
	return []Parameter{Group, TableARN, Epoch, Operation, Step, Attempt, Deadline}
}

// Guards are shell functions that keep R12 and R21 on a node. A document that
// changes something calls begin first and finish last.
//
//go:embed guards.sh
var Guards string

// Document is an SSM command document.
type Document struct {
	Kind        string
	Description string
	Parameters  []Parameter
	Timeout     int    // seconds that the script may run
	Constants   string // assignments that tell documents with the same body apart
	Body        string // of the script, without parameters
}

// Validate returns an error for a parameter that is missing, not known or not
// allowed.
func (d Document) Validate(values map[string]string) error {
	for _, p := range d.Parameters {
		v, ok := values[p.Name]
		if !ok {
			return fmt.Errorf("document %s: parameter %s is missing", d.Kind, p.Name)
		}
		if err := p.Check(v); err != nil {
			return fmt.Errorf("document %s: %w", d.Kind, err)
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
	return b.String() + d.Constants + "\n" + d.Body
}

// Render puts values into the script, as Systems Manager does.
func (d Document) Render(values map[string]string) (string, error) {
	if err := d.Validate(values); err != nil {
		return "", err
	}
	script := d.Script()
	for name, value := range values {
		script = strings.ReplaceAll(script, "{{ "+name+" }}", value)
	}
	return script, nil
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
		[]step{{"aws:runShellScript", d.Kind, inputs{fmt.Sprint(d.Timeout), strings.Split(strings.TrimRight(d.Script(), "\n"), "\n")}}},
	}
	b, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write document %s: %w", d.Kind, err)
	}
	return string(b), nil
}
