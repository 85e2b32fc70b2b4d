package db2

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteText writes the explanation for a human.
func (x HADRExplanation) WriteText(w io.Writer) error {
	var b strings.Builder
	if !x.OK {
		fmt.Fprintf(&b, "%s: %s.\n  next: %s\n", x.ErrorClass, x.Meaning, x.Next)
	}
	for i, db := range x.Databases {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "database %s, member %d, up %s\n", named(db.Header.Database), db.Header.Member, time.Duration(db.Header.Up)*time.Second)
		fmt.Fprintf(&b, "judged at %s (--now or this machine's clock; the date in the output has no time zone)\n", stamp(x.now))
		for _, h := range db.read {
			writeBlock(&b, h, x.now)
		}
		a := x.Advice[i]
		b.WriteString("\n  a takeover on this node now\n")
		for _, f := range a.Takeovers {
			fmt.Fprintf(&b, "    %-35s %s: %s\n", f.Command, f.verdict(), f.Why)
		}
		fmt.Fprintf(&b, "  hadr would %s\n", a.HADR)
		if a.Next != "" {
			fmt.Fprintf(&b, "  next: %s\n", a.Next)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict puts a verdict into words.
func (f TakeoverForm) verdict() string {
	code := ""
	if f.SQLCode != nil {
		code = fmt.Sprintf(" (SQL%dN reason %d)", -*f.SQLCode, deref(f.Reason))
	}
	switch f.Verdict {
	case VerdictAllowed:
		if deref(f.DataLoss) {
			return "ALLOWED, CAN LOSE COMMITS"
		}
		return "allowed, loses no commit"
	case VerdictHangs:
		return "hangs, then fails" + code
	case VerdictError:
		return "refused" + code
	}
	return "not known"
}

func writeBlock(b *strings.Builder, h HADR, now time.Time) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	b.WriteByte('\n')
	if h.StandbyID != nil && *h.StandbyID > 0 {
		kind := "auxiliary"
		if *h.StandbyID == 1 {
			kind = "principal"
		}
		line("standby", "%d, %s", *h.StandbyID, kind)
	}
	if deref(h.LogStreamID) > 0 {
		line("log stream", "%d", *h.LogStreamID)
	}
	line("role", "%s; primary %s, standby %s", h.Role, named(h.PrimaryHost), named(h.StandbyHost))
	line("state", "%s", h.State)
	since := ""
	if !h.ConnectStatusTime.IsZero() {
		since = " since " + stamp(h.ConnectStatusTime)
	}
	line("connection", "%s%s", h.ConnectStatus, since)
	line("sync mode", "%s", named(h.SyncMode))
	line("primary log", "%s", h.PrimaryLog)
	line("received", "%s", h.StandbyLog)
	line("replayed", "%s", h.ReplayLog)
	line("gap", "%s not received, %s received and not replayed", size(h.Gap()), size(h.ReplayGap()))
	line("", "(counted from the positions; the gaps that db2pd prints are running averages)")
	line("heartbeat", "%s", heartbeat(h, now))
	line("peer window", "%s", window(h, now))
	if len(h.Flags) > 0 {
		line("flags", "%s", strings.Join(h.Flags, " "))
	}
	if h.Role == "PRIMARY" && waits(h) {
		line("commits", "wait for this standby")
	}
	if h.ReplayOnlyWindow == "Y" {
		line("reads", "none now: replay-only window")
	}
	if !h.LastTakeover.IsZero() {
		line("takeover", "last at %s", stamp(h.LastTakeover))
	}
}

func named(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// String is the file, page and position, "unknown" for none.
func (p *LogPosition) String() string {
	if p == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s page %d, position %d", p.File, p.Page, p.Pos)
}

func size(n *uint64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprintf("%d bytes", *n)
}

func heartbeat(h HADR, now time.Time) string {
	var parts []string
	if h.HeartbeatInterval != nil {
		parts = append(parts, fmt.Sprintf("every %d s", *h.HeartbeatInterval))
	}
	if h.HeartbeatMissed != nil && h.HeartbeatExpected != nil {
		parts = append(parts, fmt.Sprintf("%d of %d missed", *h.HeartbeatMissed, *h.HeartbeatExpected))
	}
	if h.SinceLastRecv != nil {
		parts = append(parts, fmt.Sprintf("last message %d s ago", *h.SinceLastRecv))
	}
	if h.Timeout != nil {
		parts = append(parts, fmt.Sprintf("HADR_TIMEOUT %d s", *h.Timeout))
	}
	if _, lost := partner(h, now); lost {
		parts = append(parts, "THE PARTNER COUNTS AS LOST")
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}

func window(h HADR, now time.Time) string {
	length := "length unknown"
	if h.PeerWindow != nil {
		length = fmt.Sprintf("%d s", *h.PeerWindow)
	}
	if h.PeerWindowEnd.IsZero() {
		return length + ", no end printed"
	}
	left := h.PeerWindowEnd.Sub(now)
	if left <= 0 {
		return fmt.Sprintf("%s, OVER since %s (%.0f s ago)", length, stamp(h.PeerWindowEnd), -left.Seconds())
	}
	return fmt.Sprintf("%s, ends %s: %.0f s left", length, stamp(h.PeerWindowEnd), left.Seconds())
}
