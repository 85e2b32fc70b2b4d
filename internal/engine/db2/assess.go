package db2

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// windowMargin is Db2's own: it refuses BY FORCE PEER WINDOW ONLY when less is
// left of the window
// (https://www.ibm.com/docs/en/db2/11.5?topic=commands-takeover-hadr).
const windowMargin = 5 * time.Second

// takeoverLimit is how long the takeover document lets a takeover run, and what
// its host may add to that. After it a mark of one is left behind.
const takeoverLimit = 16 * time.Minute

// missedBeats is how many heartbeats of a partner may be missing before it
// counts as lost: one may be on its way.
const missedBeats = 2

// logWait is how long a primary's log may wait for its standby before that
// explains slow commits (R4).
const logWait = time.Second

// windowOpen reports whether Db2 accepts BY FORCE PEER WINDOW ONLY at now, on
// the standby's clock.
func windowOpen(h HADR, now time.Time) bool {
	return unprotected(h) == "" && !h.PeerWindowEnd.IsZero() && !now.Add(windowMargin).After(h.PeerWindowEnd)
}

// unprotected says why no window protects a standby, "" if one does.
func unprotected(h HADR) string {
	switch {
	case h.SyncMode != "SYNC" && h.SyncMode != "NEARSYNC":
		return fmt.Sprintf("HADR_SYNCMODE %s has no peer window, so commits may be missing", h.SyncMode)
	case h.State != "PEER" && h.State != "DISCONNECTED_PEER":
		return fmt.Sprintf("in state %s commits may be missing", h.State)
	}
	return ""
}

// assess fills in what db2pd's output tells about a node.
func assess(o *failover.Observation, s Settings, report Report) {
	o.HostTime = report.HostTime
	if report.Hung { // whatever the login printed before
		o.Answer, o.AnswerError = failover.Silent, "db2pd gave no answer in time"
		return
	}
	if ran := report.HostTime.Sub(report.Takeover); !report.Takeover.IsZero() && ran >= 0 && ran < takeoverLimit {
		unreadable(o, fmt.Sprintf("a takeover runs on it for %s: its role may change at any moment", ran.Round(time.Second)))
		return
	}
	found, err := ParseHADR(report.DB2PD)
	if err != nil {
		assessTrouble(o, s, report, err)
		return
	}
	i := slices.IndexFunc(found, func(db HADRDatabase) bool { return strings.EqualFold(db.Name, s.Database) })
	if i < 0 {
		unreadable(o, fmt.Sprintf("db2pd says nothing about database %s", s.Database))
		return
	}
	o.Answer, o.Database = failover.Answered, failover.DatabaseActive
	main := principal(found[i].Blocks)
	o.State, o.SyncMode, o.PartnerStatus = main.State, main.SyncMode, main.ConnectStatus
	o.PartnerSilence, o.PartnerLost = partner(main, o.HostTime)
	o.SettingsDiffer = s.differ(main)
	switch main.Role {
	case "PRIMARY":
		o.Role, o.Position = failover.RolePrimary, pos(main.PrimaryLog)
		o.Fitness, o.FitnessWhy = failover.Unfit, "it is primary already"
		o.WaitsForStandby = slices.ContainsFunc(found[i].Blocks, waits)
		if unprotected(main) == "" { // R16: then a primary without its standby may go on by itself
			o.BlockedUntil = main.PeerWindowEnd
		}
	case "STANDBY":
		o.Role, o.Position = failover.RoleStandby, pos(main.StandbyLog)
		assessStandby(o, s, found[i].Blocks)
	default:
		unreadable(o, fmt.Sprintf("HADR_ROLE %q is not known", main.Role))
	}
}

func unreadable(o *failover.Observation, why string) {
	o.Answer, o.AnswerError = failover.Unreadable, why
}

