package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// vow is a file of the node: what has to be fenced if the agent hangs, or can't
// read the record after a start. It lies where a reboot, which ends every
// database, takes it away
// (https://www.freedesktop.org/software/systemd/man/latest/file-hierarchy.html#/run/),
// and where no disk that hangs keeps an agent from its fence.
type vow struct {
	file   string
	clock  clock.Clock
	uptime func() (time.Duration, error) // of the host
}

// vowed is what it holds.
type vowed struct {
	Engine   string            `json:"engine"`
	Settings map[string]string `json:"settings"`
	Limit    time.Duration     `json:"limit_ns"`
	// Due is when the fence begins, counted from the start of the host: no
	// correction moves that clock, and each agent reads the same one.
	Due time.Duration `json:"due_ns"`
}

func (n node) vow(root string, c clock.Clock) vow {
	return vow{filepath.Join(root, "/run/hadr", n.group, "self-fence"), c, uptime}
}

// uptime is how long this host has been running, suspended or not
// (https://man7.org/linux/man-pages/man5/proc_uptime.5.html).
func uptime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/uptime: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// Keep implements agent.Vow.
func (v vow) Keep(p agent.Promise) error {
	up, err := v.uptime()
	if err == nil {
		err = v.write(vowed{p.Engine, p.Settings, p.Limit, up + clock.Real(v.clock, p.Left)})
	}
	if err != nil {
		return fmt.Errorf("keeping what has to be fenced: %w", err)
	}
	return nil
}

func (v vow) write(what vowed) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(v.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(v.file+".tmp", text, 0o600); err != nil {
		return err
	}
	return os.Rename(v.file+".tmp", v.file)
}

// Kept implements agent.Vow.
func (v vow) Kept() (*agent.Promise, error) {
	text, err := os.ReadFile(v.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing has to be fenced
	}
	var what vowed
	if err == nil {
		err = json.Unmarshal(text, &what)
	}
	var up time.Duration
	if err == nil {
		up, err = v.uptime()
	}
	if err != nil {
		return nil, fmt.Errorf("reading what has to be fenced: %w", err)
	}
	return &agent.Promise{Engine: what.Engine, Settings: what.Settings, Limit: what.Limit, Left: clock.Virtual(v.clock, what.Due-up)}, nil
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
			return n.vow(os.Getenv("HADR_ROOT"), c).fulfil(cmd.Context(), func(kind string) (agent.Database, error) { return n.database(kind, c) })
		},
	}
}

// fulfil does what the agent can't do any more, at once: how long it has hung is
// not known.
func (v vow) fulfil(ctx context.Context, open func(engine string) (agent.Database, error)) error {
	promise, err := v.Kept()
	if err != nil {
		return fmt.Errorf("%w: stop the database by hand", err)
	}
	if promise == nil {
		return nil
	}
	if _, err := promise.Fulfil(ctx, open); err != nil {
		return fmt.Errorf("%w: stop the database by hand", err)
	}
	return v.Lift()
}
