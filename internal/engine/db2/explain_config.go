package db2

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// ConfigExplanation is what hadr reads in the output of `db2 get db cfg`.
type ConfigExplanation struct {
	// Config has the role, and the HADR parameters under their names in lower
	// case: null where one is not set, numbers where hadr counts with them.
	Config map[string]any `json:"config"`
}

// ExplainConfig reads the output of `db2 get db cfg`; ok is false if it names
// no role.
func ExplainConfig(output string) (x ConfigExplanation, ok bool) {
	c, ok := ParseDatabaseConfig(output)
	if !ok {
		return x, false
	}
	x.Config = map[string]any{"role": c.Role}
	for name, value := range c.Parameters {
		key := strings.ToLower(name)
		switch n := c.Number(name); {
		case value == "":
			x.Config[key] = nil
		case n != nil && (name == "HADR_TIMEOUT" || name == "HADR_PEER_WINDOW" || name == "HADR_REPLAY_DELAY"):
			x.Config[key] = *n
		default:
			x.Config[key] = value
		}
	}
	return x, true
}

// WriteText writes the explanation for a human.
func (x ConfigExplanation) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s %s\n%-18s %s\n", "role on disk", x.Config["role"],
		"meaning", "the role that the next start of the database takes; whether it runs is told by db2pd -hadr")
	names := make([]string, 0, len(x.Config))
	for name, value := range x.Config {
		if name != "role" && value != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%-18s %v\n", name, x.Config[name])
	}
	_, err := io.WriteString(w, b.String())
	return err
}
