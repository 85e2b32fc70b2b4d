package main

import (
	"io"
	"strings"
	"testing"
)

// What a person mistypes is told with the way out, before anything is started
// and before AWS is asked.
func TestWrongInput(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	for _, tt := range []struct{ args, want string }{
		{"status", "status wants the name of one group, such as: hadr status orders"},
		{"rejoin orders payments --node a", "rejoin wants the name of one group"},
		{"history orders --limit 0", "--limit 0: want at least 1"},
		{"maintenance orders --on --for -2h", "--for -2h0m0s: want a time from now"},
		{"maintenance orders --off --for 2h", "together with --on"},
		{"demo --speed 0", "--speed 0: want a number above 0"},
		{"demo --speed NaN", "--speed NaN: want a number above 0"},
		{"demo --clients 0", "--clients 0: want at least 1"},
		{"demo --processes", "name it with --scenario"},
		{"demo --part half", `no part "half": want core`},
		{"demo --scenario flood", `no scenario "flood": want one of vanish`},
		{"sandbox --speed -1", "--speed -1: want a number above 0"},
		{"sandbox --listen 4566", "--listen 4566: want an address and a port"},
		{"sandbox --listen 0.0.0.0:4566", "listens on loopback alone"},
		{"sandbox --listen :4566", "listens on loopback alone"},
	} {
		cmd := root()
		cmd.SetArgs(strings.Fields(tt.args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("hadr %s: error %v, want %q", tt.args, err, tt.want)
		}
	}
}
