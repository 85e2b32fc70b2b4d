package db2

import (
	"context"
)

// activate is ACTIVATE DATABASE, and what a connection to an inactive primary
// does.
func (d *database) activate(ctx context.Context, explicit bool) reply {
	if err := d.acquire(ctx); err != nil {
		return msgGone
	}
	defer d.release()
	d.mu.Lock()
	active, cfg := d.run != nil, d.cfg
	again := active && d.run.explicit
	if active {
		d.run.explicit = again || explicit
	}
	d.mu.Unlock()
	switch {
	case again:
		return msgActivated
	case active:
		return msgConnected
	case cfg.RollforwardPending:
		return rollforwardPending(cfg.Database)
	case cfg.OldPrimary && cfg.Role == Primary:
		return msgOldPrimary
	}
	if bad := d.open(ctx, cfg.Role, false); bad.Code != codeOK {
		return bad
	}
	d.asked(explicit)
	return succeeded("ACTIVATE DATABASE")
}

// asked notes whether a command opened the database, or a connection.
func (d *database) asked(explicit bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != nil {
		d.run.explicit = explicit
	}
}

// open starts the database in a role. The administrative lock is held.
func (d *database) open(ctx context.Context, role Role, forced bool) reply {
	if role != Standard && !d.cfg.complete() {
		return startRefused(8)
	}
	switch role {
	case Primary:
		return d.startPrimary(ctx, forced)
	case Standby:
		if err := d.startStandby(true); err != nil {
			return failure("SQL1768N  Unable to start HADR. Reason code = \"5\". %v", err)
		}
		return reply{}
	}
	r := d.newRun(Standard)
	d.mu.Lock()
	d.run = r
	d.touch()
	d.mu.Unlock()
	return reply{}
}

// deactivate is DEACTIVATE DATABASE. On a primary it writes a log record,
// which reaches the standby only if deliver is set.
func (d *database) deactivate(ctx context.Context, deliver bool) reply {
	d.cancelStart()
	if err := d.acquire(ctx); err != nil {
		return msgGone
	}
	defer d.release()
	d.mu.Lock()
	r := d.run
	if r == nil {
		d.mu.Unlock()
		return msgDeactivated
	}
	last := record{at: d.in.clock.Now().Unix(), kind: deactivateRecord}
	if r.role == Primary && deliver {
		if _, err := d.append(r, last); err != nil {
			d.in.diag("%v", err)
		}
	}
	d.mu.Unlock()
	d.sayGoodbye(r)
	d.mu.Lock()
	if r.role == Primary {
		err := d.writeOut(r)
		if err == nil && !deliver {
			err = d.log.append(last.encode())
		}
		if err != nil {
			d.in.diag("%v", err)
		}
	}
	d.mu.Unlock()
	d.stop(r)
	return succeeded("DEACTIVATE DATABASE")
}

// cancelStart ends the wait of a primary for its standby: its start fails with
// SQL1768N reason 10.
func (d *database) cancelStart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != nil && d.run.waiting {
		d.run.cancel()
	}
}

// startHADR is START HADR AS STANDBY and AS PRIMARY [BY FORCE].
func (d *database) startHADR(ctx context.Context, role Role, forced bool) reply {
	if err := d.acquire(ctx); err != nil {
		return msgGone
	}
	defer d.release()
	d.mu.Lock()
	r, cfg := d.run, d.cfg
	d.mu.Unlock()
	switch {
	case !cfg.complete():
		return startRefused(8)
	case r != nil && cfg.Role == role:
		return msgHADRStarted
	case role == Standby && r != nil, // a primary is online: deactivate or take over instead
		role == Standby && cfg.Role == Standard && !cfg.RollforwardPending,
		role == Primary && cfg.Role == Standby:
		return msgCannotStart
	case role == Primary && cfg.RollforwardPending:
		return rollforwardPending(cfg.Database)
	case role == Primary && cfg.OldPrimary && !forced:
		return msgOldPrimary
	}
	if r != nil { // a standard database stays online
		d.stop(r)
	}
	d.configure(func(c *Config) {
		c.WasPrimary = c.WasPrimary || role == Standby && c.Role == Primary
		c.Role, c.RollforwardPending = role, false
		c.OldPrimary = false
	})
	if bad := d.open(ctx, role, forced); bad.Code != codeOK {
		if cfg.Role == Standard {
			d.configure(func(c *Config) { c.Role = Standard })
		}
		return bad
	}
	d.asked(true)
	if cfg.NoIndexBuild {
		return msgNoIndexBuild
	}
	return succeeded("START HADR ON DATABASE")
}

// stopHADR is STOP HADR.
func (d *database) stopHADR(ctx context.Context) reply {
	d.cancelStart()
	if err := d.acquire(ctx); err != nil {
		return msgGone
	}
	defer d.release()
	d.mu.Lock()
	r, role := d.run, d.cfg.Role
	d.mu.Unlock()
	switch {
	case role == Standard:
		return msgStopStandard
	case role == Standby && r != nil:
		return msgStopActive
	case role == Standby:
		d.configure(func(c *Config) { c.Role, c.RollforwardPending = Standard, true })
		return succeeded("STOP HADR ON DATABASE")
	}
	if r != nil {
		d.sayGoodbye(r)
		d.stop(r)
	}
	d.configure(func(c *Config) { c.Role, c.OldPrimary = Standard, false })
	if r != nil {
		d.open(ctx, Standard, false)
	}
	return succeeded("STOP HADR ON DATABASE")
}
