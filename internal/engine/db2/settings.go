// Package db2 is the engine for a Db2 HADR pair: it reads what a node says of
// itself and promotes a standby, through SSM documents, and knows what Db2's
// output and timing mean.
package db2

import (
	"fmt"
	"strconv"
)

// Settings are the engine's own settings of a group.
type Settings struct {
	Database   string
	Owner      string // instance owner, the user who runs db2
	SyncMode   string // "" = not declared
	PeerWindow int64  // seconds, 0 = not declared
	Timeout    int64  // HADR_TIMEOUT, seconds, 0 = not declared

	StatusDocument    string
	TakeoverDocument  string
	SwitchDocument    string // "" = roles are not changed in order
	ForcedDocument    string // "" = nobody takes over by force (R19)
	RejoinDocument    string // "" = nodes are brought back by hand
	StartDocument     string // "" = databases are not started in place (R31)
	PathCheckDocument string
	TableARN          string

	versions map[string]string // kind -> version of its document, "" = the default one
}

// ParseSettings reads the settings of a group's configuration: database,
// instance_owner, syncmode, peer_window_seconds, hadr_timeout_seconds,
// table_arn, and of each kind of document KIND_document, its name, and
// KIND_document_version.
func ParseSettings(m map[string]string) (Settings, error) {
	s := Settings{
		Database: m["database"], Owner: m["instance_owner"], SyncMode: m["syncmode"],
		StatusDocument: m["status_document"], TakeoverDocument: m["takeover_document"],
		StartDocument: m["start_document"], RejoinDocument: m["rejoin_document"], PathCheckDocument: m["path_check_document"],
		ForcedDocument: m["forced_takeover_document"], SwitchDocument: m["switchover_document"], TableARN: m["table_arn"], versions: map[string]string{},
	}
	for _, kind := range Kinds() {
		s.versions[kind] = m[kind+"_document_version"]
	}
	for name, p := range map[string]*int64{"peer_window_seconds": &s.PeerWindow, "hadr_timeout_seconds": &s.Timeout} {
		if m[name] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[name], 10, 32)
		if err != nil || n < 0 {
			return Settings{}, fmt.Errorf("setting %s = %q: want a whole number of seconds", name, m[name])
		}
		*p = n
	}
	switch s.SyncMode {
	case "", "SYNC", "NEARSYNC", "ASYNC", "SUPERASYNC":
	default:
		return Settings{}, fmt.Errorf("setting syncmode = %q: want SYNC, NEARSYNC, ASYNC or SUPERASYNC", s.SyncMode)
	}
	return s, nil
}
