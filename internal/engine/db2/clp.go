package db2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Message is one message of the command line processor.
type Message struct {
	Code     string // such as "SQL1770N"
	Reason   *int   // reason code
	SQLState string
}

// Reply is the output of a db2 command.
type Reply struct {
	Messages []Message
	Decisive *Message // the one that counts; nil if none was printed
}

var (
	messageCode = regexp.MustCompile(`\b(SQL\d{4,5}[NWC]|DB2\d{4,5}[IWE])\b`)
	// Printed as Reason code = "7", Reason code: "1" or Reason code "68".
	reasonCode = regexp.MustCompile(`[Rr]eason\s+code\s*[:=]?\s*"?(\d+)`)
	sqlState   = regexp.MustCompile(`SQLSTATE=(\w{5})`)
)

// ParseReply reads the output of a db2 command. Only message codes count, not
// words; a command whose output has none has an unknown outcome. Messages are
// wrapped at about 79 columns, so white space means nothing.
func ParseReply(output string) Reply {
	text := strings.Join(strings.Fields(output), " ")
	at := messageCode.FindAllStringIndex(text, -1)
	var r Reply
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		r.Messages = append(r.Messages, message(text[m[0]:m[1]], text[m[1]:end]))
	}
	r.Decisive = decisive(r.Messages)
	return r
}

func message(code, text string) Message {
	m := Message{Code: code}
	if f := reasonCode.FindStringSubmatch(text); f != nil {
		if n, err := strconv.Atoi(f[1]); err == nil {
			m.Reason = &n
		}
	}
	if f := sqlState.FindStringSubmatch(text); f != nil {
		m.SQLState = f[1]
	}
	return m
}

// decisive returns the message that counts: an SQL message before one of the
// processor, which only introduces it; of several SQL messages the last; of
// the processor's own, the success before the remark.
func decisive(messages []Message) *Message {
	var last, own *Message
	for i := range messages {
		m := &messages[i]
		switch {
		case strings.HasPrefix(m.Code, "SQL"):
			last = m
		case own == nil || own.Code == "DB21034E":
			own = m
		}
	}
	if last != nil {
		return last
	}
	return own
}

// has reports whether a message was printed.
func (r Reply) has(code string) bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Code == code })
}

// failed reports whether a statement or the processor failed.
func (r Reply) failed() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool {
		return m.SQLCode() < 0 || strings.HasPrefix(m.Code, "DB2") && strings.HasSuffix(m.Code, "E")
	})
}

// confirms reports whether the last n statements completed successfully. What
// came before them may be of the owner's profile.
func (r Reply) confirms(n int) bool {
	before := len(r.Messages) - n
	return before >= 0 && !slices.ContainsFunc(r.Messages[before:], func(m Message) bool { return m.Code != "DB20000I" })
}

// SQLCode is negative for an error, positive for a warning, 0 for a message of
// the processor.
func (m Message) SQLCode() int {
	digits, ok := strings.CutPrefix(m.Code, "SQL")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimRight(digits, "NWC"))
	if err != nil {
		return 0
	}
	if strings.HasSuffix(m.Code, "W") {
		return n
	}
	return -n
}

// String is the code with its reason, such as SQL1770N/9.
func (m Message) String() string {
	if m.Reason == nil {
		return m.Code
	}
	return m.Code + "/" + strconv.Itoa(*m.Reason)
}

// Class is what a reply means for whoever gave the command.
type Class struct {
	Name  string
	OK    bool // the wanted end state is reached
	Retry bool // the same kind of step may be tried again after another look
	Next  string
}

// The classes that this package acts on.
var (
	classOK      = Class{Name: "ok", OK: true}
	classUnknown = Class{Name: "unknown_error", Next: "read the message and the role of both nodes: db2pd -db DATABASE -hadr"}
	// Nothing printed: killed or timed out. The role tells whether it worked.
	classNoOutput = Class{Name: "no_output", Next: "read the role before anything else: db2pd -db DATABASE -hadr"}
)

const lossNext = "bring the old primary back if possible; if it was stopped before the end of the standby's peer window, nothing is lost by: hadr takeover-after-window GROUP --from NODE --reason WHY, which checks that; otherwise commits may be lost, and a person decides: hadr takeover GROUP --from NODE --allow-data-loss --reason WHY"

