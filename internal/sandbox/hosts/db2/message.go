package db2

import (
	"fmt"
	"strings"
)

// Exit codes of the command line processor:
// https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-return-codes
const (
	codeOK      = 0
	codeNoRows  = 1
	codeWarning = 2
	codeError   = 4
	codeCLP     = 8
)

// reply is what a command answers: its text and its exit code.
type reply struct {
	Text string `json:"text"`
	Code int    `json:"code"`
}

// succeeded is the answer of a command that did what it says.
func succeeded(command string) reply {
	return reply{wrap("DB20000I  The " + command + " command completed successfully."), codeOK}
}

func failure(format string, args ...any) reply {
	return reply{wrap(fmt.Sprintf(format, args...)), codeError}
}

func warning(format string, args ...any) reply {
	return reply{wrap(fmt.Sprintf(format, args...)), codeWarning}
}

// inSQL frames an error of an SQL statement.
func inSQL(r reply) reply {
	const frame = "DB21034E  The command was processed as an SQL statement because it was not a valid Command Line Processor command.  During SQL processing it returned:"
	return reply{wrap(frame) + "\n" + r.Text, r.Code}
}

// The messages. Only confirmed reason codes are printed.
var (
	msgNotStarted      = failure("SQL1032N  No start database manager command was issued.  SQLSTATE=57019")
	msgNoConnection    = failure("SQL1024N  A database connection does not exist.  SQLSTATE=08003")
	msgGone            = failure("SQL1224N  The database manager is not able to accept new requests, has terminated all requests in progress, or has terminated the specified request because of an error or a forced interrupt.  SQLSTATE=55032")
	msgOnStandby       = failure(`SQL1776N  The command cannot be issued on an HADR database. Reason code = "1".`)
	msgReadOnly        = failure(`SQL1773N  The statement or command requires functionality that is not supported on a read-enabled HADR standby database. Reason code = "5".`)
	msgOldPrimary      = failure(`SQL1776N  The command cannot be issued on an HADR database. Reason code = "6".`)
	msgHADRStarted     = failure("SQL1777N  HADR is already started.")
	msgNoIndexBuild    = warning("SQL1766W  The command completed successfully. However, LOGINDEXBUILD was not enabled before HADR was started.")
	msgActivated       = warning("SQL1490W  Activate database is successful, however, the database has already been activated on one or more nodes.")
	msgConnected       = warning("SQL1494W  Activate database is successful, however, there is already a connection to the database.")
	msgDeactivated     = warning("SQL1496W  Deactivate database is successful, but the database was not activated.")
	msgStopActive      = failure(`SQL1769N  Stop HADR cannot complete. Reason code = "2".`)
	msgStopStandard    = failure("SQL1769N  Stop HADR cannot complete.")
	msgCannotStart     = failure("SQL1767N  Start HADR cannot complete.")
	msgNoStandby       = startRefused(7)
	msgStartCancelled  = startRefused(10)
	msgLockTimeout     = failure(`SQL0911N  The current transaction has been rolled back because of a deadlock or timeout.  Reason code "68".  SQLSTATE=40001`)
	msgNoRow           = reply{wrap("SQL0100W  No row was found for FETCH, UPDATE or DELETE; or the result of a query is an empty table.  SQLSTATE=02000"), codeNoRows}
	msgTakeoverRefused = failure("SQL1770N  Takeover HADR cannot complete.")
	msgCannotWrap      = failure("SQL0104N  An unexpected token was found.  SQLSTATE=42601")
)

func takeoverRefused(reason int) reply {
	return failure(`SQL1770N  Takeover HADR cannot complete. Reason code = "%d".`, reason)
}

func startRefused(reason int) reply {
	return failure(`SQL1768N  Unable to start HADR. Reason code = "%d".`, reason)
}

func noDatabase(name string) reply {
	return failure(`SQL1013N  The database alias name or database name "%s" could not be found.  SQLSTATE=42705`, name)
}

func rollforwardPending(name string) reply {
	return failure(`SQL1117N  A connection to or activation of database "%s" cannot be made because of ROLL-FORWARD PENDING.  SQLSTATE=57019`, name)
}

func undefined(name string) reply {
	return failure(`SQL0204N  "%s" is an undefined name.  SQLSTATE=42704`, name)
}

// wrap breaks a message as the command line processor does: at 79 columns,
// the blank before the break stays.
func wrap(text string) string {
	const width = 79
	var b strings.Builder
	for len(text) > width {
		at := strings.LastIndexByte(text[:width], ' ')
		if at <= 0 {
			break
		}
		b.WriteString(text[:at+1])
		b.WriteByte('\n')
		text = text[at+1:]
	}
	b.WriteString(text)
	return b.String()
}
