package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The years that a cron expression knows.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html#eb-cron-expressions
const (
	firstYear = 1970
	lastYear  = 2199
)

// cron are the six fields, each as the values that it allows.
type cron struct {
	minutes, hours, months, years []bool // by value
	day                           func(time.Time) bool
}

var (
	monthNames = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
	dayNames   = strings.Fields("SUN MON TUE WED THU FRI SAT")
)

func parseCron(text string) (c cron, err error) {
	f := strings.Fields(text)
	if len(f) != 6 {
		return c, fmt.Errorf("a cron expression has 6 fields, not %d", len(f))
	}
	if (f[2] == "?") == (f[4] == "?") {
		return c, errors.New("one of day-of-month and day-of-week, and only one, is ?")
	}
	var errs [5]error
	c.minutes, errs[0] = field{name: "minutes", max: 59}.parse(f[0])
	c.hours, errs[1] = field{name: "hours", max: 23}.parse(f[1])
	c.months, errs[2] = field{name: "month", min: 1, max: 12, names: monthNames}.parse(f[3])
	c.years, errs[3] = field{name: "year", min: firstYear, max: lastYear}.parse(f[5])
	if f[4] == "?" {
		c.day, errs[4] = dayOfMonth(f[2])
	} else {
		c.day, errs[4] = dayOfWeek(f[4])
	}
	return c, errors.Join(errs[:]...)
}

// next looks through the days after a moment. A time that the zone's clock
// skips in spring is skipped, and one that it shows twice in autumn counts
// once.
//
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
func (c *cron) next(after time.Time, zone *time.Location) (time.Time, bool) {
	y, m, d := after.In(zone).Date()
	for day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC); day.Year() <= lastYear; {
		y, m, d := day.Date()
		switch {
		case y < firstYear || !c.years[y]:
			day = time.Date(y+1, 1, 1, 0, 0, 0, 0, time.UTC)
			continue
		case !c.months[m]:
			day = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		case c.day(day):
			if t, ok := c.within(y, m, d, after, zone); ok {
				return t, true
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// within returns the first time of a day after a moment.
func (c *cron) within(y int, m time.Month, d int, after time.Time, zone *time.Location) (time.Time, bool) {
	for hour, ok := range c.hours {
		if !ok {
			continue
		}
		for minute, ok := range c.minutes {
			if !ok {
				continue
			}
			t := time.Date(y, m, d, hour, minute, 0, 0, zone)
			if t.After(after) && t.Hour() == hour && t.Minute() == minute {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// dayOfMonth reads values, L, LW and nW.
func dayOfMonth(text string) (func(time.Time) bool, error) {
	f := field{name: "day-of-month", min: 1, max: 31}
	if text == "L" {
		return func(t time.Time) bool { return t.Day() == daysIn(t) }, nil
	}
	if n, ok := strings.CutSuffix(text, "W"); ok {
		day := 0 // the last
		if n != "L" {
			var err error
			if day, err = f.number(n); err != nil {
				return nil, err
			}
		}
		return func(t time.Time) bool { return t.Day() == weekdayNear(t, day) }, nil
	}
	days, err := f.parse(text)
	return func(t time.Time) bool { return days[t.Day()] }, err
}

// dayOfWeek reads values, L, nL and n#k; 1 is Sunday.
func dayOfWeek(text string) (func(time.Time) bool, error) {
	f := field{name: "day-of-week", min: 1, max: 7, names: dayNames}
	if text == "L" { // the last day of the week
		return func(t time.Time) bool { return t.Weekday() == time.Saturday }, nil
	}
	if n, ok := strings.CutSuffix(text, "L"); ok {
		day, err := f.number(n)
		return func(t time.Time) bool { return weekday(t) == day && t.Day()+7 > daysIn(t) }, err
	}
	if n, k, ok := strings.Cut(text, "#"); ok {
		day, err := f.number(n)
		if err != nil {
			return nil, err
		}
		nth, err := field{name: "day-of-week after #", min: 1, max: 5}.number(k)
		return func(t time.Time) bool { return weekday(t) == day && (t.Day()+6)/7 == nth }, err
	}
	days, err := f.parse(text)
	return func(t time.Time) bool { return days[weekday(t)] }, err
}

func weekday(t time.Time) int { return int(t.Weekday()) + 1 }

func daysIn(t time.Time) int { return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// weekdayNear returns the working day of the month of t that is closest to a
// day, 0 for the last one, without leaving the month; 0 if the month has no
// such day.
func weekdayNear(t time.Time, day int) int {
	last := daysIn(t)
	if day > last {
		return 0
	}
	if day == 0 {
		day = last
	}
	switch time.Date(t.Year(), t.Month(), day, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == last {
			return day - 2
		}
		return day + 1
	}
	return day
}

// field is one field of a cron expression.
type field struct {
	name     string
	min, max int
	names    []string // of the values from min
}

// parse reads a list of *, values and ranges, each with a step or without.
func (f field) parse(text string) ([]bool, error) {
	allowed := make([]bool, f.max+1)
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			var err error
			if step, err = (field{name: f.name + " step", min: 1, max: f.max}).number(stepText); err != nil {
				return nil, err
			}
		}
		from, to := f.min, f.max
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			var err error
			if from, err = f.number(first); err != nil {
				return nil, err
			}
			switch {
			case ranged:
				if to, err = f.number(last); err != nil {
					return nil, err
				}
			case !stepped:
				to = from
			}
			if to < from {
				return nil, fmt.Errorf("%s: %s ends before it begins", f.name, span)
			}
		}
		for n := from; n <= to; n += step {
			allowed[n] = true
		}
	}
	return allowed, nil
}

func (f field) number(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToUpper(text)); i >= 0 {
		return f.min + i, nil
	}
	n, digits := 0, len(text) > 0 && len(text) <= 4
	for _, c := range text {
		digits = digits && c >= '0' && c <= '9'
		n = 10*n + int(c-'0')
	}
	if !digits || n < f.min || n > f.max {
		return 0, fmt.Errorf("%s: %q is not between %d and %d", f.name, text, f.min, f.max)
	}
	return n, nil
}
