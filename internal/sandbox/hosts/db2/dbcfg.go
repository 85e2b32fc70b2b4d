package db2

import (
	"fmt"
	"strconv"
	"strings"
)

// automaticSpool is what HADR_SPOOL_LIMIT AUTOMATIC comes to, in pages.
const automaticSpool = 13000

// text is the HADR part of GET DATABASE CONFIGURATION.
func (c Config) text(e edition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n       Database Configuration for Database %s\n\n", c.Database)
	line := func(what, name, value string) {
		if name != "" {
			name = "(" + name + ")"
		}
		fmt.Fprintf(&b, " %-*s%s = %s\n", 55-len(name), what, name, value)
	}
	pending := "NO"
	if c.RollforwardPending {
		pending = "DATABASE"
	}
	line("Rollforward pending", "", pending)
	line("First active log file", "", "S0000001.LOG")
	line("HADR database role", "", string(c.Role))
	line("HADR local host name", "HADR_LOCAL_HOST", c.LocalHost)
	line("HADR local service name", "HADR_LOCAL_SVC", strconv.Itoa(c.LocalPort))
	line("HADR remote host name", "HADR_REMOTE_HOST", c.RemoteHost)
	line("HADR remote service name", "HADR_REMOTE_SVC", strconv.Itoa(c.RemotePort))
	line("HADR instance name of remote server", "HADR_REMOTE_INST", c.RemoteOwner)
	line("HADR timeout value", "HADR_TIMEOUT", strconv.Itoa(c.Timeout))
	line("HADR target list", "HADR_TARGET_LIST", "")
	line("HADR log write synchronization mode", "HADR_SYNCMODE", string(c.SyncMode))
	line("HADR spool log data limit (4KB)", "HADR_SPOOL_LIMIT", c.spoolText())
	line("HADR log replay delay (seconds)", "HADR_REPLAY_DELAY", strconv.Itoa(c.ReplayDelay))
	line("HADR peer window duration (seconds)", "HADR_PEER_WINDOW", strconv.Itoa(c.PeerWindow))
	if e.tls {
		line("HADR SSL certificate label", "HADR_SSL_LABEL", "")
	}
	if e.names {
		line("HADR SSL Hostname Validation", "HADR_SSL_HOST_VAL", "OFF")
	}
	return b.String()
}

func (c Config) spoolText() string {
	if c.SpoolSet {
		return strconv.Itoa(c.SpoolLimit)
	}
	return fmt.Sprintf("AUTOMATIC(%d)", c.SpoolLimit)
}

// updateConfig is UPDATE DATABASE CONFIGURATION. HADR parameters take effect
// when the database or HADR starts next.
func (d *database) updateConfig(sets map[string]string) reply {
	bad := ""
	d.configure(func(c *Config) {
		next := *c
		for name, value := range sets {
			if !next.set(name, value) {
				bad = name
				return
			}
		}
		*c = next
	})
	if bad != "" {
		return failure(`SQL5112N  The value of the configuration parameter "%s" is not valid.`, strings.ToLower(bad))
	}
	return succeeded("UPDATE DATABASE CONFIGURATION")
}

func (c *Config) set(name, value string) bool {
	number := func(to *int) bool {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return false
		}
		*to = n
		return true
	}
	text := value
	if strings.EqualFold(value, "NULL") {
		text = ""
	}
	switch strings.ToUpper(name) {
	case "HADR_LOCAL_HOST":
		c.LocalHost = text
	case "HADR_LOCAL_SVC":
		return number(&c.LocalPort)
	case "HADR_REMOTE_HOST":
		c.RemoteHost = text
	case "HADR_REMOTE_SVC":
		return number(&c.RemotePort)
	case "HADR_REMOTE_INST":
		c.RemoteOwner = text
	case "HADR_TIMEOUT":
		return number(&c.Timeout)
	case "HADR_PEER_WINDOW":
		return number(&c.PeerWindow)
	case "HADR_REPLAY_DELAY":
		return number(&c.ReplayDelay)
	case "HADR_SPOOL_LIMIT":
		return c.setSpool(value)
	case "HADR_SYNCMODE":
		m := SyncMode(strings.ToUpper(value))
		if m != Sync && m != NearSync && m != Async && m != SuperAsync {
			return false
		}
		c.SyncMode = m
	case "LOGINDEXBUILD":
		c.NoIndexBuild = !strings.EqualFold(value, "ON")
	default:
		return false
	}
	return true
}

func (c *Config) setSpool(value string) bool {
	if strings.EqualFold(value, "AUTOMATIC") {
		c.SpoolLimit, c.SpoolSet = automaticSpool, false
		return true
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < -1 {
		return false
	}
	c.SpoolLimit, c.SpoolSet = n, true
	return true
}
