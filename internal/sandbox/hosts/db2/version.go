package db2

import "fmt"

// Version is the release of Db2 that an instance prints as.
type Version string

// Versions. Their layouts follow captures of 10.5, 11.1 and 11.5. Of 12.1 the
// columns of MON_GET_HADR are published, and no output of db2pd: it has all
// that 11.5 has, so it prints as 11.5 does.
const (
	V105 Version = "10.5"
	V111 Version = "11.1"
	V115 Version = "11.5" // the default
	V121 Version = "12.1"
)

// edition is what one version prints otherwise than the next. The behaviour of
// HADR that is simulated here is the same in all of them.
type edition struct {
	server  string // as CONNECT names it
	date    string // in the header of db2pd
	beats   bool   // HADR_FLAGS, HEARTBEAT_MISSED and _EXPECTED, spool and error lines
	flag    string // always among the flags
	history bool   // HADR_LAST_TAKEOVER_TIME
	tls     bool   // the certificate in the database configuration
	names   bool   // the check of its host name there
}

const isoDate = "2006-01-02-15.04.05.000000"

var editions = map[Version]edition{
	V105: {server: "10.5.0", date: "01/02/2006 15:04:05"},
	V111: {server: "11.1.0", date: isoDate, beats: true, tls: true},
	V115: {server: "11.5.8.0", date: isoDate, beats: true, flag: "TCP_PROTOCOL", history: true, tls: true, names: true},
	V121: {server: "12.1.4.0", date: isoDate, beats: true, flag: "TCP_PROTOCOL", history: true, tls: true, names: true},
}

func (v Version) check() error {
	if _, ok := editions[v]; !ok && v != "" {
		return fmt.Errorf("version %q of Db2: want %s, %s, %s or %s", string(v), V105, V111, V115, V121)
	}
	return nil
}

func (c InstanceConfig) edition() edition {
	if e, ok := editions[c.Version]; ok {
		return e
	}
	return editions[V115]
}
