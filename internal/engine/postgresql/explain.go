package postgresql

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Explanation is what hadr reads in the output of a node's status document.
type Explanation struct {
	OK       bool       `json:"ok"`
	Error    string     `json:"error,omitempty"` // why it is not understood
	Role     string     `json:"role,omitempty"`
	Database string     `json:"database,omitempty"`
	State    string     `json:"state,omitempty"`
	Partner  string     `json:"partner,omitempty"`
	Position string     `json:"position,omitempty"` // end of the log on its disk
	Timeline uint32     `json:"timeline,omitempty"`
	Waits    string     `json:"waits,omitempty"`         // whom commits wait for
	HostTime *time.Time `json:"host_time,omitempty"`     // on the node's clock, as all times here
	Until    *time.Time `json:"promote_until,omitempty"` // end of the window
	Fit      bool       `json:"fit"`
	Why      string     `json:"why,omitempty"`
	Loses    string     `json:"loses,omitempty"` // what a takeover would lose now
	Next     string     `json:"next,omitempty"`
}

// Explain says what the control plane reads in the output of the status document
// of a node, under the settings of its group: replication_mode and what else they
// need.
func Explain(output, node string, settings map[string]string) (Explanation, error) {
	s, err := ParseSettings(settings)
	if err != nil {
		return Explanation{}, err
	}
	report, err := ParseReport(output)
	if err != nil {
		return Explanation{Error: err.Error(), Next: "give the whole output of the SSM document of kind postgresql_status"}, nil //nolint:nilerr // that is explained, too
	}
	var o failover.Observation
	assess(&o, s, node, report)
	x := Explanation{
		OK: o.Answer == failover.Answered, Error: o.AnswerError, Role: string(o.Role), Database: string(o.Database), State: o.State, Partner: o.PartnerStatus,
		Fit: o.Fitness == failover.Fit, Why: o.FitnessWhy, Next: o.FitnessNext, HostTime: moment(o.HostTime), Until: moment(o.PromoteUntil),
	}
	if db := report.Database; db != nil {
		x.Position, x.Timeline = db.Flushed.String(), db.Timeline
		if o.Role == failover.RolePrimary {
			x.Waits = whom(*db)
		}
		if x.Fit {
			e := Exposure{Mode: s.Mode, Missing: report.Contact.Missing, Since: covered(report.Contact, db.LastCommit.Time), At: o.HostTime}
			x.Loses = e.String()
		}
	}
	return x, nil
}

// whom says whom commits of a primary wait for.
func whom(db Database) string {
	if db.SynchronousNames == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s (synchronous_commit = %s)", db.SynchronousNames, db.SynchronousCommit)
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// WriteText writes the explanation for a human.
func (x Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s%s\n", name, value)
		}
	}
	if !x.OK {
		line("not read:", x.Error)
	}
	line("role:", x.Role)
	line("database:", strings.TrimSpace(x.Database+" "+x.State))
	line("partner:", x.Partner)
	line("waits for:", x.Waits)
	if x.Position != "" {
		line("log:", fmt.Sprintf("to %s, timeline %d", x.Position, x.Timeline))
	}
	if x.HostTime != nil {
		line("read at:", x.HostTime.Format(time.RFC3339)+" on its clock")
	}
	if x.Until != nil && x.HostTime != nil {
		line("window:", fmt.Sprintf("%s left, until %s", x.Until.Sub(*x.HostTime).Round(time.Second), x.Until.Format(time.RFC3339)))
	}
	switch {
	case x.Fit:
		line("takeover:", "it may be promoted: "+x.Loses)
	case x.Why != "":
		line("takeover:", "it may not be promoted: "+x.Why)
	}
	line("next:", x.Next)
	_, err := io.WriteString(w, b.String())
	return err
}
