package postgresql

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// LSN is a position in the log, in bytes
// (https://www.postgresql.org/docs/15/datatype-pg-lsn.html).
type LSN uint64

// ParseLSN reads a position such as 16/B374D848.
func ParseLSN(s string) (LSN, error) {
	high, low, ok := strings.Cut(s, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	l, err2 := strconv.ParseUint(low, 16, 32)
	if !ok || err != nil || err2 != nil || strings.ContainsAny(s, "+-_") {
		return 0, fmt.Errorf("%q is no position in the log: want two hexadecimal numbers with a slash between", s)
	}
	return LSN(h<<32 | l), nil
}

// String writes it as PostgreSQL does.
func (l LSN) String() string { return fmt.Sprintf("%X/%X", uint32(l>>32), uint32(l)) }

// UnmarshalJSON reads a position, null as 0.
func (l *LSN) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read a position in the log: %w", err)
	}
	if s == nil {
		return nil
	}
	var err error
	*l, err = ParseLSN(*s)
	return err
}

// behind is how many bytes l is before other.
func (l LSN) behind(other LSN) int64 {
	if other <= l {
		return 0
	}
	return int64(other - l)
}
