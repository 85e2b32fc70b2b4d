// Package schedule reads the schedule expressions that rules of EventBridge and
// the EventBridge Scheduler have in common, and keeps the appointments that
// follow from them.
//
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind is how an expression tells its times.
type Kind int

// The kinds of expressions.
const (
	Rate Kind = iota // rate(5 minutes)
	Cron             // cron(0 12 ? * MON-FRI *)
	At               // at(2026-11-29T03:00:00)
)

// Expression tells when something is to be done.
type Expression struct {
	Kind Kind
	// Grammatical reports that the unit of a rate is in the number of its
	// value. The Scheduler does not mind; rules do.
	Grammatical bool

	every time.Duration // of a rate
	at    time.Time     // in no zone: only its date and clock count
	cron  cron
}

var (
	rate = regexp.MustCompile(`^rate\(([0-9]+) (minute|hour|day)(s?)\)$`)
	once = regexp.MustCompile(`^at\((\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\)$`)
)

// longestRate bounds the value of a rate, far above any use.
const longestRate = 100 * 366

// Parse reads rate(value unit), cron(fields) and at(yyyy-mm-ddThh:mm:ss).
func Parse(text string) (Expression, error) {
	if m := rate.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > longestRate {
			return Expression{}, fmt.Errorf("%q: the value of a rate is a positive number of minutes, hours or days", text)
		}
		unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[m[2]]
		return Expression{Kind: Rate, every: time.Duration(n) * unit, Grammatical: (n == 1) == (m[3] == "")}, nil
	}
	if m := once.FindStringSubmatch(text); m != nil {
		at, err := time.Parse("2006-01-02T15:04:05", m[1])
		if err != nil {
			return Expression{}, fmt.Errorf("%q: %w", text, err)
		}
		return Expression{Kind: At, at: at}, nil
	}
	if fields, ok := strings.CutPrefix(text, "cron("); ok && strings.HasSuffix(fields, ")") {
		c, err := parseCron(strings.TrimSuffix(fields, ")"))
		if err != nil {
			return Expression{}, fmt.Errorf("%q: %w", text, err)
		}
		return Expression{Kind: Cron, cron: c}, nil
	}
	return Expression{}, fmt.Errorf("%q is neither rate(value unit) nor cron(minutes hours day-of-month month day-of-week year) nor at(yyyy-mm-ddThh:mm:ss)", text)
}

// Next returns the first time after a moment, if there is one. A rate counts
// from anchor, which is its first time; the others are read in zone.
func (e Expression) Next(anchor, after time.Time, zone *time.Location) (time.Time, bool) {
	switch e.Kind {
	case Rate:
		if anchor.After(after) {
			return anchor, true
		}
		return anchor.Add(after.Sub(anchor).Truncate(e.every) + e.every), true
	case At:
		y, m, d := e.at.Date()
		t := time.Date(y, m, d, e.at.Hour(), e.at.Minute(), e.at.Second(), 0, zone)
		return t.UTC(), t.After(after)
	default:
		return e.cron.next(after, zone)
	}
}
