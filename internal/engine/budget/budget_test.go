package budget

import (
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	tests := []struct {
		name      string
		available time.Duration
		strict    bool
		fits      bool
		says      string
	}{
		{"room", 31 * time.Second, false, true, "a 10 + b 20 = 30 s <= 31 s"},
		{"just enough", 30 * time.Second, false, true, "a 10 + b 20 = 30 s <= 30 s"},
		{"just enough is not less", 30 * time.Second, true, false, "a 10 + b 20 = 30 s >= 30 s"},
		{"less", 31 * time.Second, true, true, "a 10 + b 20 = 30 s < 31 s"},
		{"too little", 29500 * time.Millisecond, false, false, "a 10 + b 20 = 30 s > 29.5 s"},
	}
	for _, tt := range tests {
		b := New(tt.available, Term{"a", 10 * time.Second}, Term{"b", 20 * time.Second})
		b.Strict = tt.strict
		if b.Fits() != tt.fits || b.String() != tt.says {
			t.Errorf("%s: fits %v, %q; want %v, %q", tt.name, b.Fits(), b, tt.fits, tt.says)
		}
	}
	if Or(0, time.Second) != time.Second || Or(time.Minute, time.Second) != time.Minute {
		t.Error("Or does not prefer what is given")
	}
}
