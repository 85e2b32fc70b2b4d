package postgresql

import (
	"context"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// printing is a host whose status script prints the same every time.
type printing string

func (p printing) Run(context.Context, string) (string, int, error) { return string(p), 0, nil }

// A server that starts has no socket yet: that is no fault of the setup, as it
// is where one runs.
func TestNoSocketYet(t *testing.T) {
	const output = `=== hadr host_time
1764460517.0
=== hadr database
psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory
=== hadr server
SERVER
=== hadr on_disk
primary
=== hadr end
`
	for server, trouble := range map[string]bool{"runs": true, "starts": false, "down": false} {
		l := Local{Group: "orders", Node: "a", Shell: printing(strings.Replace(output, "SERVER", server, 1)), Clock: clock.System()}
		o := l.View(t.Context(), declared(nil))
		if (o.Trouble != "") != trouble {
			t.Errorf("a server that %s: trouble %q", server, o.Trouble)
		}
		if down := o.Database == failover.DatabaseDown; down != (server == "down") {
			t.Errorf("a server that %s: %+v", server, o)
		}
	}
}
