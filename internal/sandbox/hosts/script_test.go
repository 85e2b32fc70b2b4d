package hosts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
)

// Scripts that must do the same in a real sh and in the interpreter.
var scripts = map[string]struct {
	text string
	out  string
	code int
}{
	"pipeline":         {"printf 'a = 1\\nb = 2\\n' | grep '^b' | sed 's/.* = //' | tr -d '\\n'", "2", 0},
	"exit of the last": {"false | true; echo $?; true | false; echo $?", "0\n1\n", 0},
	"set -eu":          {"set -eu\necho one\nfalse\necho two", "one\n", 1},
	"functions":        {"f() { echo \"$1-$2\"; return 3; }\nf a b || echo $?", "a-b\n3\n", 0},
	"here document":    {"cat <<EOF\nx $((1+2))\nEOF", "x 3\n", 0},
	"lock held":        {"exec 9>$HADR_ROOT/tmp/l\nflock -n 9 && echo got\nsh -c \"exec 9>$HADR_ROOT/tmp/l; flock -n 9 || echo busy\"", "got\nbusy\n", 0},
	"lock with command": {
		"flock -n $HADR_ROOT/tmp/m sh -c 'flock -n $HADR_ROOT/tmp/m echo no || echo busy'", "busy\n", 0,
	},
	"timeout":        {"timeout 1 sleep 30; echo $?", "124\n", 0},
	"case and trap":  {"trap 'echo bye' EXIT\ncase PEER in PEE*) echo yes;; esac", "yes\nbye\n", 0},
	"atomic replace": {"cd $HADR_ROOT/tmp; echo x >n.new; mv n.new n; cat n; test -f n.new || echo gone", "x\ngone\n", 0},
	"not found":      {"surely-not-there 2>/dev/null; echo $?", "127\n", 0},
	"read loop":      {"printf '1 2\\n3 4\\n' >$HADR_ROOT/tmp/r; while read -r a b; do echo $((a*b)); done <$HADR_ROOT/tmp/r", "2\n12\n", 0},
	"export":         {"a=1; export a b=\"$a 2\" c=3; sh -c 'echo $a-$b-$c' && readonly a && echo $a", "1-1 2-3\n1\n", 0},
	"no such port":   {"nc -z -w 2 10.0.2.10 4711 2>/dev/null; echo $?", "1\n", 0},
}

func checkScripts(t *testing.T, s *site) {
	t.Helper()
	for name, c := range scripts {
		out, code := s.run("i-a", c.text)
		if diff := cmp.Diff(c.out, out); diff != "" || code != c.code {
			t.Errorf("%s: code %d (want %d) (-want +got):\n%s", name, code, c.code, diff)
		}
	}
}

func TestScriptsInProcess(t *testing.T) {
	inBubble(t, hosts.Options{ProcstatInterval: -1}, func(t *testing.T, s *site) {
		s.up(pair)
		checkScripts(t, s)
	})
}
