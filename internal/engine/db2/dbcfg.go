package db2

import (
	"regexp"
	"strconv"
	"strings"
)

// DatabaseConfig is the HADR part of `get db cfg`: the role that a restart
// will use, also while the database is offline.
type DatabaseConfig struct {
	Role       string // "PRIMARY", "STANDBY", "STANDARD"
	Parameters map[string]string
}

// Number returns a parameter as a number, nil if it is none.
func (c DatabaseConfig) Number(parameter string) *int64 {
	n, err := strconv.ParseInt(c.Parameters[parameter], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

var cfgLine = regexp.MustCompile(`^\s*HADR .*?(?:\((HADR_[A-Z_]+)\))?\s*=\s*(.*?)\s*$`)

// ParseDatabaseConfig reads the output of `get db cfg`; ok is false if it
// names no role.
func ParseDatabaseConfig(output string) (c DatabaseConfig, ok bool) {
	c.Parameters = map[string]string{}
	for _, line := range strings.Split(output, "\n") {
		m := cfgLine.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] != "":
			c.Parameters[m[1]] = m[2]
		case strings.Contains(line, "HADR database role"):
			c.Role = m[2]
		}
	}
	return c, c.Role != ""
}
