package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

type nobody struct{}

func (nobody) Run(context.Context, command.Request) command.Result {
	return command.Result{Outcome: command.Undeliverable, Detail: "nobody is there"}
}

// An engine is data: every name has an engine that answers, words for people
// that name no other engine, and documents that hold together.
func TestEngines(t *testing.T) {
	foreign := map[string][]string{Db2: {"pg_"}, PostgreSQL: {"db2"}}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			e, err := New(name, nobody{}, clock.System())
			if err != nil {
				t.Fatal(err)
			}
			o := e.Observe(t.Context(), "orders", failover.NodeConfig{ID: "a", Instance: "i-a"}, nil)
			if o.Answer == failover.Answered || o.AnswerError == "" {
				t.Errorf("observation without an answer: %+v", o)
			}
			m := e.Manual()
			for _, words := range []string{m.Role, m.Start, m.Kill, m.Reseed} {
				if words == "" {
					t.Errorf("something that people do by hand has no words: %+v", m)
				}
				for _, other := range foreign[name] {
					if strings.Contains(strings.ToLower(words), other) {
						t.Errorf("%q is another engine's", words)
					}
				}
			}
			kinds, err := Kinds(name)
			if err != nil || len(kinds) == 0 {
				t.Fatalf("kinds %v, %v", kinds, err)
			}
			for _, kind := range kinds {
				d, err := DocumentOf(name, kind)
				if err != nil || d.Kind != kind {
					t.Errorf("document %s: %+v, %v", kind, d, err)
				}
			}
		})
	}
}

func TestUnknownEngine(t *testing.T) {
	_, opened := New("oracle", nobody{}, clock.System())
	_, kinds := Kinds("oracle")
	_, doc := DocumentOf("oracle", "status")
	for _, err := range []error{opened, kinds, doc} {
		if err == nil || !strings.Contains(err.Error(), `"oracle"`) || !strings.Contains(err.Error(), "db2, postgresql") {
			t.Errorf("error %v", err)
		}
	}
}

func TestParseMarks(t *testing.T) {
	const arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"
	tests := []struct {
		name, output string
		want         Marks
		complete     bool
	}{
		{"a node of a group", "=== hadr table\n" + arn + "\n=== hadr epoch\n7\n=== hadr end\n", Marks{arn, 7}, true},
		{"a new node", "=== hadr table\n=== hadr epoch\n=== hadr end\n", Marks{}, true},
		{"a damaged epoch", "=== hadr epoch\nseven\n=== hadr end\n", Marks{}, true},
		{"cut off", "=== hadr table\n" + arn + "\n", Marks{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := ParseMarks(tt.output); got != tt.want || (err == nil) != tt.complete {
				t.Errorf("marks %+v, %v; want %+v, complete %v", got, err, tt.want, tt.complete)
			}
		})
	}
}
