package db2

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const null = "NULL"

// field is a line of db2pd -hadr. What does not apply has no line:
// https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-db2pd-monitor-troubleshoot-db2-engine-activities
type field [2]string

// sides is what a report says of primary and standby, in this order.
type sides struct {
	host, owner, member, log, date [2]string
	replay, replayDate             string
	gap, replayGap                 string
}

func (p report) fields() []field {
	s := p.sides()
	all := p.pair(s)
	all = append(all, p.contact()...)
	all = append(all, p.logs(s)...)
	all = append(all, p.spool()...)
	return append(all, p.end()...)
}

func (p report) sides() sides {
	them, theirOwner, theirMember := null, null, null
	if p.partner.known {
		them, theirOwner, theirMember = p.partner.host, p.partner.owner, "0"
	}
	theirLog, theirDate := null, null
	if p.partner.end > 0 {
		theirLog, theirDate = place(p.partner.end), p.date(p.partner.logTime)
	}
	s := sides{
		host:   [2]string{p.in.Hostname, them},
		owner:  [2]string{p.in.Owner, theirOwner},
		member: [2]string{"0", theirMember},
		log:    [2]string{place(p.ownEnd), theirLog},
		date:   [2]string{p.date(p.ownTime), theirDate},
		replay: null, replayDate: null, gap: null, replayGap: null,
	}
	primaryEnd, standbyEnd := p.ownEnd, p.partner.end
	if p.role == Standby {
		primaryEnd, standbyEnd = standbyEnd, primaryEnd
		for _, x := range []*[2]string{&s.host, &s.owner, &s.member, &s.log, &s.date} {
			x[0], x[1] = x[1], x[0]
		}
	}
	if primaryEnd > 0 && standbyEnd > 0 {
		s.gap = strconv.FormatInt(max(0, primaryEnd-standbyEnd), 10)
	}
	if p.replay.pos > 0 {
		s.replay, s.replayDate = place(p.replay.pos), p.date(p.replay.at)
		s.replayGap = strconv.FormatInt(max(0, standbyEnd-p.replay.pos), 10)
	}
	return s
}

// pair says who the two are and how they stand.
func (p report) pair(s sides) []field {
	id := "1"
	if p.role == Standby {
		id = "0"
	}
	fields := []field{
		{"HADR_ROLE", string(p.role)},
		{"REPLAY_TYPE", "PHYSICAL"},
		{"HADR_SYNCMODE", string(p.cfg.SyncMode)},
		{"STANDBY_ID", id},
		{"LOG_STREAM_ID", "0"},
		{"HADR_STATE", string(p.state)},
	}
	if p.in.edition().beats {
		fields = append(fields, field{"HADR_FLAGS", p.flags()})
	}
	return append(fields,
		field{"PRIMARY_MEMBER_HOST", s.host[0]},
		field{"PRIMARY_INSTANCE", s.owner[0]},
		field{"PRIMARY_MEMBER", s.member[0]},
		field{"STANDBY_MEMBER_HOST", s.host[1]},
		field{"STANDBY_INSTANCE", s.owner[1]},
		field{"STANDBY_MEMBER", s.member[1]},
		field{"HADR_CONNECT_STATUS", p.status},
		field{"HADR_CONNECT_STATUS_TIME", p.moment(p.statusSince)},
	)
}

func (p report) flags() string {
	var flags []string
	if p.full {
		flags = []string{"STANDBY_RECV_BLOCKED", "STANDBY_LOG_DEVICE_FULL"}
	}
	if f := p.in.edition().flag; f != "" {
		flags = append(flags, f)
	}
	return strings.Join(flags, " ")
}

