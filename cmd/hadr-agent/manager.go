package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// manager is systemd, which starts this process and watches over it
// (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html).
type manager struct {
	watchdog time.Duration // 0 = none
	clock    clock.Clock
}

func newManager(c clock.Clock) (manager, error) {
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return manager{}, fmt.Errorf("reading WATCHDOG_USEC, which systemd sets: %w", err)
	}
	return manager{watchdog: watchdog, clock: c}, nil
}

// tell says at once that the process is ready: an agent whose declaration can't
// be read yet works, too. Then it feeds the watchdog as long as every loop
// lives, and shows a line of status.
func (m manager) tell(ctx context.Context, a *agent.Agent) {
	_, _ = daemon.SdNotify(false, daemon.SdNotifyReady)
	pause := tellPause
	if m.watchdog > 0 {
		pause = min(pause, m.watchdog/3)
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		status := a.Status().Line()
		state := "STATUS=" + status
		if err := a.Alive(); err != nil {
			state = "STATUS=hangs: " + err.Error()
		} else if m.watchdog > 0 {
			state += "\n" + daemon.SdNotifyWatchdog
		}
		_, _ = daemon.SdNotify(false, state)
		select {
		case <-ctx.Done():
			_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
			return
		case <-ticker.C:
		}
	}
}
