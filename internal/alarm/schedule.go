package alarm

import "time"

// DefaultCutoff is how long ago a period must have ended before an alarm on a
// single metric uses it. Captures at a period of 10 s place it between 8.8 and
// 10.8 s; alarms on expressions showed none. It is undocumented.
const DefaultCutoff = 10 * time.Second

// Schedule says when an alarm is evaluated and which periods it sees.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
type Schedule struct {
	Period time.Duration // 10, 20, 30 or a multiple of 60 s
	N      int           // evaluation periods
	Range  int           // number of periods that are looked at, at least N
	Cutoff time.Duration // see DefaultCutoff
	Phase  time.Duration // offset of the alarm's evaluations within Step
}

// NewSchedule returns the schedule of an alarm with the default range and
// cut-off. expression tells whether the alarm is on a metric math expression.
func NewSchedule(period time.Duration, n int, expression bool) Schedule {
	s := Schedule{Period: period, N: n, Range: DefaultRange(period, n)}
	if !expression {
		s.Cutoff = DefaultCutoff
	}
	return s
}

// DefaultRange returns the size of the evaluation range. AWS says that it is
// larger than n and does not publish it; these values explain all captures:
// n + 60 s/period below a minute, n + 4 at one minute, n + 2 from 5 minutes on
// (the one example of the documentation: 5 for n = 3). Nothing is known between
// one and five minutes, where the larger of the neighbours is assumed: it never
// promises an alarm too early.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
func DefaultRange(period time.Duration, n int) int {
	switch {
	case period <= 0:
		return n
	case period < time.Minute:
		return n + int(time.Minute/period)
	case period < 5*time.Minute:
		return n + 4
	}
	return n + 2
}

// Step returns the time between two evaluations: a minute, 10 s for
// high-resolution alarms, an hour when the periods cover more than a day.
func (s Schedule) Step() time.Duration {
	switch {
	case s.Period < time.Minute:
		return 10 * time.Second
	case time.Duration(s.N)*s.Period > 24*time.Hour:
		return time.Hour
	}
	return time.Minute
}

// Next returns the first evaluation after t.
func (s Schedule) Next(t time.Time) time.Time {
	step := s.Step()
	next := t.Truncate(step).Add(s.Phase % step)
	for !next.After(t) {
		next = next.Add(step)
	}
	return next
}

// End returns the end of the newest period that an evaluation at query uses.
// The window slides by minutes: a period of 300 s is any five whole minutes.
// Periods below a minute are aligned to themselves, and alarms over more than a
// day use data up to the full hour.
func (s Schedule) End(query time.Time) time.Time {
	grain := time.Minute
	switch {
	case s.Period < time.Minute:
		grain = s.Period
	case s.Step() == time.Hour:
		grain = time.Hour
	}
	return query.Add(-s.Cutoff).Truncate(grain)
}

// Start returns the start of the oldest period that an evaluation at query sees.
func (s Schedule) Start(query time.Time) time.Time {
	return s.End(query).Add(-time.Duration(s.Range) * s.Period)
}

// Slot returns the place of the period that starts at start in the evaluation at
// query: 1 is the newest, Range the oldest. A period that has not ended by End is
// in slot 0 or less and is not looked at, like those beyond Range.
func (s Schedule) Slot(query, start time.Time) int {
	d := s.End(query).Sub(start)
	if d < 0 {
		return 0
	}
	return int(d / s.Period)
}
