package wire

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// The timestamp formats of Smithy.
// https://smithy.io/2.0/spec/protocol-traits.html#timestampformat-trait
const (
	epochSeconds = "epoch-seconds"
	dateTime     = "date-time"
	httpDate     = "http-date"
)

func timestampFormat(s *smithy.Schema, otherwise string) string {
	if t, ok := smithy.SchemaTrait[*traits.TimestampFormat](s); ok {
		return t.Format
	}
	return otherwise
}

// seconds returns t in seconds since the Unix epoch, with milliseconds: AWS
// keeps no finer time.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// textTime returns t in a textual format.
func textTime(t time.Time, format string) string {
	switch t = t.UTC(); format {
	case httpDate:
		return t.Format(http.TimeFormat)
	case epochSeconds:
		return strconv.FormatFloat(seconds(t), 'f', -1, 64)
	default:
		return t.Format("2006-01-02T15:04:05.999Z")
	}
}

// parseTime reads any of the formats: clients differ, and none is ambiguous.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, http.TimeFormat, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a timestamp", s)
	}
	return epoch(f)
}

// maxEpoch is the last second of the year 9999, the last that RFC 3339 writes.
const maxEpoch = 253402300799

func epoch(f float64) (time.Time, error) {
	if math.IsNaN(f) || math.Abs(f) > maxEpoch {
		return time.Time{}, fmt.Errorf("%v is not a timestamp in seconds", f)
	}
	return time.UnixMilli(int64(math.Round(f * 1000))).UTC(), nil
}
