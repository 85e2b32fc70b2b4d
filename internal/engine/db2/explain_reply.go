package db2

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// ReplyExplanation is what hadr reads in the output of a db2 command.
type ReplyExplanation struct {
	Messages  []MessageExplanation `json:"messages"`
	Decisive  *string              `json:"decisive"` // code of the message that counts
	SQLCode   *int                 `json:"sqlcode"`  // null for a message of the processor itself
	Reason    *int                 `json:"reason_code"`
	SQLState  *string              `json:"sqlstate"`
	OK        bool                 `json:"ok"` // the wanted end state is reached
	Class     string               `json:"class"`
	Retryable *bool                `json:"retryable"` // null = nothing to retry
	Action    string               `json:"action"`
	Meaning   string               `json:"meaning"`
	Next      string               `json:"next"`
}

// MessageExplanation is one message of the output.
type MessageExplanation struct {
	Code     string  `json:"code"`
	Reason   *int    `json:"reason_code"`
	SQLState *string `json:"sqlstate"`
}

// What a command prints that tells which command it was: the word on success,
// and the line that only db2start and db2stop print for each member.
var (
	completed  = regexp.MustCompile(`DB20000I The (.+?) command completed`)
	memberLine = regexp.MustCompile(`\d+:\d+:\d+ \d+ \d+ SQL1032N`)
)

// ExplainReply reads the output of a db2 command as hadr does. The command may
// be empty: what the output tells of it is used then.
func ExplainReply(output, command string) ReplyExplanation {
	if command == "" {
		command = commandOf(output)
	}
	reply := ParseReply(output)
	class := reply.Classify(command)
	x := ReplyExplanation{Messages: []MessageExplanation{}, OK: class.OK, Class: class.Name}
	for _, m := range reply.Messages {
		x.Messages = append(x.Messages, MessageExplanation{Code: m.Code, Reason: m.Reason, SQLState: present(m.SQLState)})
	}
	if !class.OK {
		x.Retryable = &class.Retry
	}
	code := ""
	if m := reply.Decisive; m != nil {
		code = m.Code
		x.Decisive, x.Reason, x.SQLState = &m.Code, m.Reason, present(m.SQLState)
		if n := m.SQLCode(); n != 0 {
			x.SQLCode = &n
		}
	}
	s := sayingOf(class.Name, code, command)
	x.Action, x.Meaning, x.Next = s.action, s.meaning, s.next
	if class.Next != "" && s.next == "" {
		x.Next = class.Next
	}
	if reply.Decisive != nil && strings.Contains(s.meaning, "%s") {
		x.Meaning = fmt.Sprintf(s.meaning, reply.Decisive)
	}
	x.Next = strings.ReplaceAll(x.Next, "CODE", code)
	return x
}

// commandOf is the command that printed an output, "" if it does not tell.
func commandOf(output string) string {
	text := strings.Join(strings.Fields(output), " ")
	if m := completed.FindStringSubmatch(text); m != nil {
		return strings.ToLower(m[1])
	}
	if memberLine.MatchString(text) {
		return "db2stop" // db2start does not fail for want of an instance
	}
	return ""
}

// saying is what a class means; %s in a meaning stands for the message's code
// and reason, CODE in a next step for the code alone.
type saying struct{ action, meaning, next string }

// sayingOf prefers what is known of a code to what is known of its class.
func sayingOf(class, code, command string) saying {
	if class == "ok" {
		switch command = strings.ToLower(command); {
		case strings.Contains(command, "takeover hadr"):
			return saying{"verify_role_primary", "the takeover is done; the text is the same for every form, and does not say whether commits were lost",
				"read the role: db2pd -db DATABASE -hadr"}
		case strings.Contains(command, "start hadr"):
			return saying{"watch_until_connected_and_catching_up_or_peer", "HADR is started in the wanted role; for a standby that is no proof that it is connected or catches up",
				"watch until PEER: db2pd -db DATABASE -hadr"}
		}
	}
	if s, ok := codeSayings[code]; ok {
		return s
	}
	return classSayings[class]
}

var codeSayings = map[string]saying{
	"SQL1777N": {"check_role", "HADR runs already, perhaps in the other role", "read the role: db2pd -db DATABASE -hadr"},
	"SQL1497W": {"check_state", "the database is active, with a remark about its state", "read the state: db2pd -db DATABASE -hadr"},
	"SQL1766W": {"watch_until_connected_and_catching_up_or_peer", "HADR is started; index builds are not logged (LOGINDEXBUILD is off), so a takeover would have to rebuild them",
		"watch until PEER: db2pd -db DATABASE -hadr; db2 update db cfg for DATABASE using LOGINDEXBUILD ON"},
	"SQL1767N": {"check_role", "START HADR was refused: the database is in a role or state in which it cannot be started so (%s)", ""},
}

