package ssm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSubstitute(t *testing.T) {
	values := map[string]any{"Name": "SAMPLE", "List": []string{"a", "b c"}, "Tricky": "{{ Name }} $1"}
	for _, tt := range []struct {
		name     string
		in, want any
	}{
		{"pasted without quotes", "db2 {{ Name }};{{Name}}", "db2 SAMPLE;SAMPLE"},
		{"a list alone stays a list", "{{ List }}", []string{"a", "b c"}},
		{"a list in a text is JSON", "for {{ List }}", `for ["a","b c"]`},
		{"values are not looked at again", "{{ Tricky }} {{ Tricky }}", "{{ Name }} $1 {{ Name }} $1"},
		{"in lists and maps", map[string]any{"k": []any{"{{ Name }}", 3.0}}, map[string]any{"k": []any{"SAMPLE", 3.0}}},
		{"an unknown name stays", "{{ Other }} x", "{{ Other }} x"},
	} {
		if diff := cmp.Diff(tt.want, substitute(tt.in, values)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Text without references is never changed.
func TestSubstituteKeepsOtherText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[^{]*`).Draw(t, "text")
		if got := substitute(s, map[string]any{"Name": "x"}); got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
