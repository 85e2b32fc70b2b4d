package db2

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is what Db2 does with a form of TAKEOVER HADR.
type Verdict string

// The verdicts, the worst last.
const (
	VerdictAllowed Verdict = "allowed"
	VerdictUnknown Verdict = "unverified"      // no page of IBM's says; do not count on it
	VerdictHangs   Verdict = "hang_then_error" // waits for a dead partner until HADR_TIMEOUT
	VerdictError   Verdict = "error"
)

var severity = map[Verdict]int{VerdictAllowed: 0, VerdictUnknown: 1, VerdictHangs: 2, VerdictError: 3}

// TakeoverForm is one form of the command, judged for a node at a moment.
type TakeoverForm struct {
	Command  string  `json:"command"`
	Verdict  Verdict `json:"result"`
	SQLCode  *int    `json:"sqlcode"` // of the error, where it is known
	Reason   *int    `json:"reason_code"`
	DataLoss *bool   `json:"data_loss_possible"` // of committed work; nil unless allowed
	Why      string  `json:"why"`
}

// The forms of the command
// (https://www.ibm.com/docs/en/db2/11.5?topic=commands-takeover-hadr).
const (
	plainTakeover  = "TAKEOVER"
	windowTakeover = "TAKEOVER BY FORCE PEER WINDOW ONLY"
	forcedTakeover = "TAKEOVER BY FORCE"
)

// staysPrimary: a forced takeover does not change the other node's role.
const staysPrimary = "The old primary stays PRIMARY, so it must be down"

// TakeoverForms says what each form would do on the node of these blocks, with
// now on the node's clock. Of several log streams the weakest decides. The
// rules are IBM's (https://ibm.github.io/db2-hadr-wiki/hadrTakeover.html).
func TakeoverForms(blocks []HADR, now time.Time) []TakeoverForm {
	judges := []func(HADR, time.Time) TakeoverForm{judgePlain, judgeWindow, judgeForced}
	if slices.ContainsFunc(blocks, takenOver) {
		const why = "a takeover runs on this node already"
		return []TakeoverForm{
			{Command: plainTakeover, Verdict: VerdictUnknown, Why: why},
			{Command: windowTakeover, Verdict: VerdictUnknown, Why: why},
			{Command: forcedTakeover, Verdict: VerdictUnknown, Why: why},
		}
	}
	forms := make([]TakeoverForm, len(judges))
	for i, judge := range judges {
		for j, b := range blocks {
			f := judge(b, now)
			worse := severity[f.Verdict] > severity[forms[i].Verdict] ||
				f.Verdict == forms[i].Verdict && deref(f.DataLoss) && !deref(forms[i].DataLoss)
			if j == 0 || worse {
				forms[i] = f
			}
		}
	}
	return forms
}

// takenOver reports whether a takeover runs: only then are these lines printed.
func takenOver(h HADR) bool { return h.TakeoverPrimary != nil || h.TakeoverStandby != nil }

func judgePlain(h HADR, now time.Time) TakeoverForm {
	f := TakeoverForm{Command: plainTakeover}
	silence, lost := partner(h, now)
	connected := h.ConnectStatus != "DISCONNECTED"
	switch {
	case h.Role != "STANDBY":
		return f.refused(notStandby(h))
	case h.State == "PEER" && connected && lost:
		f.fail(7)
		f.Verdict = VerdictHangs
		f.Why = fmt.Sprintf("the primary is silent for %s: the command waits for it until HADR_TIMEOUT and fails, and the peer window runs down meanwhile", silence)
		return f
	case h.State == "PEER" && connected:
		return f.allowed(false, "the primary ships the rest of its log and becomes standby")
	case h.State == "REMOTE_CATCHUP" && h.SyncMode == "SUPERASYNC" && connected:
		return f.allowed(false, "the primary ships the rest of its log first, which takes long if the gap is large")
	case h.State == "PEER" || h.State == "DISCONNECTED_PEER" || h.State == "REMOTE_CATCHUP_PENDING":
		return f.refused("it needs a connected primary")
	case h.State == "LOCAL_CATCHUP" || h.State == "REMOTE_CATCHUP":
		return f.refused("the standby is still catching up (" + h.State + ")")
	}
	return f.unknown(h)
}

func judgeWindow(h HADR, now time.Time) TakeoverForm {
	f := TakeoverForm{Command: windowTakeover}
	why := unprotected(h)
	switch {
	case h.Role != "STANDBY":
		return f.refused(notStandby(h))
	case windowOpen(h, now):
		return f.allowed(false, fmt.Sprintf("the peer window proves that every commit is here; Db2 accepts it until %s (%s before the window's end). %s",
			stamp(h.PeerWindowEnd.Add(-windowMargin)), windowMargin, staysPrimary))
	case why == "" && h.PeerWindowEnd.IsZero():
		f.fail(9)
		why = "no end of a peer window is printed"
	case why == "" && now.After(h.PeerWindowEnd):
		f.fail(9)
		why = "the peer window ended at " + stamp(h.PeerWindowEnd)
	case why == "":
		f.fail(9)
		why = fmt.Sprintf("%s of the peer window are left, and Db2 wants %s", h.PeerWindowEnd.Sub(now).Round(time.Millisecond), windowMargin)
	case h.State == "REMOTE_CATCHUP_PENDING" && (h.SyncMode == "SYNC" || h.SyncMode == "NEARSYNC"):
		f.fail(9)
	}
	return f.refused(why)
}

func judgeForced(h HADR, now time.Time) TakeoverForm {
	f := TakeoverForm{Command: forcedTakeover}
	switch {
	case h.Role != "STANDBY":
		return f.refused(notStandby(h))
	case windowOpen(h, now):
		return f.allowed(false, "the peer window is open, but this form does not check it: prefer PEER WINDOW ONLY. "+staysPrimary)
	case h.State == "PEER" || h.State == "DISCONNECTED_PEER" || h.State == "REMOTE_CATCHUP_PENDING":
		return f.allowed(true, "no open peer window covers it: what the primary committed and this node did not receive would be lost. "+staysPrimary)
	case h.State == "REMOTE_CATCHUP" && h.SyncMode == "SUPERASYNC":
		f.Verdict, f.Why = VerdictUnknown, "IBM does not say whether it is allowed in remote catchup with SUPERASYNC: expect an error"
		return f
	case h.State == "LOCAL_CATCHUP" || h.State == "REMOTE_CATCHUP":
		return f.refused("the standby is still catching up (" + h.State + ")")
	}
	return f.unknown(h)
}

func notStandby(h HADR) string {
	return fmt.Sprintf("this node is %s: TAKEOVER HADR is given on the standby", h.Role)
}

// fail notes SQL1770N with a reason code.
func (f *TakeoverForm) fail(reason int) {
	code := -1770
	f.SQLCode, f.Reason = &code, &reason
}

func (f TakeoverForm) refused(why string) TakeoverForm {
	f.Verdict, f.Why = VerdictError, why
	return f
}

func (f TakeoverForm) allowed(loss bool, why string) TakeoverForm {
	f.Verdict, f.DataLoss, f.Why = VerdictAllowed, &loss, why
	return f
}

func (f TakeoverForm) unknown(h HADR) TakeoverForm {
	f.Verdict, f.Why = VerdictUnknown, fmt.Sprintf("HADR_STATE %q is not known", h.State)
	return f
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
