// Package postgresql is the engine for a pair of PostgreSQL servers with
// streaming replication: it reads what a node says of itself, promotes a
// standby, changes the roles in order and brings an old primary back, through
// SSM documents, and knows what PostgreSQL's positions and timing mean.
//
// What a standby can do reaches the core as data. A synchronous standby has
// every acknowledged commit as long as its primary waits for it, which it asks
// its primary for while it can; an asynchronous one lacks at most what its
// primary acknowledged since it was last heard of. Both proofs age, and the
// moment when they are too old is the end of a window, as Db2's peer window is.
package postgresql

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

// Mode is how commits wait for the standby.
type Mode string

// The modes.
const (
	Sync  Mode = "sync"  // a commit is acknowledged once the standby has it on disk
	Async Mode = "async" // it is acknowledged before (R33)
)

// Defaults of the settings.
const (
	defaultPort        = "5432"
	defaultOwner       = "postgres"
	defaultSocket      = "/var/run/postgresql"
	defaultReplication = "hadr"
	defaultDatabase    = "postgres"
	defaultSSLMode     = "prefer"
	// defaultSyncWindow is how long a standby trusts what its primary said about
	// waiting for it. Who tells a primary not to wait has to let it pass first. A
	// takeover that starts from alarms alone fits into it.
	defaultSyncWindow = 7 * time.Minute
	// defaultMaxLag is one segment of the log
	// (https://www.postgresql.org/docs/15/wal-internals.html).
	defaultMaxLag      = 16 << 20
	defaultRejoinLimit = 5 * time.Minute
	// maxRejoinLimit lets pg_rewind, and all that is around it, end before the
	// core stops waiting for the standby: nothing may change the node's data after
	// a person was told to make them anew.
	maxRejoinLimit = 10 * time.Minute
)

// Settings are the engine's own settings of a group.
type Settings struct {
	Mode      Mode
	Owner     string // user who owns the server
	Data      string // data directory
	Bin       string // directory of pg_ctl and its like
	Socket    string // directory of the server's Unix socket
	Port      string
	Config    string            // path of a postgresql.conf outside the data directory, "none"
	Database  string            // of the agent's probe
	User      string            // who replicates, rewinds and probes
	SSLMode   string            // of the connections between the nodes
	Addresses map[string]string // node -> host:port, for the other node

	MaxLag      int64         // bytes that a standby may have lacked when it last heard of its primary
	Window      time.Duration // how long the last word of the primary proves what the standby has; asynchronous: the declared RPO
	RejoinLimit time.Duration // of pg_rewind

	Documents map[string]string // kind -> name or ARN; a kind that is missing is done by hand
	Versions  map[string]string // kind -> version of the document, "" = the default one
	TableARN  string
}

// ParseSettings reads the settings of a group's configuration:
// replication_mode (sync or async; required), data_directory and bin_directory
// (absolute paths; required), owner, socket_directory, port, config_file,
// database, replication_user, sslmode, address_NODE (host or host:port),
// max_lag_bytes, sync_window_seconds, max_rpo_seconds (required for async),
// rejoin_limit_seconds, KIND_document, KIND_document_version and table_arn.
func ParseSettings(m map[string]string) (Settings, error) {
	s := Settings{
		Mode: Mode(m["replication_mode"]), Owner: or(m["owner"], defaultOwner), Data: m["data_directory"], Bin: m["bin_directory"],
		Socket: or(m["socket_directory"], defaultSocket), Port: or(m["port"], defaultPort), Config: or(m["config_file"], "none"),
		Database: or(m["database"], defaultDatabase), User: or(m["replication_user"], defaultReplication), SSLMode: or(m["sslmode"], defaultSSLMode),
		Addresses: map[string]string{}, Documents: map[string]string{}, Versions: map[string]string{}, TableARN: m["table_arn"],
	}
	for name, value := range m {
		if node, ok := strings.CutPrefix(name, "address_"); ok && value != "" {
			s.Addresses[node] = value
		}
	}
	for _, kind := range Kinds() {
		s.Documents[kind], s.Versions[kind] = m[kind+"_document"], m[kind+"_document_version"]
	}
	if s.Mode != Sync && s.Mode != Async {
		return Settings{}, wrong("replication_mode", m, "want sync or async")
	}
	for name, p := range map[string]struct {
		document.Parameter
		value string
	}{
		"owner": {document.Owner, s.Owner}, "data_directory": {paramData, s.Data}, "bin_directory": {paramBin, s.Bin},
		"socket_directory": {paramSocket, s.Socket}, "port": {document.Port, s.Port}, "config_file": {paramConfig, s.Config},
		"replication_user": {paramUser, s.User}, "sslmode": {paramSSLMode, s.SSLMode}, "database": {paramDatabase, s.Database},
	} {
		if p.Check(p.value) != nil {
			return Settings{}, wrong(name, m, p.Description+" It must match "+p.Pattern)
		}
	}
	return s, s.readNumbers(m)
}

// SettingError is a setting that the engine can't use.
type SettingError struct{ Setting, Value, Why string }

func (e SettingError) Error() string {
	return fmt.Sprintf("setting %s = %q: %s", e.Setting, e.Value, e.Why)
}

func wrong(name string, m map[string]string, why string) error {
	return SettingError{Setting: name, Value: m[name], Why: why}
}

func (s *Settings) readNumbers(m map[string]string) error {
	number := func(name string, fallback int64) (int64, error) {
		if m[name] == "" {
			return fallback, nil
		}
		n, err := strconv.ParseInt(m[name], 10, 64)
		if err != nil || n <= 0 || n > 1<<50 {
			return 0, wrong(name, m, "want a whole number above 0")
		}
		return n, nil
	}
	seconds := func(name string, fallback time.Duration) (time.Duration, error) {
		n, err := number(name, int64(fallback/time.Second))
		if err == nil && n > 86400 {
			return 0, wrong(name, m, "want at most a day in seconds")
		}
		return time.Duration(n) * time.Second, err
	}
	var err error
	if s.MaxLag, err = number("max_lag_bytes", defaultMaxLag); err != nil {
		return err
	}
	if s.RejoinLimit, err = seconds("rejoin_limit_seconds", defaultRejoinLimit); err != nil {
		return err
	}
	if s.RejoinLimit > maxRejoinLimit {
		return wrong("rejoin_limit_seconds", m, fmt.Sprintf("want at most %.0f, as a rejoin is given up soon after", maxRejoinLimit.Seconds()))
	}
	if s.Mode == Sync {
		s.Window, err = seconds("sync_window_seconds", defaultSyncWindow)
		return err
	}
	if m["max_rpo_seconds"] == "" {
		return wrong("max_rpo_seconds", m, "an asynchronous standby lacks the newest commits, so declare how many seconds of them may be lost")
	}
	s.Window, err = seconds("max_rpo_seconds", 0)
	return err
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// other is the id of the node other than this one, "" if none is declared.
func (s Settings) other(node string) string {
	for id := range s.Addresses {
		if id != node {
			return id
		}
	}
	return ""
}

// peer is where the other node is found, "none" if that is not declared.
func (s Settings) peer(node string) (host, port string) {
	address := s.Addresses[s.other(node)]
	if host, port, err := net.SplitHostPort(address); err == nil {
		return host, port
	}
	return or(address, "none"), s.Port
}