var classSayings = map[string]saying{
	"ok":                             {"none", "the command did what it was asked to", "nothing"},
	"already_done":                   {"none", "there was nothing to do: the wanted state was reached already", "nothing"},
	"ok_with_warning":                {"check_state", "done, with a warning (%s)", "read the state: db2pd -db DATABASE -hadr"},
	"takeover_partner_unreachable":   {"recheck_state_then_peer_window_only", "the primary did not answer within HADR_TIMEOUT: nothing was taken over, and the peer window ran down meanwhile", "read both roles: db2pd -db DATABASE -hadr. If the primary is proven down and the peer window is open: db2 takeover hadr on db DATABASE by force peer window only"},
	"takeover_outside_peer_window":   {"refuse_and_page_human", "no open peer window covers the standby, so commits of the primary may be missing here", ""},
	"takeover_cluster_manager_owned": {"refuse_and_page_human", "Db2's integrated cluster manager owns this database and forbids a takeover by force", ""},
	"takeover_failed_other":          {"refuse_and_page_human", "the takeover failed for a reason that hadr does not know (%s)", ""},
	"start_standby_unreachable":      {"refuse_and_page_human", "the primary does not reach its standby and does not start alone: Db2's own guard against two primaries", ""},
	"start_config_error":             {"page_human", "the HADR settings of the two databases are wrong or do not fit together (%s)", ""},
	"start_interrupted":              {"recheck_state", "the start was interrupted", "read the role and state, then start again: db2pd -db DATABASE -hadr"},
	"start_failed_other":             {"page_human", "HADR did not start, for a reason that hadr does not know (%s)", ""},
	"stop_refused_active_standby":    {"page_human", "HADR cannot be stopped on an active standby", ""},
	"standby_not_connectable":        {"treat_as_standby", "the database is a standby without reads: clients do not connect to it", "connect to the primary"},
	"standby_replay_only_window":     {"wait", "the standby replays a change of structure and accepts no readers meanwhile", "wait, then connect again"},
	"old_primary_must_reintegrate":   {"start_as_standby", "this is an old primary: its standby has taken over by force, so it does not start as primary", ""},
	"standby_read_only":              {"treat_as_standby", "the database is a standby with reads: this statement is not allowed on it", "run the statement on the primary"},
	"instance_down":                  {"start_instance", "the Db2 instance does not run", ""},
	"rollforward_pending":            {"page_human", "the database waits for ROLLFORWARD: it was restored and is not complete", ""},
	"connection_rerouted":            {"reconnect", "the client was connected again, to the alternate server; the transaction is rolled back", "repeat the transaction"},
	"communication_error":            {"reconnect", "the server was not reached, or the connection broke", "see whether the server and the way to it are up, then connect again"},
	"database_going_down":            {"reconnect", "the database or its instance is going down, or ended this connection", "read the role of both nodes, then connect again: db2pd -db DATABASE -hadr"},
	"lock_timeout":                   {"count_as_alive", "the statement waited for a lock: rolled back, and the database is alive", "repeat the transaction"},
	"no_connection":                  {"reconnect", "this session has no connection to a database", "db2 connect to DATABASE"},
	"config_error":                   {"page_human", "the database name is not in the catalog here", ""},
	"interrupted":                    {"retry_probe", "the command was interrupted", "run it again"},
	"no_output":                      {"read_role_first", "no message code was printed: the command was killed, timed out or is not known to have run. Its outcome is unknown, and words alone prove nothing", ""},
	"sql_error":                      {"page_human", "the statement failed; %s is unknown to hadr and says nothing about HADR", "read the message with: db2 ? CODE"},
	"unknown_error":                  {"refuse_and_page_human", "%s is unknown to hadr: it is taken for a failure and not tried again", "read the message with: db2 ? CODE; then the role of both nodes: db2pd -db DATABASE -hadr"},
}

// WriteText writes the explanation for a human.
func (x ReplyExplanation) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("code", "%s", or(x.Decisive, "none"))
	if x.SQLCode != nil {
		line("SQLCODE", "%d", *x.SQLCode)
	}
	if x.Reason != nil {
		line("reason code", "%d", *x.Reason)
	}
	if x.SQLState != nil {
		line("SQLSTATE", "%s", *x.SQLState)
	}
	result := "failed"
	switch {
	case x.OK:
		result = "ok"
	case x.Decisive == nil:
		result = "unknown"
	}
	line("result", "%s (%s)", result, x.Class)
	line("meaning", "%s", x.Meaning)
	switch {
	case x.Retryable == nil:
		line("retryable", "nothing to retry")
	case *x.Retryable:
		line("retryable", "yes, after another look at both nodes")
	default:
		line("retryable", "no, not without a human")
	}
	line("next", "%s", x.Next)
	_, err := io.WriteString(w, b.String())
	return err
}

func or(s *string, fallback string) string {
	if s == nil {
		return fallback
	}
	return *s
}
