package hosts

import (
	"context"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// executor runs the programs of machines: as processes of the operating
// system, or as goroutines.
type executor interface {
	// prepare makes a machine that was just switched on ready for programs.
	prepare(m *machine) error
	// spawn starts a program in the background; env is added to the machine's.
	spawn(m *machine, name string, args, env []string) (*process, error)
	// run runs a program in the foreground of another one.
	run(ctx context.Context, m *machine, c *Call) int
	// script runs a script as root. It ends with the script, its timeout or ctx.
	script(ctx context.Context, m *machine, c world.Command) (world.CommandResult, error)
	// freeze stops or continues everything on a machine, known or not.
	freeze(m *machine, frozen bool)
	// slaughter ends everything on a machine, known or not.
	slaughter(m *machine)
}
