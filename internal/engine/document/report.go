package document

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Report is the output of a document: its sections by name, without the space
// around them. A document opens one with "=== hadr NAME".
type Report map[string]string

const marker = "=== hadr "

// ParseReport splits the output of a document. The section "end" proves that
// nothing is cut off: Systems Manager returns the first 24,000 characters
// (https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html).
func ParseReport(output string) (Report, error) {
	found := Report{}
	name := ""
	var body []string
	flush := func() {
		if name != "" {
			found[name] = strings.TrimSpace(strings.Join(body, "\n"))
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
		return nil, fmt.Errorf("output of the document is not complete: %q", Beginning(output))
	}
	return found, nil
}

// Beginning is the first line's worth of a text, for a message.
func Beginning(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// Time reads seconds since 1970-01-01 UTC with or without a fraction, as
// date +%s.%N and PostgreSQL's extract(epoch ...) print them; zero if it is not
// understood. Not every date knows %N.
func Time(s string) time.Time {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || sec <= 0 || sec > 1<<40 {
		return time.Time{}
	}
	nano, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil || nano < 0 {
		nano = 0
	}
	return time.Unix(sec, nano).UTC()
}
