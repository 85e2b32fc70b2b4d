package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// vow is a file of the node: what systemd has to fence if the agent hangs.
type vow struct{ file string }

// vowed is what it holds.
type vowed struct {
	Engine   string            `json:"engine"`
	Settings map[string]string `json:"settings"`
	Limit    time.Duration     `json:"limit_ns"`
}

func (n node) vow(root string) vow {
	return vow{filepath.Join(root, "/var/lib/hadr", n.group, "self-fence")}
}

// Keep implements agent.Vow.
func (v vow) Keep(engine string, settings map[string]string, limit time.Duration) error {
	text, err := json.Marshal(vowed{engine, settings, limit})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(v.file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(v.file+".tmp", text, 0o600)
	}
	if err == nil {
		err = os.Rename(v.file+".tmp", v.file)
	}
	if err != nil {
		return fmt.Errorf("keeping what has to be fenced: %w", err)
	}
	return nil
}

// Lift implements agent.Vow.
func (v vow) Lift() error {
	if err := os.Remove(v.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lifting what has to be fenced: %w", err)
	}
	return nil
}

// hung is what systemd calls the end of a service that did not feed its watchdog
// (https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html).
const hung = "watchdog"

// fenceCommand is ExecStopPost= of the agent's unit.
func fenceCommand(n *node) *cobra.Command {
	return &cobra.Command{
		Use:   "fence",
		Short: "End the database of a primary that fences itself, after its agent has hung",
		Long: "The unit of hadr-agent runs this after each end of the agent. It does nothing unless systemd's watchdog ended it\n" +
			"(SERVICE_RESULT=watchdog) and this node held the lease of a group whose primary fences itself (self_fencing).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := clock.FromEnv(os.Getenv)
			if err != nil || os.Getenv("SERVICE_RESULT") != hung {
				return err
			}
			return n.vow(os.Getenv("HADR_ROOT")).fulfil(cmd.Context(), func(kind string) (agent.Database, error) { return n.database(kind, c) })
		},
	}
}

// fulfil does what the agent can't do any more.
func (v vow) fulfil(ctx context.Context, open func(engine string) (agent.Database, error)) error {
	text, err := os.ReadFile(v.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var what vowed
	if err == nil {
		err = json.Unmarshal(text, &what)
	}
	if err != nil {
		return fmt.Errorf("reading what has to be fenced: %w: stop the database by hand", err)
	}
	database, err := open(what.Engine)
	if err != nil {
		return err
	}
	fencer, ok := database.(agent.Fencer)
	if !ok {
		return fmt.Errorf("the engine %s can't fence itself: stop the database by hand", what.Engine)
	}
	if _, err := fencer.Fence(ctx, what.Settings, what.Limit); err != nil {
		return fmt.Errorf("%w: stop the database by hand", err)
	}
	return v.Lift()
}
