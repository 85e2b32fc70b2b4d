package hosts

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// The services that a machine knows.
const (
	unitDb2   = "db2"        // the instance; activates its databases in the role on disk
	unitAgent = "hadr-agent" // if etc/hadr/agent.env exists
)

// restartDelay is RestartSec of hadr-agent.
const restartDelay = time.Second

// watchdog is WatchdogSec of hadr-agent. A process that is stopped can't feed
// it; more than that is not simulated.
const watchdog = 30 * time.Second

// stopTimeout is systemd's DefaultTimeoutStopSec.
const stopTimeout = 90 * time.Second

// service is a unit that was started.
type service struct {
	ctx    context.Context // ends when the unit is to stop
	cancel context.CancelFunc
	done   chan struct{}
}

func (m *machine) autostart() {
	for _, u := range []string{unitDb2, unitAgent} {
		if m.power.Err() == nil && m.enabled(u) && m.installed(u) {
			m.unit(m.power, "start", u)
		}
	}
}

func (m *machine) hasDb2() bool {
	_, err := db2.FindLayout(m.root)
	return err == nil
}

// installed reports whether the condition of a unit holds.
func (m *machine) installed(unit string) bool {
	if unit == unitDb2 {
		return m.hasDb2()
	}
	_, err := os.Stat(m.agentEnvFile())
	return err == nil
}

func (m *machine) agentEnvFile() string { return filepath.Join(m.root, "etc/hadr/agent.env") }

func (m *machine) disabledFile(unit string) string {
	return filepath.Join(m.root, "etc", unit+".disabled")
}

func (m *machine) enabled(unit string) bool {
	_, err := os.Stat(m.disabledFile(unit))
	return err != nil
}

// Unit implements Host.
func (m *machine) Unit(ctx context.Context, verb, unit string) (string, int) {
	return m.unit(ctx, verb, strings.TrimSuffix(unit, ".service"))
}

// unit does what systemctl does. Exit codes:
// https://www.freedesktop.org/software/systemd/man/latest/systemctl.html#Exit%20status
func (m *machine) unit(ctx context.Context, verb, unit string) (string, int) {
	if unit != unitDb2 && unit != unitAgent {
		if verb == "is-active" {
			return "inactive\n", 4
		}
		return "Unit " + unit + ".service could not be found.\n", 5
	}
	switch verb {
	case "start":
		return m.startUnit(ctx, unit)
	case "stop":
		m.stopUnit(ctx, unit)
	case "restart", "try-restart":
		m.stopUnit(ctx, unit)
		return m.startUnit(ctx, unit)
	case "is-active", "status":
		if m.unitActive(unit) {
			return "active\n", 0
		}
		return "inactive\n", 3
	case "is-enabled":
		if m.enabled(unit) {
			return "enabled\n", 0
		}
		return "disabled\n", 1
	case "enable", "unmask":
		_ = os.Remove(m.disabledFile(unit))
	case "disable", "mask":
		if err := os.WriteFile(m.disabledFile(unit), nil, 0o644); err != nil {
			return err.Error() + "\n", 1
		}
	case "kill":
		_, _ = m.Kill(ctx, m.processOf(unit))
	case "daemon-reload", "reset-failed":
	default:
		return "Unknown command verb '" + verb + "'.\n", 1
	}
	return "", 0
}

func (m *machine) processOf(unit string) string {
	if unit == unitDb2 {
		return "db2sysc"
	}
	return unit
}

func (m *machine) unitActive(unit string) bool { return len(m.named(m.processOf(unit))) > 0 }

func (m *machine) startUnit(ctx context.Context, unit string) (string, int) {
	switch {
	case !m.installed(unit):
		return "Unit " + unit + ".service was skipped because of an unmet condition check.\n", 0
	case unit == unitDb2:
		return m.startDb2(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.units[unit] != nil {
		return "", 0
	}
	s := &service{done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(m.power)
	m.units[unit] = s
	m.background(func() { m.supervise(s) })
	return "", 0
}

// startDb2 starts the instance; the databases are activated in the background,
// as their role on disk says.
func (m *machine) startDb2(ctx context.Context) (string, int) {
	select { // one start job at a time
	case m.starting <- struct{}{}:
		defer func() { <-m.starting }()
	case <-ctx.Done():
		return context.Cause(ctx).Error() + "\n", 1
	}
	if m.unitActive(unitDb2) {
		return "", 0
	}
	var out bytes.Buffer
	code := m.Exec(ctx, &Call{Args: []string{"db2start"}, Env: m.env(), Dir: m.root, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Clock: m.clock, Host: m})
	if code != 0 {
		return out.String(), 1
	}
	m.mu.Lock()
	power := m.power
	m.mu.Unlock()
	m.background(func() {
		if err := db2.ActivateAll(power, m.root, m); err != nil && power.Err() == nil {
			m.h.log.Warn("activate the databases", "instance", m.id(), "error", err)
		}
	})
	return "", 0
}

func (m *machine) stopUnit(ctx context.Context, unit string) {
	if unit == unitDb2 {
		m.stopDb2(ctx)
		return
	}
	m.mu.Lock()
	s := m.units[unit]
	delete(m.units, unit)
	m.mu.Unlock()
	if s != nil {
		s.cancel()
		<-s.done
	}
}

// stopDb2 runs db2stop, and kills what is left after a while.
func (m *machine) stopDb2(ctx context.Context) {
	procs := m.named("db2sysc")
	if len(procs) == 0 {
		return
	}
	bounded, cancel := clock.WithTimeout(ctx, m.h.world.Clock, stopTimeout)
	defer cancel()
	var out bytes.Buffer
	m.Exec(bounded, &Call{Args: []string{"db2stop"}, Env: m.env(), Dir: m.root, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Clock: m.clock, Host: m})
	for _, p := range procs {
		select {
		case <-p.done:
		case <-bounded.Done():
			p.kill()
		}
	}
}

// supervise keeps hadr-agent running until the unit stops.
func (m *machine) supervise(s *service) {
	defer close(s.done)
	for s.ctx.Err() == nil {
		p, err := m.h.exec.spawn(m, unitAgent, nil, m.agentEnv())
		if err != nil {
			m.h.log.Warn("start hadr-agent", "instance", m.id(), "error", err)
		} else {
			m.track(p)
			select {
			case <-p.done:
			case <-s.ctx.Done():
				m.endAgent(p)
				return
			}
		}
		if m.clock.Sleep(s.ctx, restartDelay) != nil {
			return
		}
	}
}

func (m *machine) endAgent(p *process) {
	p.term()
	t := m.h.world.Clock.AfterFunc(stopTimeout, p.kill)
	defer t.Stop()
	<-p.done
}

func (m *machine) agentEnv() []string {
	b, err := os.ReadFile(m.agentEnvFile())
	if err != nil {
		return nil
	}
	env := []string{"WATCHDOG_USEC=" + strconv.FormatInt(clock.Real(m.h.world.Clock, watchdog).Microseconds(), 10)}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.Contains(line, "=") && !strings.HasPrefix(line, "#") {
			env = append(env, strings.ReplaceAll(line, `"`, ""))
		}
	}
	return env
}
