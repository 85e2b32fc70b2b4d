package db2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pair describes a freshly built HADR pair. Zero values take the defaults.
type Pair struct {
	Owner          string        // db2inst1
	Database       string        // SAMPLE
	SyncMode       SyncMode      // NEARSYNC
	PeerWindow     time.Duration // whole seconds; 0 = no window, as Db2's default
	Timeout        time.Duration // whole seconds; 120 s
	Port           int           // for applications; 50000
	HADRPort       int           // 50010
	TakeoverTime   time.Duration // 2 s
	LocalCatchup   time.Duration // 1 s
	Heartbeat      time.Duration // 0 = as Db2 derives it
	Locale         string
	Version        Version       // 11.5
	PeerWait       time.Duration // DB2_HADR_PEER_WAIT_LIMIT
	ReadsOnStandby bool          // DB2_HADR_ROS
	NoIndexBuild   bool
	ReplayDelay    time.Duration // of the standby
}

// Side is one machine of a pair.
type Side struct {
	Root     string // directory of the machine
	Hostname string
	IP       string
	Node     string // row of HAPROBE.BEAT, such as "a"
}

func (p Pair) defaults() Pair {
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	dur := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&p.Owner, "db2inst1")
	def(&p.Database, "SAMPLE")
	if p.SyncMode == "" {
		p.SyncMode = NearSync
	}
	num(&p.Port, 50000)
	num(&p.HADRPort, 50010)
	dur(&p.Timeout, 120*time.Second)
	dur(&p.TakeoverTime, 2*time.Second)
	dur(&p.LocalCatchup, time.Second)
	return p
}

// Create writes the disks of a pair, as they are after installation, backup,
// restore and configuration: primary and standby with the same log and the
// probe table HAPROBE.BEAT with a row per node. Nothing is started.
func (p Pair) Create(primary, standby Side) error {
	return errors.Join(p.CreateSide(Primary, primary, standby), p.CreateSide(Standby, standby, primary))
}

// CreateSide writes the disk of one side only.
func (p Pair) CreateSide(role Role, here, there Side) error {
	p = p.defaults()
	switch {
	case role != Primary && role != Standby:
		return fmt.Errorf("role %q of database %s: want PRIMARY or STANDBY", role, p.Database)
	case p.SyncMode != Sync && p.SyncMode != NearSync && p.SyncMode != Async && p.SyncMode != SuperAsync:
		return fmt.Errorf("HADR_SYNCMODE %q of database %s: want SYNC, NEARSYNC, ASYNC or SUPERASYNC", p.SyncMode, p.Database)
	}
	if err := p.Version.check(); err != nil {
		return err
	}
	if p.Port == p.HADRPort || p.HADRPort == p.Port+1 {
		return fmt.Errorf("HADR port %d must not be the instance's port %d or the one after it: choose another", p.HADRPort, p.Port)
	}
	var log []byte
	nodes := []string{here.Node, there.Node}
	slices.Sort(nodes) // both sides begin with the same log
	for _, node := range nodes {
		if node != "" {
			log = append(log, record{at: 1772442000, kind: updateRecord, fields: []string{"HAPROBE.BEAT", node, "0"}}.encode()...)
		}
	}
	return p.write(here, there, role, log)
}

func (p Pair) write(here, there Side, role Role, log []byte) error {
	l := Layout{Root: here.Root, Owner: p.Owner}
	database := strings.ToUpper(p.Database)
	cfg := Config{
		Database: database, Role: role, LocalHost: here.IP, LocalPort: p.HADRPort, RemoteHost: there.IP, RemotePort: p.HADRPort,
		RemoteOwner: p.Owner, Timeout: int(p.Timeout / time.Second), PeerWindow: int(p.PeerWindow / time.Second),
		SyncMode: p.SyncMode, SpoolLimit: automaticSpool, NoIndexBuild: p.NoIndexBuild,
	}
	if role == Standby {
		cfg.ReplayDelay = int(p.ReplayDelay / time.Second)
	}
	instance := InstanceConfig{
		Owner: p.Owner, Hostname: here.Hostname, Port: p.Port, Locale: p.Locale, Version: p.Version, Heartbeat: Seconds(p.Heartbeat.Seconds()),
		ReadsOnStandby: p.ReadsOnStandby, PeerWaitLimit: Seconds(p.PeerWait.Seconds()),
		TakeoverTime: Seconds(p.TakeoverTime.Seconds()), LocalCatchup: Seconds(p.LocalCatchup.Seconds()),
	}
	if err := os.MkdirAll(l.dir(database), 0o755); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	if err := os.MkdirAll(filepath.Join(here.Root, "etc"), 0o755); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	return errors.Join(
		l.saveInstance(instance),
		l.save(cfg),
		os.WriteFile(l.logFile(database), log, 0o644),
		os.WriteFile(filepath.Join(l.sqllib(), "db2profile"), []byte("DB2INSTANCE="+p.Owner+"\nexport DB2INSTANCE\n"), 0o644),
		os.WriteFile(filepath.Join(here.Root, "etc", "db2instance"), []byte(p.Owner+"\n"), 0o644),
	)
}

// ActivateAll activates every database of a machine in its role on disk.
func ActivateAll(ctx context.Context, root string, n Network) error {
	l, err := FindLayout(root)
	if err != nil {
		return err
	}
	names, err := l.databases()
	if err != nil {
		return err
	}
	conn, err := attach(ctx, n)
	if err != nil {
		return err
	}
	defer conn.close()
	var failed []error
	for _, name := range names {
		if r := conn.ask(request{Op: "activate", Database: name}); r.Code >= codeError {
			failed = append(failed, fmt.Errorf("activate %s: %s", name, oneLine(r.Text)))
		}
	}
	return errors.Join(failed...)
}
