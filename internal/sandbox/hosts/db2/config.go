package db2

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Role of a database in HADR.
type Role string

// Roles.
const (
	Primary  Role = "PRIMARY"
	Standby  Role = "STANDBY"
	Standard Role = "STANDARD"
)

// SyncMode is HADR_SYNCMODE.
type SyncMode string

// Synchronization modes.
const (
	Sync       SyncMode = "SYNC"
	NearSync   SyncMode = "NEARSYNC"
	Async      SyncMode = "ASYNC"
	SuperAsync SyncMode = "SUPERASYNC"
)

// confirms reports whether a commit waits for the standby's answer, which is
// also where a peer window has a meaning.
func (m SyncMode) confirms() bool { return m == Sync || m == NearSync }

// Config is the database configuration of one database, as it is on disk.
type Config struct {
	Database    string   `json:"database"`
	Role        Role     `json:"role"`
	LocalHost   string   `json:"hadr_local_host"`
	LocalPort   int      `json:"hadr_local_svc"`
	RemoteHost  string   `json:"hadr_remote_host"`
	RemotePort  int      `json:"hadr_remote_svc"`
	RemoteOwner string   `json:"hadr_remote_inst"`
	Timeout     int      `json:"hadr_timeout"`     // seconds
	PeerWindow  int      `json:"hadr_peer_window"` // seconds
	SyncMode    SyncMode `json:"hadr_syncmode"`
	ReplayDelay int      `json:"hadr_replay_delay"` // seconds; keeps a standby out of peer state
	SpoolLimit  int      `json:"hadr_spool_limit"`  // pages; -1 = unlimited
	SpoolSet    bool     `json:"hadr_spool_limit_set"`

	NoIndexBuild bool `json:"logindexbuild_off"` // START HADR warns with SQL1766W

	OldPrimary         bool      `json:"old_primary"` // told that its standby took over by force
	WasPrimary         bool      `json:"was_primary"` // being reintegrated
	RollforwardPending bool      `json:"rollforward_pending"`
	LastTakeover       time.Time `json:"last_takeover"`
}

func (c Config) timeout() time.Duration { return time.Duration(c.Timeout) * time.Second }

// complete reports whether everything is set that HADR cannot start without.
func (c Config) complete() bool {
	return c.LocalHost != "" && c.LocalPort != 0 && c.RemoteHost != "" && c.RemotePort != 0
}

func (c Config) window() time.Duration {
	if !c.SyncMode.confirms() {
		return 0 // ignored in ASYNC and SUPERASYNC
	}
	return time.Duration(c.PeerWindow) * time.Second
}

// InstanceConfig describes the instance of a machine.
type InstanceConfig struct {
	Owner    string `json:"owner"`
	Hostname string `json:"hostname"`
	Port     int    `json:"port"` // for applications
	// Version shapes what the commands print; empty is 11.5.
	Version Version `json:"version"`
	// Locale shapes human-readable dates: "en_US" (default), "en_GB", "de_DE",
	// "ja_JP" or "ISO".
	Locale string `json:"locale"`
	// ReadsOnStandby is DB2_HADR_ROS.
	ReadsOnStandby bool `json:"reads_on_standby"`
	// PeerWaitLimit is DB2_HADR_PEER_WAIT_LIMIT: a primary whose log has waited
	// that long in peer state breaks the connection. 0 = no limit.
	PeerWaitLimit Seconds `json:"peer_wait_limit"`

	Heartbeat    Seconds `json:"heartbeat"`     // 0 = min(HADR_TIMEOUT/4, HADR_PEER_WINDOW/4, 30 s)
	TakeoverTime Seconds `json:"takeover_time"` // how long a takeover replays and rolls back
	LocalCatchup Seconds `json:"local_catchup"` // how long a standby replays its own log at start
}

// Seconds is a duration as a JSON number of seconds.
type Seconds float64

// Duration converts s.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// Layout finds the files of the instance below the directory of a machine.
type Layout struct {
	Root  string
	Owner string
}

// FindLayout returns the layout of the instance that was set up on a machine.
func FindLayout(root string) (Layout, error) {
	b, err := os.ReadFile(filepath.Join(root, "etc", "db2instance"))
	if err != nil {
		return Layout{}, fmt.Errorf("no Db2 instance on this machine: %w", err)
	}
	return Layout{Root: root, Owner: strings.TrimSpace(string(b))}, nil
}

// Home is the home directory of the instance owner.
func (l Layout) Home() string { return filepath.Join(l.Root, "home", l.Owner) }

func (l Layout) sqllib() string { return filepath.Join(l.Home(), "sqllib") }

func (l Layout) dir(database string) string { return filepath.Join(l.sqllib(), database) }

func (l Layout) logFile(database string) string { return filepath.Join(l.dir(database), "active.log") }

func (l Layout) diagFile() string { return filepath.Join(l.sqllib(), "db2dump", "db2diag.log") }

func (l Layout) databases() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(l.sqllib(), "*", "db.json"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range found {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names, nil
}

// Config reads the configuration of a database.
func (l Layout) Config(database string) (Config, error) {
	var c Config
	err := readJSON(filepath.Join(l.dir(database), "db.json"), &c)
	return c, err
}

func (l Layout) save(c Config) error {
	return writeJSON(filepath.Join(l.dir(c.Database), "db.json"), c)
}

// Instance reads the description of the instance.
func (l Layout) Instance() (InstanceConfig, error) {
	var c InstanceConfig
	err := readJSON(filepath.Join(l.sqllib(), "instance.json"), &c)
	return c, err
}

func (l Layout) saveInstance(c InstanceConfig) error {
	return writeJSON(filepath.Join(l.sqllib(), "instance.json"), c)
}

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// writeJSON replaces a file as a whole: a machine may lose power at any time.
func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
