package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// stopping is what a person, or the unit of the database, runs before a stop
// in order: nothing that Db2 prints afterwards tells it from a crash.
func stopping(n *node) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:   "stopping",
		Short: "Say that the database is stopped on purpose, so that nobody takes it over (R6)",
		Long: "Marks this node: its database is about to be stopped in order, for example for a patch. The lease is then\n" +
			"suspended and its end is no sign of a failure. The mark goes when the database is active again.\n" +
			"Run it as root before db2stop, or as ExecStop= of the database's own unit. The group is that of\n" +
			configuration + ", unless it is named.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := clock.FromEnv(os.Getenv)
			if err != nil {
				return err
			}
			root := os.Getenv("HADR_ROOT")
			if n.group == "" {
				n.group = configuredGroup(root)
			}
			return n.mark(root, reason, c.Now())
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	return cmd
}

// configuration is what the agent's own unit reads, and no other unit or shell.
const configuration = "/etc/hadr/agent.env"

// configuredGroup is the group of this host's agent, "" if it has none.
func configuredGroup(root string) string {
	text, err := os.ReadFile(filepath.Join(root, configuration))
	if err != nil {
		return ""
	}
	group := ""
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "HADR_GROUP="); ok { // as systemd, the last one counts
			group = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return group
}

// groupName is what may stand in the path of a group.
var groupName = regexp.MustCompile(`^[a-z][a-z0-9-]{1,30}$`)

func (n node) mark(root, reason string, now time.Time) error {
	if !groupName.MatchString(n.group) {
		return fmt.Errorf("group %q: give --group, or HADR_GROUP in %s, the name of the group", n.group, configuration)
	}
	dir := filepath.Join(root, "/var/lib/hadr", n.group)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("marking the stop of group %s: %w: run it as root", n.group, err)
	}
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" {
		who = by
	}
	text := fmt.Sprintf("by %s at %s", who, now.UTC().Format(time.RFC3339))
	if reason = strings.Join(strings.Fields(reason), " "); reason != "" {
		text = reason + ", " + text
	}
	file := filepath.Join(dir, "stopped")
	if err := os.WriteFile(file+".tmp", []byte(text+"\n"), 0o644); err != nil {
		return fmt.Errorf("marking the stop of group %s: %w: run it as root", n.group, err)
	}
	return os.Rename(file+".tmp", file)
}
