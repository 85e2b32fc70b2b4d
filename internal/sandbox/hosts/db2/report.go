package db2

import (
	"fmt"
	"strings"
	"time"
)

// report is what db2pd -hadr knows about a database at one moment.
type report struct {
	cfg     Config
	in      InstanceConfig
	active  bool
	role    Role
	state   State
	started time.Time
	now     time.Time

	status      string
	statusSince time.Time
	beat        time.Duration
	seen        contact
	silence     time.Duration
	wait        time.Duration
	waitTotal   time.Duration
	waitCount   int

	ownEnd     int64
	ownTime    int64
	replay     mark // of the standby, whichever side this is
	partner    partner
	windowEnd  time.Time
	full       bool // the standby's log device
	reads      bool // on the standby
	takingOver bool
	forcedOff  int // applications that a takeover has still to force off
}

func (d *database) report() report {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.in.clock.Now()
	p := report{cfg: d.cfg, in: d.in.cfg, active: d.active(), now: now, beat: d.heartbeat(), ownEnd: d.end(), ownTime: d.logTime}
	if !p.active {
		return p
	}
	r := d.run
	p.role, p.state, p.started = r.role, r.state, r.started
	p.seen, p.partner, p.windowEnd = r.seen, r.partner, r.windowEnd
	p.wait, p.waitTotal, p.waitCount = r.logWait(now), r.waitTotal, r.waitCount
	p.takingOver, p.forcedOff = r.handing || r.surrendering, len(r.waits)
	p.status, p.statusSince = "DISCONNECTED", r.linkSince
	if r.link != nil {
		var since time.Time
		p.status, since = r.link.status(now)
		if !since.IsZero() {
			p.statusSince = since
		}
		p.silence = r.link.silence(now)
	} else if r.partner.known {
		p.silence = now.Sub(r.linkSince) + r.seen.silence
	}
	if r.role == Standby {
		p.replay, p.full, p.reads = d.replayed(r, now), d.in.levers.logFull(), d.in.cfg.ReadsOnStandby
	} else {
		p.replay, p.full, p.reads = r.partner.replay, r.partner.full, r.partner.reads
	}
	return p
}

// text prints a report as db2pd of the instance's version does.
func (p report) text() string {
	if !p.active {
		return fmt.Sprintf(notActiveText, p.cfg.Database)
	}
	up := p.now.Sub(p.started)
	var b strings.Builder
	fmt.Fprintf(&b, "\nDatabase Member 0 -- Database %s -- %s -- Up %d days %02d:%02d:%02d -- Date %s\n\n", p.cfg.Database, p.header(),
		up/(24*time.Hour), up/time.Hour%24, up/time.Minute%60, up/time.Second%60, p.now.Format(p.in.edition().date))
	if p.role == Standard {
		b.WriteString("HADR is not active.\n")
		return b.String()
	}
	for _, f := range p.fields() {
		// The key is right-aligned in 37 characters.
		fmt.Fprintf(&b, "%37s = %s\n", f[0], f[1])
	}
	return b.String()
}

// header is the status of the database in the first line.
func (p report) header() string {
	switch {
	case p.role == Standby && p.reads:
		return "Active Standby"
	case p.role == Standby:
		return "Standby"
	}
	return "Active"
}

// dates are the human-readable forms of a date, which follow the locale.
var dates = map[string]string{
	"":      "01/02/2006 15:04:05",
	"en_US": "01/02/2006 15:04:05",
	"en_GB": "02-01-2006 15:04:05",
	"de_DE": "02.01.2006 15:04:05",
	"ja_JP": "2006/01/02 15:04:05",
	"ISO":   "2006-01-02-15.04.05",
}

func (c InstanceConfig) dates() string {
	if layout, ok := dates[c.Locale]; ok {
		return layout
	}
	return dates[""]
}

// moment is a time as db2pd prints it, with its epoch in parentheses.
func (p report) moment(t time.Time) string {
	if t.IsZero() {
		return null
	}
	return fmt.Sprintf("%s (%d)", t.UTC().Format(p.in.dates()+".000000"), t.Unix())
}

func (p report) date(unix int64) string {
	if unix == 0 {
		return null
	}
	return p.moment(time.Unix(unix, 0))
}

const notActiveText = `
Database %s not activated on database member 0 or this database name cannot be found in the local database directory.

Option -hadr requires -db <database> or -alldbs option and active database.
`

const instanceDownText = `Unable to attach to database manager on member 0.
Please ensure the following are true:
   - db2start has been run for the member.
   - db2pd is being run on the same physical machine as the member.
   - DB2NODE environment variable setting is correct for the member
     or db2pd -mem setting is correct for the member.
Another possibility of this failure is the Virtual Address Space Randomization is currently enabled on this system.
`
