package engine

import (
	"strconv"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

// Marks are what a node keeps of the control plane that it belongs to, as the
// status document of every engine prints them.
type Marks struct {
	Table string // ARN of its state table, "" = none (R12)
	Epoch uint64 // highest that it has seen, 0 = none
}

// ParseMarks reads them in the output of a status document.
func ParseMarks(output string) (Marks, error) {
	r, err := document.ParseReport(output)
	if err != nil {
		return Marks{}, err
	}
	m := Marks{Table: r["table"]}
	m.Epoch, _ = strconv.ParseUint(r["epoch"], 10, 64)
	return m, nil
}
