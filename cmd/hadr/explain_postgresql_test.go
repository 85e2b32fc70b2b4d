package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestExplainPostgreSQL(t *testing.T) {
	const samples = "../../internal/engine/postgresql/testdata/"
	tests := []struct {
		args []string
		says string // of the output, or of the error
		fail bool
	}{
		{[]string{samples + "standby.txt"}, "it may be promoted: no acknowledged commit is lost", false},
		{[]string{"--mode", "async", "--max-rpo", "600", samples + "standby.txt"}, "acknowledged commits of at most", false},
		{[]string{"--json", "--node", "a", samples + "down.txt"}, `"role": "primary"`, false},
		{[]string{"--mode", "semi", samples + "standby.txt"}, "want sync or async", true},
		{[]string{"explain_postgresql_test.go"}, "not complete", true},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			cmd := explainCommand()
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetArgs(append([]string{"postgresql"}, tt.args...))
			err := cmd.Execute()
			said := out.String()
			if err != nil {
				said += err.Error()
			}
			if (err != nil) != tt.fail || !strings.Contains(said, tt.says) {
				t.Errorf("%v: %s, want %q", err, said, tt.says)
			}
		})
	}
}
