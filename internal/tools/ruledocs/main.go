// Ruledocs prints the page that tells why each rule of the decision core is
// there, with the stories that the model checker finds.
package main

import (
	"fmt"
	"os"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/check"
)

func main() {
	learned := check.Learn()
	if killed, searched, left := check.Killed(learned); killed < searched {
		fmt.Fprintf(os.Stderr, "ruledocs: no story was found for %v: give the lessons in internal/failover/check a larger bound\n", left)
		os.Exit(1)
	}
	fmt.Print(check.Page(learned))
}
