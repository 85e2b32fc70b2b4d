package db2

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Report is the output of the status document.
type Report struct {
	HostTime  time.Time // the node's clock, read after db2pd: the later, the less of the window is left
	Hostname  string
	Table     string    // ARN that the node is marked with, "" = none (R12)
	Epoch     uint64    // highest that the node has seen, 0 = none
	Takeover  time.Time // start of a takeover that runs now, on the node's clock; zero = none
	Stopped   string    // who stopped the database on purpose, and why; "" = nobody did (R6)
	Addresses string    // of `ip addr show`
	DB2PD     string    // of `db2pd -hadr`
	Hung      bool      // db2pd printed nothing or was ended by its limit, so that DB2PD is no answer
	Config    string    // of `get db cfg`, only where the database is not active
}

// Holds reports whether an address is bound on the host.
func (r Report) Holds(ip string) bool { return strings.Contains(r.Addresses, " inet "+ip+"/") }

// marker opens a section: "=== hadr NAME".
const marker = "=== hadr "

// sections splits the output of a document. The section "end" proves that
// nothing is cut off: Systems Manager returns the first 24,000 characters
// (https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html).
func sections(output string) (map[string]string, error) {
	found := map[string]string{}
	name := ""
	var body []string
	flush := func() {
		if name != "" {
			found[name] = strings.Join(body, "\n")
		}
		body = nil
	}
	for _, line := range strings.Split(strings.ReplaceAll(output, "\r\n", "\n"), "\n") {
		if n, ok := strings.CutPrefix(line, marker); ok {
			flush()
			name = strings.TrimSpace(n)
			continue
		}
		body = append(body, line)
	}
	flush()
	if _, ok := found["end"]; !ok {
		return nil, fmt.Errorf("output of the document is not complete: %q", beginning(output))
	}
	return found, nil
}

// timedOut are the codes of timeout -k for a command that it ended
// (https://www.gnu.org/software/coreutils/manual/html_node/timeout-invocation.html).
var timedOut = map[string]bool{"124": true, "137": true}

// ParseReport reads the output of the status document.
func ParseReport(output string) (Report, error) {
	s, err := sections(output)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Hostname: strings.TrimSpace(s["hostname"]), Table: strings.TrimSpace(s["table"]), Stopped: strings.TrimSpace(s["stopped"]),
		Addresses: s["addresses"], DB2PD: s["db2pd"], Hung: strings.TrimSpace(s["db2pd"]) == "" || timedOut[strings.TrimSpace(s["db2pd_code"])], Config: s["db_cfg"],
	}
	r.HostTime = hostTime(strings.TrimSpace(s["host_time"]))
	r.Takeover = hostTime(strings.TrimSpace(s["takeover"]))
	r.Epoch, _ = strconv.ParseUint(strings.TrimSpace(s["epoch"]), 10, 64)
	return r, nil
}

// hostTime reads the output of date +%s.%N, zero if it is not understood. Not
// every date knows %N.
func hostTime(s string) time.Time {
	whole, fraction, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || sec <= 0 || sec > 1<<40 {
		return time.Time{}
	}
	nano, err := strconv.ParseInt(fraction, 10, 64)
	if err != nil || len(fraction) != 9 || nano < 0 {
		nano = 0
	}
	return time.Unix(sec, nano).UTC()
}
