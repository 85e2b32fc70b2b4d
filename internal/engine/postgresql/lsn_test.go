package postgresql

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseLSN(t *testing.T) {
	for s, want := range map[string]LSN{"0/0": 0, "0/3000148": 0x3000148, "16/B374D848": 0x16B374D848, "FFFFFFFF/FFFFFFFF": 1<<64 - 1} {
		if got, err := ParseLSN(s); err != nil || got != want || got.String() != s {
			t.Errorf("ParseLSN(%q) = %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "/", "0", "0/", "/0", "0/1/2", "0/x", "-1/0", "+1/0", "100000000/0", "0/100000000", "1_0/0"} {
		if got, err := ParseLSN(s); err == nil {
			t.Errorf("ParseLSN(%q) = %s, want an error", s, got)
		}
	}
}

func TestLSNRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := LSN(rapid.Uint64().Draw(t, "position"))
		if got, err := ParseLSN(l.String()); err != nil || got != l {
			t.Errorf("%s became %s, %v", l, got, err)
		}
	})
}
