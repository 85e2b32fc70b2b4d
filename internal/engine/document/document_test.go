package document

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var echo = Document{Kind: "echo", Description: "prints", Parameters: []Parameter{Group, Epoch}, Timeout: 7, Body: "printf '%s %s\\n' \"$group\" \"$epoch\"\n"}

func TestRender(t *testing.T) {
	tests := []struct {
		name   string
		values map[string]string
		says   string // "" = allowed
	}{
		{"good", map[string]string{"group": "orders", "epoch": "8"}, ""},
		{"missing", map[string]string{"group": "orders"}, "epoch is missing"},
		{"one too many", map[string]string{"group": "orders", "epoch": "8", "x": "y"}, "takes 2"},
		{"a way out of the quotes", map[string]string{"group": "orders'; id; '", "epoch": "8"}, "group"},
		{"a second line", map[string]string{"group": "orders\n", "epoch": "8"}, "group"},
		{"another parameter's place", map[string]string{"group": "{{ epoch }}", "epoch": "8"}, "group"},
		{"epoch 0", map[string]string{"group": "orders", "epoch": "0"}, "epoch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script, err := echo.Render(tt.values)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("Render: %v, want %q", err, tt.says)
			}
			if want := "#!/bin/sh\ngroup='orders'\nepoch='8'\n\n" + echo.Body; err == nil && script != want {
				t.Errorf("script %q, want %q", script, want)
			}
		})
	}
}

func TestContent(t *testing.T) {
	content, err := echo.Content()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		SchemaVersion string
		Parameters    map[string]struct{ Type, AllowedPattern string }
		MainSteps     []struct {
			Action string
			Inputs struct {
				TimeoutSeconds string
				RunCommand     []string
			}
		}
	}
	if err := json.Unmarshal([]byte(content), &got); err != nil {
		t.Fatal(err)
	}
	if got.SchemaVersion != "2.2" || len(got.MainSteps) != 1 || got.MainSteps[0].Action != "aws:runShellScript" || got.MainSteps[0].Inputs.TimeoutSeconds != "7" {
		t.Errorf("document %+v", got)
	}
	if p := got.Parameters["group"]; p.Type != "String" || p.AllowedPattern != Group.Pattern {
		t.Errorf("parameter group: %+v", p)
	}
	if lines := got.MainSteps[0].Inputs.RunCommand; lines[1] != "group='{{ group }}'" {
		t.Errorf("script %q", lines)
	}
}

func TestParseReport(t *testing.T) {
	tests := []struct {
		name, output string
		want         map[string]string // nil = an error
	}{
		{"sections", "noise\n=== hadr outcome\nprimary\n=== hadr reason\n\n two\nlines \r\n=== hadr end\n", map[string]string{"outcome": "primary", "reason": "two\nlines", "end": ""}},
		{"cut off", "=== hadr outcome\nprimary\n", nil},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseReport(tt.output)
			if (err != nil) != (tt.want == nil) || len(got) != len(tt.want) {
				t.Fatalf("%v, %v", got, err)
			}
			for name, want := range tt.want {
				if got[name] != want {
					t.Errorf("section %s: %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add("=== hadr outcome\nprimary\n=== hadr end\n")
	f.Fuzz(func(t *testing.T, output string) {
		r, err := ParseReport(output)
		if _, whole := r["end"]; (err == nil) != whole {
			t.Errorf("%q: %v, %v", output, r, err)
		}
	})
}

func TestTime(t *testing.T) {
	for s, want := range map[string]time.Time{
		"1772445600.123456789": time.Unix(1772445600, 123456789).UTC(),
		"1772445600.5":         time.Unix(1772445600, 500000000).UTC(),
		" 1772445600\n":        time.Unix(1772445600, 0).UTC(),
		"1772445600.%N":        time.Unix(1772445600, 0).UTC(),
		"":                     {}, "0": {}, "-5": {}, "later": {}, "99999999999999": {},
	} {
		if got := Time(s); !got.Equal(want) {
			t.Errorf("Time(%q) = %s, want %s", s, got, want)
		}
	}
}
