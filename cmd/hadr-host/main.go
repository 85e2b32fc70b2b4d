// Command hadr-host is the programs of the sandbox's simulated hosts, such as
// db2 and systemctl: hosts find them as links to this binary. It is a binary of
// its own because a script runs a dozen of them, and the AWS clients of hadr
// would make each start slow.
package main

import (
	"fmt"
	"os"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
)

func main() {
	handled, code := hosts.MultiCall(os.Args[0], os.Args[1:])
	if !handled {
		fmt.Fprintf(os.Stderr, "%s: not a program of a simulated host; see hadr sandbox\n", os.Args[0])
		code = 127
	}
	os.Exit(code)
}