// principal is the block that speaks for the database: on a primary that of
// the principal standby, whose number is 1; a standby prints only its own.
func principal(blocks []HADR) HADR {
	for _, b := range blocks {
		if b.Role == "PRIMARY" && deref(b.StandbyID) == 1 {
			return b
		}
	}
	return blocks[0]
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func pos(p *LogPosition) uint64 {
	if p == nil {
		return 0
	}
	return p.Pos
}

// partner says for how long the partner is silent, and whether it counts as
// lost. A dead host leaves the status at CONNECTED until HADR_TIMEOUT.
func partner(h HADR, now time.Time) (silence time.Duration, lost bool) {
	silence = time.Duration(deref(h.SinceLastRecv)) * time.Second
	if h.ConnectStatus == "DISCONNECTED" {
		if !h.ConnectStatusTime.IsZero() && !now.IsZero() {
			silence = max(silence, now.Sub(h.ConnectStatusTime))
		}
		return silence, true
	}
	if h.Role == "STANDBY" && slices.Contains(h.Flags, "STANDBY_LOG_DEVICE_FULL") {
		return silence, false // who can't write what came reads no further: the silence is its own
	}
	beat := time.Duration(deref(h.HeartbeatInterval)) * time.Second
	timeout := time.Duration(deref(h.Timeout)) * time.Second
	return silence, beat > 0 && silence > missedBeats*beat || timeout > 0 && silence >= timeout
}

// waits reports whether a primary's commits wait for this standby (R4).
func waits(h HADR) bool {
	return h.State == "DISCONNECTED_PEER" || h.ConnectStatus == "CONGESTED" ||
		h.LogWaitCurrent != nil && *h.LogWaitCurrent >= logWait.Seconds()
}

// assessStandby judges all log streams: the weakest decides.
func assessStandby(o *failover.Observation, s Settings, blocks []HADR) {
	o.Fitness = failover.Fit
	o.ProvenUntil, o.HeardLast = proven(blocks, o.HostTime)
	o.ConnectedSince = connected(blocks)
	for _, b := range blocks {
		end := b.PeerWindowEnd
		if !end.IsZero() && unprotected(b) == "" {
			until := end.Add(-windowMargin)
			if o.PromoteUntil.IsZero() || until.Before(o.PromoteUntil) {
				o.PromoteUntil = until
			}
		}
		if why, next := unfit(b, o.HostTime, s); why != "" && o.Fitness == failover.Fit {
			o.Fitness, o.FitnessWhy, o.FitnessNext = failover.Unfit, why, next
			o.State, o.PartnerStatus = b.State, b.ConnectStatus
		}
	}
	if o.Fitness == failover.Fit && o.SettingsDiffer != "" {
		o.Fitness = failover.Unfit
		o.FitnessWhy = "its settings differ from what is declared: " + o.SettingsDiffer
		o.FitnessNext = "db2 get db cfg for " + s.Database
	}
}

// connected is since when every log stream has its connection and is in peer
// state, zero if one has not (R30).
func connected(blocks []HADR) (since time.Time) {
	for _, b := range blocks {
		if b.State != "PEER" || b.ConnectStatus != "CONNECTED" {
			return time.Time{}
		}
		if b.ConnectStatusTime.After(since) {
			since = b.ConnectStatusTime
		}
	}
	return since
}

// proven is until when the standby certainly has every commit, and when it
// heard its primary last. Db2 leaves the end of the window as it was at the
// disconnection, also when the window is over; until then the primary can't
// have committed without its standby. So a primary that died before that end
// took nothing with it
// (https://ibm.github.io/db2-hadr-wiki/hadrTakeover.html).
func proven(blocks []HADR, now time.Time) (until, heard time.Time) {
	for _, b := range blocks {
		alone := b.State == "DISCONNECTED_PEER" || b.State == "REMOTE_CATCHUP_PENDING"
		confirms := b.SyncMode == "SYNC" || b.SyncMode == "NEARSYNC"
		if !alone || !confirms || b.ConnectStatus != "DISCONNECTED" || b.PeerWindowEnd.IsZero() || b.SinceLastRecv == nil || now.IsZero() {
			return time.Time{}, time.Time{}
		}
		if slices.Contains(b.Flags, "STANDBY_TABLESPACE_ERROR") {
			return time.Time{}, time.Time{}
		}
		if end := b.PeerWindowEnd.Add(-windowMargin); until.IsZero() || end.Before(until) {
			until = end
		}
		if at := now.Add(-time.Duration(*b.SinceLastRecv) * time.Second); at.After(heard) {
			heard = at
		}
	}
	return until, heard
}

// unfit says why a standby may not be promoted without loss, and what a human
// does about it; "" if it may.
func unfit(h HADR, now time.Time, s Settings) (why, next string) {
	look := fmt.Sprintf("db2pd -db %s -hadr", s.Database)
	for _, flag := range h.Flags {
		switch flag {
		case "STANDBY_TABLESPACE_ERROR":
			return "a table space of the standby is in error: its data are not complete", "db2diag, then rebuild the standby from a backup"
		case "STANDBY_LOG_DEVICE_FULL":
			return "the log device of the standby is full: promoted, it could not write", "free space in the active log path of the standby"
		}
	}
	if why := unprotected(h); why != "" {
		switch h.State {
		case "LOCAL_CATCHUP", "REMOTE_CATCHUP":
			return why + "; it is still catching up", look + " until it reads PEER"
		case "REMOTE_CATCHUP_PENDING":
			return why + "; it lost its primary and the peer window is over", lossNext
		}
		return why, look
	}
	switch {
	case h.PeerWindow != nil && *h.PeerWindow == 0 || h.PeerWindowEnd.IsZero():
		return "it has no peer window, so nothing proves that it has every commit",
			fmt.Sprintf("db2 update db cfg for %s using HADR_PEER_WINDOW 300 on both nodes, and restart HADR", s.Database)
	case now.IsZero():
		return "its clock could not be read, so the peer window can't be counted", look
	case !windowOpen(h, now):
		return fmt.Sprintf("its peer window ends at %s and Db2 wants %s before that; its clock reads %s",
			h.PeerWindowEnd.Format(time.RFC3339), windowMargin, now.Format(time.RFC3339)), lossNext
	}
	return "", ""
}

// assessTrouble explains output that is no answer about HADR.
func assessTrouble(o *failover.Observation, s Settings, report Report, err error) {
	var bad *OutputError
	if !errors.As(err, &bad) {
		unreadable(o, err.Error())
		return
	}
	o.Answer, o.Fitness, o.StoppedInOrder = failover.Answered, failover.Unfit, report.Stopped
	switch bad.Trouble {
	case NoInstance:
		o.Database = failover.DatabaseDown
		o.FitnessWhy, o.FitnessNext = "its Db2 instance does not run", "db2start, then db2 activate db "+s.Database
	case NotActive:
		// Also printed for a name that is not in the catalog: the role comes
		// from the configuration, never from this text.
		o.Database = failover.DatabaseInactive
		if c, ok := ParseDatabaseConfig(report.Config); ok {
			o.Role = roles[c.Role]
		}
		o.FitnessWhy, o.FitnessNext = "its database is not active", "db2 activate db "+s.Database+" (this does not change its role)"
	case NoHADR:
		o.Database, o.Role, o.StoppedInOrder = failover.DatabaseActive, failover.RoleStandalone, ""
		o.FitnessWhy, o.FitnessNext = "its database takes part in no HADR", "db2 start hadr on db "+s.Database+" as standby"
	default:
		o.Fitness, o.StoppedInOrder = failover.FitnessUnknown, ""
		unreadable(o, bad.Error())
	}
}

var roles = map[string]failover.Role{
	"PRIMARY": failover.RolePrimary, "STANDBY": failover.RoleStandby, "STANDARD": failover.RoleStandalone,
}

// differ lists declared settings that the database reports otherwise.
func (s Settings) differ(h HADR) string {
	var found []string
	if s.SyncMode != "" && h.SyncMode != s.SyncMode {
		found = append(found, fmt.Sprintf("HADR_SYNCMODE is %s, declared %s", h.SyncMode, s.SyncMode))
	}
	number := func(name string, reported *int64, declared int64) {
		if declared != 0 && reported != nil && *reported != declared {
			found = append(found, name+" is "+strconv.FormatInt(*reported, 10)+" s, declared "+strconv.FormatInt(declared, 10)+" s")
		}
	}
	number("HADR_PEER_WINDOW", h.PeerWindow, s.PeerWindow)
	number("HADR_TIMEOUT", h.Timeout, s.Timeout)
	return strings.Join(found, "; ")
}
