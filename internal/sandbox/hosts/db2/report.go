package db2

import (
	"fmt"
	"strconv"
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

	ownEnd    int64
	ownTime   int64
	partner   partner
	windowEnd time.Time
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
	p.role, p.state, p.started, p.statusSince = r.role, r.state, r.started, r.linkSince
	p.seen, p.partner, p.windowEnd = r.seen, r.partner, r.windowEnd
	p.wait, p.waitTotal, p.waitCount = r.logWait(now), r.waitTotal, r.waitCount
	p.status = "DISCONNECTED"
	if r.link != nil {
		p.status, p.silence = r.link.status(now), r.link.silence(now)
	} else if r.partner.known {
		p.silence = now.Sub(r.linkSince) + r.seen.silence
	}
	return p
}

// text prints a report as db2pd 11.5.8 does.
func (p report) text() string {
	if !p.active {
		return fmt.Sprintf(notActiveText, p.cfg.Database)
	}
	status := "Active"
	if p.role == Standby {
		status = "Standby"
	}
	up := p.now.Sub(p.started)
	var b strings.Builder
	fmt.Fprintf(&b, "\nDatabase Member 0 -- Database %s -- %s -- Up %d days %02d:%02d:%02d -- Date %s\n\n", p.cfg.Database, status,
		up/(24*time.Hour), up/time.Hour%24, up/time.Minute%60, up/time.Second%60, p.now.Format("2006-01-02-15.04.05.000000"))
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

const null = "NULL"

func (p report) fields() [][2]string {
	standbyID := "1"
	me, them := p.in.Hostname, null
	theirOwner, theirMember := null, null
	if p.partner.known {
		them, theirOwner, theirMember = p.partner.host, p.partner.owner, "0"
	}
	primary, standby := [3]string{me, p.in.Owner, "0"}, [3]string{them, theirOwner, theirMember}
	ends := [2]string{place(p.ownEnd), null}
	times := [2]string{p.date(p.ownTime), null}
	gap, replayGap, percent := null, null, null
	if p.partner.known && p.partner.end > 0 {
		ends[1], times[1] = place(p.partner.end), p.date(p.partner.logTime)
		gap, replayGap, percent = strconv.FormatInt(max(0, p.ownEnd-p.partner.end), 10), "0", "0"
	}
	if p.role == Standby {
		standbyID = "0"
		primary, standby = standby, primary
		ends[0], ends[1] = ends[1], ends[0]
		times[0], times[1] = times[1], times[0]
		if p.partner.end > 0 {
			gap = strconv.FormatInt(max(0, p.partner.end-p.ownEnd), 10)
		}
		replayGap, percent = "0", "0"
	}
	average := 0.0
	if p.waitCount > 0 {
		average = p.waitTotal.Seconds() / float64(p.waitCount)
	}
	fields := [][2]string{
		{"HADR_ROLE", string(p.role)},
		{"REPLAY_TYPE", "PHYSICAL"},
		{"HADR_SYNCMODE", string(p.cfg.SyncMode)},
		{"STANDBY_ID", standbyID},
		{"LOG_STREAM_ID", "0"},
		{"HADR_STATE", string(p.state)},
		{"HADR_FLAGS", "TCP_PROTOCOL"},
		{"PRIMARY_MEMBER_HOST", primary[0]},
		{"PRIMARY_INSTANCE", primary[1]},
		{"PRIMARY_MEMBER", primary[2]},
		{"STANDBY_MEMBER_HOST", standby[0]},
		{"STANDBY_INSTANCE", standby[1]},
		{"STANDBY_MEMBER", standby[2]},
		{"HADR_CONNECT_STATUS", p.status},
		{"HADR_CONNECT_STATUS_TIME", p.moment(p.statusSince)},
		{"HEARTBEAT_INTERVAL(seconds)", seconds(p.beat)},
		{"HEARTBEAT_MISSED", strconv.Itoa(p.seen.missed)},
		{"HEARTBEAT_EXPECTED", strconv.Itoa(p.seen.expected)},
		{"HADR_TIMEOUT(seconds)", strconv.Itoa(p.cfg.Timeout)},
		{"TIME_SINCE_LAST_RECV(seconds)", seconds(p.silence)},
		{"PEER_WAIT_LIMIT(seconds)", "0"},
		{"LOG_HADR_WAIT_CUR(seconds)", fmt.Sprintf("%.3f", p.wait.Seconds())},
		{"LOG_HADR_WAIT_RECENT_AVG(seconds)", fmt.Sprintf("%.6f", average)},
		{"LOG_HADR_WAIT_ACCUMULATED(seconds)", fmt.Sprintf("%.3f", p.waitTotal.Seconds())},
		{"LOG_HADR_WAIT_COUNT", strconv.Itoa(p.waitCount)},
		{"SOCK_SEND_BUF_REQUESTED,ACTUAL(bytes)", "0, 87040"},
		{"SOCK_RECV_BUF_REQUESTED,ACTUAL(bytes)", "0, 369280"},
		{"PRIMARY_LOG_FILE,PAGE,POS", ends[0]},
		{"STANDBY_LOG_FILE,PAGE,POS", ends[1]},
		{"HADR_LOG_GAP(bytes)", gap},
		{"STANDBY_REPLAY_LOG_FILE,PAGE,POS", ends[1]},
		{"STANDBY_RECV_REPLAY_GAP(bytes)", replayGap},
		{"PRIMARY_LOG_TIME", times[0]},
		{"STANDBY_LOG_TIME", times[1]},
		{"STANDBY_REPLAY_LOG_TIME", times[1]},
		{"STANDBY_RECV_BUF_SIZE(pages)", "512"},
		{"STANDBY_RECV_BUF_PERCENT", percent},
		{"STANDBY_SPOOL_LIMIT(pages)", strconv.Itoa(p.cfg.SpoolLimit)},
		{"STANDBY_SPOOL_PERCENT", percent},
		{"STANDBY_ERROR_TIME", null},
	}
	if p.cfg.PeerWindow > 0 {
		fields = append(fields, [2]string{"PEER_WINDOW(seconds)", strconv.Itoa(p.cfg.PeerWindow)},
			[2]string{"PEER_WINDOW_END", p.moment(p.windowEnd.Truncate(time.Second))})
	} else {
		fields = append(fields, [2]string{"PEER_WINDOW(seconds)", "0"})
	}
	return append(fields, [2]string{"READS_ON_STANDBY_ENABLED", "N"},
		[2]string{"HADR_LAST_TAKEOVER_TIME", p.moment(p.cfg.LastTakeover.Truncate(time.Second))})
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// dates are the human-readable forms of a date, which follow the locale.
var dates = map[string]string{
	"":      "01/02/2006 15:04:05.000000",
	"en_US": "01/02/2006 15:04:05.000000",
	"en_GB": "02-01-2006 15:04:05.000000",
	"de_DE": "02.01.2006 15:04:05.000000",
	"ja_JP": "2006/01/02 15:04:05.000000",
	"ISO":   "2006-01-02-15.04.05.000000",
}

// moment is a time as db2pd prints it, with its epoch in parentheses.
func (p report) moment(t time.Time) string {
	if t.IsZero() {
		return null
	}
	layout, ok := dates[p.in.Locale]
	if !ok {
		layout = dates[""]
	}
	return fmt.Sprintf("%s (%d)", t.UTC().Format(layout), t.Unix())
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
