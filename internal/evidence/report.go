package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ReportVersion is the version of reports that this code writes and reads.
const ReportVersion = 1

// Who reports.
const (
	SourceAgent   = "hadr.agent"
	SourceWatch   = "hadr.watch"
	SourceOperate = "hadr.operate"
)

// Report is an event of the control plane's own: somebody suspects that a node
// failed, or that an operation does not go on. It is a hint: what counts is
// what is read afterwards.
type Report struct {
	Source   string `json:"source"`
	Version  int    `json:"version"`
	Group    string `json:"group"`
	Node     string `json:"node"` // that is suspected
	Evidence []Item `json:"evidence"`
}

// Item is one piece of evidence of a report.
type Item struct {
	Source     string    `json:"source"` // such as "agent b"
	Node       string    `json:"node"`
	Kind       string    `json:"kind"` // a signal, such as "lease_expired"
	Value      string    `json:"value"`
	ObservedAt time.Time `json:"observed_at"`
}

// ErrNoReport: an event is none of the control plane's own.
var ErrNoReport = errors.New("not a report")

// ParseReport reads a report. It returns ErrNoReport for another kind of event,
// and another error for a report that this code does not know.
func ParseReport(payload []byte) (Report, error) {
	var head struct {
		Source string `json:"source"`
	}
	if err := json.Unmarshal(payload, &head); err != nil || !slices.Contains([]string{SourceAgent, SourceWatch, SourceOperate}, head.Source) {
		return Report{}, ErrNoReport
	}
	var r Report
	if err := json.Unmarshal(payload, &r); err != nil {
		return Report{}, fmt.Errorf("report of %s: %w", head.Source, err)
	}
	switch {
	case r.Version != ReportVersion:
		return Report{}, fmt.Errorf("report of %s has version %d; this function knows %d: update the older side", r.Source, r.Version, ReportVersion)
	case r.Group == "" || r.Node == "":
		return Report{}, fmt.Errorf("report of %s names no group or no node", r.Source)
	}
	return r, nil
}

// Reason says in a line what a report is about, for people.
func (r Report) Reason() string {
	text := r.Source
	for i, e := range r.Evidence {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s says %s: %s", sep, e.Source, e.Kind, e.Value)
	}
	return text
}
