package alarm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// TimeFormat is how CloudWatch writes times in reason data and alarm events.
const TimeFormat = "2006-01-02T15:04:05.000-0700"

// CreationReason is the reason of a new metric alarm's first state.
const CreationReason = "Unchecked: Initial alarm creation"

// Point is one period of the evaluation range.
type Point struct {
	Start   time.Time
	Value   float64 // NaN if missing
	Samples float64 // sample count, 0 if not known (expressions)
}

// Missing reports whether the period has no datapoint.
func (p Point) Missing() bool { return math.IsNaN(p.Value) }

// Criteria are the settings of a metric alarm that an evaluation needs.
type Criteria struct {
	Statistic  string // "" for expressions
	Unit       string
	Period     time.Duration
	N          int
	M          int // DatapointsToAlarm, 0 if not set
	Comparison Comparison
	Threshold  float64
	Treatment  Treatment
}

// Evaluation is one evaluation of a metric alarm.
type Evaluation struct {
	Criteria
	Query  time.Time
	Points []Point // the evaluation range, oldest first

	State  State // Retain if the alarm keeps its state
	Filled int
}

// Evaluate decides the state for the points of an evaluation range, oldest first.
func (c Criteria) Evaluate(query time.Time, points []Point) Evaluation {
	slots := make([]Slot, 0, 32)
	for _, p := range points {
		slots = append(slots, c.Slot(p))
	}
	e := Evaluation{Criteria: c, Query: query, Points: points}
	e.State, e.Filled = Decide(slots, c.N, c.M, c.Treatment)
	return e
}

// Slot compares a point with the threshold.
func (c Criteria) Slot(p Point) Slot {
	switch {
	case p.Missing():
		return Missing
	case c.Comparison.Breaches(p.Value, c.Threshold):
		return Breaching
	}
	return Good
}

// evaluated returns the points that decided, newest first: real datapoints, and
// the newest missing ones that were filled.
func (e *Evaluation) evaluated() []Point {
	var out []Point
	real, fill := e.N-e.Filled, e.Filled
	for i := len(e.Points) - 1; i >= 0; i-- {
		left := &real
		if e.Points[i].Missing() {
			left = &fill
		}
		if *left > 0 {
			*left--
			out = append(out, e.Points[i])
		}
	}
	return out
}

// Reason returns the text of StateReason, in the forms that the documentation and
// captures show.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
func (e *Evaluation) Reason() string {
	if e.State == InsufficientData {
		return fmt.Sprintf("Insufficient Data: %s unknown.", count(e.Filled, "datapoint", "was", "were"))
	}
	want, not := Breaching, ""
	minimum := fmt.Sprintf("(minimum %s for OK -> ALARM transition)", count(e.M, "datapoint", "", ""))
	if e.State == OK {
		want, not = Good, "not "
		minimum = fmt.Sprintf("(minimum %s for ALARM -> OK transition)", count(e.N-e.M+1, "datapoint", "", ""))
	}
	var listed []string
	received := 0
	for _, p := range e.evaluated() {
		if !p.Missing() {
			received++
		}
		if e.Slot(p) == want {
			listed = append(listed, fmt.Sprintf("%s (%s)", Double(p.Value), p.Start.UTC().Format("02/01/06 15:04:05")))
		}
	}
	var parts []string
	if n := len(listed); n > 0 {
		verb := "was"
		if n > 1 {
			verb = "were"
		}
		points := count(n, "datapoint", "", "")
		if e.M > 0 {
			points = fmt.Sprintf("%d out of the last %d datapoints", n, e.N)
		}
		text := fmt.Sprintf("%s [%s] %s %s%s the threshold (%s)", points, strings.Join(listed, ", "), verb, not, e.Comparison.words(), Double(e.Threshold))
		if e.M > 0 {
			text += " " + minimum
		}
		parts = append(parts, text)
	} else if received == 0 {
		parts = append(parts, "no datapoints were received for "+count(e.N, "period", "", ""))
	}
	if as := map[Treatment]string{TreatBreaching: "Breaching", TreatNotBreaching: "NonBreaching"}[e.Treatment]; as != "" && e.Filled > 0 {
		parts = append(parts, fmt.Sprintf("%s treated as [%s]", count(e.Filled, "missing datapoint", "was", "were"), as))
	}
	return "Threshold Crossed: " + strings.Join(parts, " and ") + "."
}

// count returns "1 period" or "2 periods", and the verb if there is one.
func count(n int, noun, singular, plural string) string {
	s := fmt.Sprintf("%d %s", n, noun)
	verb := singular
	if n != 1 {
		s, verb = s+"s", plural
	}
	return strings.TrimRight(s+" "+verb, " ")
}

type reasonData struct {
	Version   string           `json:"version"`
	Query     string           `json:"queryDate"`
	Start     string           `json:"startDate,omitempty"`
	Unit      string           `json:"unit,omitempty"`
	Statistic string           `json:"statistic,omitempty"`
	Period    int              `json:"period"`
	Recent    []any            `json:"recentDatapoints"`
	Threshold jsonDouble       `json:"threshold"`
	Evaluated []evaluatedPoint `json:"evaluatedDatapoints"`
}

type evaluatedPoint struct {
	Timestamp string      `json:"timestamp"`
	Samples   *jsonDouble `json:"sampleCount,omitempty"`
	Value     *jsonDouble `json:"value,omitempty"`
}

// ReasonData returns StateReasonData, a JSON document. Missing datapoints carry a
// time only; recentDatapoints runs from the oldest to the newest real one.
func (e *Evaluation) ReasonData() string {
	d := reasonData{
		Version: "1.0", Query: e.Query.UTC().Format(TimeFormat), Unit: e.Unit, Statistic: e.Statistic,
		Period: int(e.Period / time.Second), Recent: []any{}, Threshold: jsonDouble(e.Threshold), Evaluated: []evaluatedPoint{},
	}
	var oldest, newest time.Time
	for _, p := range e.evaluated() {
		x := evaluatedPoint{Timestamp: p.Start.UTC().Format(TimeFormat)}
		if !p.Missing() {
			x.Value = new(jsonDouble(p.Value))
			if p.Samples > 0 {
				x.Samples = new(jsonDouble(p.Samples))
			}
			if oldest = p.Start; newest.IsZero() {
				newest = p.Start
			}
		}
		d.Evaluated = append(d.Evaluated, x)
	}
	if !oldest.IsZero() {
		d.Start = oldest.UTC().Format(TimeFormat)
		for _, p := range e.Points {
			switch {
			case p.Start.Before(oldest) || p.Start.After(newest):
			case p.Missing():
				d.Recent = append(d.Recent, nil)
			default:
				d.Recent = append(d.Recent, jsonDouble(p.Value))
			}
		}
	}
	return string(marshal(d))
}

// Double writes a number as CloudWatch does: always with a fraction, and with an
// exponent from ten millions on or below a thousandth.
func Double(f float64) string {
	a := math.Abs(f)
	if a != 0 && (a >= 1e7 || a < 1e-3) {
		s := strconv.FormatFloat(f, 'E', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// jsonDouble is a number in JSON with CloudWatch's spelling.
type jsonDouble float64

func (d jsonDouble) MarshalJSON() ([]byte, error) { return []byte(Double(float64(d))), nil }

// marshal encodes without escaping < and >, which reasons contain. The types of
// this package can always be encoded.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n")
}
