package main

import (
	"log/slog"
	"strings"
	"testing"
)

// TestPick: a function that is configured wrong says what to set.
func TestPick(t *testing.T) {
	base := map[string]string{"_HANDLER": "takeover", "HADR_TABLE": "hadr", "AWS_REGION": "eu-central-1"}
	tests := []struct {
		name string
		set  map[string]string
		says string // "" = it starts
	}{
		{"takeover", nil, ""},
		{"watch", map[string]string{"_HANDLER": "watch", "HADR_GROUPS": "orders,stock"}, ""},
		{"watch without groups", map[string]string{"_HANDLER": "watch"}, "HADR_GROUPS"},
		{"no table", map[string]string{"HADR_TABLE": ""}, "HADR_TABLE"},
		{"another handler", map[string]string{"_HANDLER": "main"}, `no handler "main"`},
		{"a sandbox's clock against real AWS", map[string]string{"HADR_SANDBOX_CLOCK": "1,2,3"}, "loopback"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_REGION", "eu-central-1")
			env := map[string]string{}
			for k, v := range base {
				env[k] = v
			}
			for k, v := range tt.set {
				env[k] = v
			}
			h, err := pick(t.Context(), func(k string) string { return env[k] }, slog.New(slog.DiscardHandler))
			switch {
			case tt.says == "" && (err != nil || h == nil):
				t.Errorf("pick = %v, %v", h, err)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("error %v does not say %q", err, tt.says)
			}
		})
	}
}

func TestLevel(t *testing.T) {
	for name, want := range map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "WARN": slog.LevelWarn, "loud": slog.LevelInfo} {
		if got := level(name); got != want {
			t.Errorf("level(%q) = %s, want %s", name, got, want)
		}
	}
}
