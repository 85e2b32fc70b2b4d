package alarm

// State is the state of an alarm.
type State string

// States of an alarm. Retain is not a state: an evaluation answers it when the
// alarm keeps the state that it has.
const (
	OK               State = "OK"
	Alarm            State = "ALARM"
	InsufficientData State = "INSUFFICIENT_DATA"
	Retain           State = ""
)

// Valid reports whether s is one of the three states.
func (s State) Valid() bool { return s == OK || s == Alarm || s == InsufficientData }

// Treatment says what a missing datapoint counts as (TreatMissingData).
type Treatment string

// Treatments of missing data. The zero value means TreatMissing.
const (
	TreatMissing      Treatment = "missing"
	TreatIgnore       Treatment = "ignore"
	TreatBreaching    Treatment = "breaching"
	TreatNotBreaching Treatment = "notBreaching"
)

// Valid reports whether t is a documented treatment.
func (t Treatment) Valid() bool {
	switch t {
	case TreatMissing, TreatIgnore, TreatBreaching, TreatNotBreaching:
		return true
	}
	return false
}

// Slot is one period of the evaluation range.
type Slot uint8

// Kinds of slots.
const (
	Missing Slot = iota // no datapoint
	Good                // a datapoint that does not breach the threshold
	Breaching
)

// Decide evaluates the slots of an evaluation range, oldest first, for an alarm
// on m out of n datapoints. An m outside 1..n means n. It also returns how many
// missing datapoints were filled according to t.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
func Decide(slots []Slot, n, m int, t Treatment) (state State, filled int) {
	if m < 1 || m > n {
		m = n
	}
	real, good, bad, oldestBad := 0, 0, 0, 0
	for i := len(slots) - 1; i >= 0 && real < n; i-- {
		switch slots[i] {
		case Good:
			real, good = real+1, good+1
		case Breaching:
			real, bad, oldestBad = real+1, bad+1, len(slots)-i
		}
	}
	if real == n { // enough real datapoints: the treatment is ignored
		return either(bad >= m), 0
	}
	filled = n - real
	switch {
	case bad >= m:
		return Alarm, filled
	case t == TreatBreaching:
		return either(bad+filled >= m), filled
	case t == TreatNotBreaching, good > 0:
		return OK, filled
	case t == TreatIgnore:
		return Retain, filled
	case oldestBad >= m:
		// Premature-alarm rule: the oldest breaching datapoint is as old as m
		// and everything after it is breaching or missing.
		return Alarm, filled
	}
	return InsufficientData, filled
}

func either(alarm bool) State {
	if alarm {
		return Alarm
	}
	return OK
}
