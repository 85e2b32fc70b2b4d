package postgresql

import (
	"strings"
	"testing"
)

func TestWaitsFor(t *testing.T) {
	tests := []struct {
		names, commit, node string
		says                string // "" = every acknowledged commit is on the node
	}{
		{`"b"`, "on", "b", ""},
		{`b`, "on", "b", ""},
		{`B`, "on", "b", ""},
		{`"node-b"`, "remote_apply", "node-b", ""},
		{`1 (b)`, "on", "b", ""},
		{`FIRST 1 (b)`, "on", "b", ""},
		{`ANY 2 (b, c)`, "on", "b", ""},
		{`first 2 ("b", c)`, "on", "c", ""},
		{``, "on", "b", "is empty"},
		{`  `, "on", "b", "is empty"},
		{`a`, "on", "b", "do not wait for b"},
		{`b, c`, "on", "b", "1 of 2"},
		{`ANY 1 (b, c)`, "on", "b", "1 of 2"},
		{`*`, "on", "b", "any program"},
		{`FIRST 1 (*)`, "on", "b", "any program"},
		{`b`, "remote_write", "b", "synchronous_commit is remote_write"},
		{`b`, "local", "b", "synchronous_commit is local"},
		{`b`, "off", "b", "synchronous_commit is off"},
		{`b c`, "on", "b", "not understood"},
		{`ANY x (b)`, "on", "b", "not understood"},
	}
	for _, tt := range tests {
		t.Run(tt.names+" "+tt.commit, func(t *testing.T) {
			got := waitsFor(tt.names, tt.commit, tt.node)
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("waitsFor: %q, want %q", got, tt.says)
			}
		})
	}
}

func FuzzParseStandbys(f *testing.F) {
	f.Add(`FIRST 1 ("b", c)`)
	f.Add(`*`)
	f.Fuzz(func(t *testing.T, names string) {
		if _, listed, err := parseStandbys(names); err == nil && len(listed) == 0 {
			t.Errorf("%q: understood, and nobody is listed", names)
		}
	})
}