// classes by code and reason; a code alone stands for every other reason
// (https://www.ibm.com/docs/en/db2/11.5?topic=messages-sql).
var classes = map[string]Class{
	"DB20000I": classOK,
	"SQL1063N": classOK, // DB2START processing was successful
	"SQL1064N": classOK,
	"SQL1026N": {Name: "already_done", OK: true},
	"SQL1490W": {Name: "already_done", OK: true},
	"SQL1494W": {Name: "already_done", OK: true},
	"SQL1777N": {Name: "already_done", OK: true},
	"SQL1497W": {Name: "ok_with_warning", OK: true},
	"SQL1766W": {Name: "ok_with_warning", OK: true},

	"SQL1770N":    {Name: "takeover_failed_other", Next: "read the message with: db2 ? SQL1770N"},
	"SQL1770N/7":  {Name: "takeover_partner_unreachable", Retry: true, Next: "read both roles: db2pd -db DATABASE -hadr"},
	"SQL1770N/9":  {Name: "takeover_outside_peer_window", Next: lossNext},
	"SQL1770N/10": {Name: "takeover_cluster_manager_owned", Next: "a cluster manager owns this database: disable it there, or let it take over"},

	"SQL1768N":    {Name: "start_failed_other", Next: "read the message with: db2 ? SQL1768N"},
	"SQL1768N/1":  configError,
	"SQL1768N/2":  configError,
	"SQL1768N/3":  configError,
	"SQL1768N/4":  configError,
	"SQL1768N/5":  configError,
	"SQL1768N/6":  configError,
	"SQL1768N/7":  {Name: "start_standby_unreachable", Next: "the primary does not reach its standby: only the recorded primary may start by force, with the other node proven stopped"},
	"SQL1768N/8":  configError,
	"SQL1768N/9":  configError,
	"SQL1768N/10": {Name: "start_interrupted", Retry: true},
	"SQL1767N":    {Name: "start_failed_other", Next: "read the role: db2 get db cfg for DATABASE"},
	"SQL1769N/2":  {Name: "stop_refused_active_standby", Next: "deactivate the standby first: db2 deactivate db DATABASE"},

	"SQL1776N/1": {Name: "standby_not_connectable"},
	"SQL1776N/4": {Name: "standby_replay_only_window", Retry: true},
	"SQL1776N/6": {Name: "old_primary_must_reintegrate", Next: "db2 start hadr on db DATABASE as standby"},
	"SQL1773N":   {Name: "standby_read_only"},

	"SQL1032N":  {Name: "instance_down", Retry: true, Next: "start the instance: db2start"},
	"SQL1117N":  {Name: "rollforward_pending", Next: "the database is being built: finish its restore"},
	"SQL30108N": {Name: "connection_rerouted", Retry: true},
	"SQL30081N": {Name: "communication_error", Retry: true},
	"SQL1224N":  {Name: "database_going_down", Retry: true},
	"SQL0911N":  {Name: "lock_timeout", Retry: true},
	"SQL1024N":  {Name: "no_connection", Retry: true},
	"SQL1013N":  {Name: "config_error", Next: "catalog the database under its own name"},
	"SQL0952N":  {Name: "interrupted", Retry: true},
}

var configError = Class{Name: "start_config_error", Next: "read the message with: db2 ? SQL1768N"}

// Classify says what the reply to a command means. Stopping what does not run
// is done, starting it is not: so the command counts.
func (r Reply) Classify(command string) Class {
	m := r.Decisive
	if m == nil {
		return classNoOutput
	}
	if m.Code == "SQL1032N" && strings.Contains(strings.ToLower(command), "db2stop") {
		return Class{Name: "already_done", OK: true}
	}
	if c, ok := classes[m.String()]; ok {
		return c
	}
	if c, ok := classes[m.Code]; ok {
		return c
	}
	for _, other := range r.Messages {
		if other.Code == "DB21034E" {
			return Class{Name: "sql_error", Next: "read the message"}
		}
	}
	return classUnknown
}