// contact is heartbeats, and what the log waits for.
func (p report) contact() []field {
	fields := []field{{"HEARTBEAT_INTERVAL(seconds)", seconds(p.beat)}}
	if p.in.edition().beats {
		fields = append(fields,
			field{"HEARTBEAT_MISSED", strconv.Itoa(p.seen.missed)},
			field{"HEARTBEAT_EXPECTED", strconv.Itoa(p.seen.expected)},
		)
	}
	average := 0.0
	if p.waitCount > 0 {
		average = p.waitTotal.Seconds() / float64(p.waitCount)
	}
	return append(fields,
		field{"HADR_TIMEOUT(seconds)", strconv.Itoa(p.cfg.Timeout)},
		field{"TIME_SINCE_LAST_RECV(seconds)", seconds(p.silence)},
		field{"PEER_WAIT_LIMIT(seconds)", seconds(p.in.PeerWaitLimit.Duration())},
		field{"LOG_HADR_WAIT_CUR(seconds)", fmt.Sprintf("%.3f", p.wait.Seconds())},
		field{"LOG_HADR_WAIT_RECENT_AVG(seconds)", fmt.Sprintf("%.6f", average)},
		field{"LOG_HADR_WAIT_ACCUMULATED(seconds)", fmt.Sprintf("%.3f", p.waitTotal.Seconds())},
		field{"LOG_HADR_WAIT_COUNT", strconv.Itoa(p.waitCount)},
		field{"SOCK_SEND_BUF_REQUESTED,ACTUAL(bytes)", "0, 87040"},
		field{"SOCK_RECV_BUF_REQUESTED,ACTUAL(bytes)", "0, 369280"},
	)
}

func (p report) logs(s sides) []field {
	return []field{
		{"PRIMARY_LOG_FILE,PAGE,POS", s.log[0]},
		{"STANDBY_LOG_FILE,PAGE,POS", s.log[1]},
		{"HADR_LOG_GAP(bytes)", s.gap},
		{"STANDBY_REPLAY_LOG_FILE,PAGE,POS", s.replay},
		{"STANDBY_RECV_REPLAY_GAP(bytes)", s.replayGap},
		{"PRIMARY_LOG_TIME", s.date[0]},
		{"STANDBY_LOG_TIME", s.date[1]},
		{"STANDBY_REPLAY_LOG_TIME", s.replayDate},
	}
}

// spool is the standby's buffers. Without a limit, or without a spool, none of
// it is in use: NULL.
func (p report) spool() []field {
	used := "0"
	switch {
	case p.replay.pos == 0:
		used = null
	case p.full:
		used = "100"
	}
	fields := []field{
		{"STANDBY_RECV_BUF_SIZE(pages)", "512"},
		{"STANDBY_RECV_BUF_PERCENT", used},
		{"STANDBY_SPOOL_LIMIT(pages)", strconv.Itoa(p.cfg.SpoolLimit)},
	}
	if p.cfg.SpoolLimit <= 0 {
		used = null
	}
	if p.in.edition().beats {
		fields = append(fields, field{"STANDBY_SPOOL_PERCENT", used}, field{"STANDBY_ERROR_TIME", null})
	}
	return fields
}

// end is what may happen to the pair: window, takeover, reads.
func (p report) end() []field {
	fields := []field{{"PEER_WINDOW(seconds)", strconv.Itoa(p.cfg.PeerWindow)}}
	if p.cfg.PeerWindow > 0 {
		fields = append(fields, field{"PEER_WINDOW_END", p.moment(p.windowEnd.Truncate(time.Second))})
	}
	if p.takingOver {
		fields = append(fields,
			field{"TAKEOVER_APP_REMAINING_PRIMARY", strconv.Itoa(p.forcedOff)},
			field{"TAKEOVER_APP_REMAINING_STANDBY", "0"},
		)
	}
	if p.reads {
		// What needs a replay-only window is replayed in no time here.
		fields = append(fields, field{"READS_ON_STANDBY_ENABLED", "Y"}, field{"STANDBY_REPLAY_ONLY_WINDOW_ACTIVE", "N"})
	} else {
		fields = append(fields, field{"READS_ON_STANDBY_ENABLED", "N"})
	}
	if p.in.edition().history {
		fields = append(fields, field{"HADR_LAST_TAKEOVER_TIME", p.moment(p.cfg.LastTakeover.Truncate(time.Second))})
	}
	return fields
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
