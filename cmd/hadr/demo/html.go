package demo

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo/page"
)

// WritePage writes the result as a page with a timeline.
func (r Result) WritePage(file string) error {
	var b bytes.Buffer
	if err := page.Write(&b, r.page()); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the page of the result: %w", err)
	}
	return nil
}

func (r Result) page() page.Page {
	p := page.Page{
		Title:    "hadr demo: " + r.Name,
		Note:     fmt.Sprintf("Times are of the sandbox's clock, which ran %g times as fast as real time.", r.Speed),
		Failure:  r.failure(),
		Recovery: r.Recovery,
		Audit: page.Audit{
			Acknowledged: r.Audit.Acknowledged, LastSecond: r.LastSecond,
			Lost: r.Audit.Lost, Double: r.Audit.Double, Forked: r.Audit.Forked, Examples: r.Audit.Examples,
		},
		Primary:    r.Primary,
		Epoch:      r.Epoch,
		Deviations: r.Deviations,
	}
	for _, t := range r.Phases {
		p.Phases = append(p.Phases, page.Phase{Name: t.Phase, Seconds: t.Seconds})
	}
	for _, table := range sortedKeys(r.Owners) {
		p.Owners = append(p.Owners, page.Owner{RouteTable: table, Leads: r.Owners[table]})
	}
	if r.Plan != nil {
		p.Plan = &page.Plan{Empty: r.Plan.Empty, Text: r.Plan.Text, Warnings: r.Plan.Warnings}
	}
	p.Moments = moments(r.Timeline, p.Failure)
	p.Lanes = append(r.nodeLanes(), alarmLanes(p.Moments)...)
	p.Lanes = append(p.Lanes, page.Lane{ID: page.ControlLane, Title: "Control plane", Note: "phases of the recovery"}, r.clientLane())
	return p
}

// failure is when everything is counted from. A moment that was noted before
// the failure counts 0, so any other tells it.
func (r Result) failure() time.Time {
	var first time.Time
	for _, m := range r.Timeline {
		if m.After != 0 {
			return m.At.Add(-time.Duration(math.Round(m.After * float64(time.Second))))
		}
		if first.IsZero() && m.Lane == "host" {
			first = m.At
		}
	}
	return first
}

var (
	evidenceLine = regexp.MustCompile(`^  evidence ([^:]*): (.*)$`)
	nextLine     = regexp.MustCompile(`^  next: (.*)$`)
	alarmChange  = regexp.MustCompile(`^(\S+) went from \S+ to ([A-Z_]+)`)
)

// Lanes of the two nodes of the sandbox.
const (
	laneFailed = "failed node"
	laneOther  = "other node"
)

// moments folds evidence and next commands, which the timeline prints as lines
// of their own, into the moment they belong to.
func moments(timeline []Moment, failure time.Time) []page.Moment {
	var all []page.Moment
	for _, m := range timeline {
		if n := len(all); n > 0 {
			if e := evidenceLine.FindStringSubmatch(m.Text); e != nil {
				all[n-1].Evidence = append(all[n-1].Evidence, page.Evidence{Signal: e[1], Detail: e[2]})
				continue
			}
			if e := nextLine.FindStringSubmatch(m.Text); e != nil {
				all[n-1].Next = e[1]
				continue
			}
		}
		lane := m.Lane
		switch lane {
		case "host":
			lane = laneFailed
		case "route": // the control plane moves the routes
			lane = page.ControlLane
		case "alarm":
			if c := alarmChange.FindStringSubmatch(m.Text); c != nil {
				lane = alarmLane(c[1])
			}
		}
		all = append(all, page.Moment{After: m.At.Sub(failure).Seconds(), Lane: lane, Source: m.Lane, Text: m.Text})
	}
	return all
}

func alarmLane(name string) string { return "alarm " + name }

// alarmLanes shows when each alarm was red, in the order in which they turned so.
func alarmLanes(all []page.Moment) []page.Lane {
	var lanes []page.Lane
	index := map[string]int{}
	for _, m := range all {
		c := alarmChange.FindStringSubmatch(m.Text)
		if m.Source != "alarm" || c == nil {
			continue
		}
		i, known := index[c[1]]
		if !known && c[2] != "ALARM" {
			continue
		}
		if !known {
			i = len(lanes)
			index[c[1]] = i
			lanes = append(lanes, page.Lane{ID: alarmLane(c[1]), Note: c[1]})
		}
		l := &lanes[i]
		if n := len(l.States); n > 0 && math.IsInf(l.States[n-1].To, 1) {
			l.States[n-1].To = m.After
		}
		if c[2] == "ALARM" {
			at := fmt.Sprintf("%+.1f s", m.After)
			l.States = append(l.States, page.State{From: m.After, To: math.Inf(1), Kind: page.Red, Label: "red from " + at, Short: at})
		}
	}
	if len(lanes) == 0 {
		return []page.Lane{{ID: "alarm", Title: "Alarms", Note: "none turned red"}}
	}
	lanes[0].Title = "Alarms"
	return lanes
}

// between returns from when to when a phase took place.
func (r Result) between(phase string) (from, to float64, found bool) {
	for _, p := range r.Phases {
		from, to = to, to+p.Seconds
		if p.Phase == phase {
			return from, to, true
		}
	}
	return 0, 0, false
}

// stopped returns from when to when the old primary's machine was stopping: its
// stop is confirmed before the promotion, or else at the end.
func (r Result) stopped() (accepted, confirmed float64, found bool) {
	if accepted, confirmed, found = r.between("fenced"); found {
		return accepted, confirmed, true
	}
	_, accepted, fenced := r.between("fence")
	_, confirmed, verified := r.between("verify")
	return accepted, confirmed, fenced && verified
}

// nodeLanes shows the two nodes. After the failure it says only what the phases
// prove: that a node is stopped when the fence is confirmed, and that it is
// primary when the role has been read.
func (r Result) nodeLanes() []page.Lane {
	failed, other := "a", "b"
	if r.Primary == "a" && len(r.Phases) > 0 {
		failed, other = other, failed
	}
	old := page.Lane{ID: laneFailed, Title: "Node " + failed, Note: "primary before the failure"}
	standby := page.Lane{ID: laneOther, Title: "Node " + other, Note: "standby before the failure"}
	always, never := math.Inf(-1), math.Inf(1)
	old.States = append(old.States, page.State{From: always, To: 0, Kind: page.Serving, Label: "primary"})
	fence, stopped, fenced := r.stopped()
	promote, _, _ := r.between("promote")
	_, primary, promoted := r.between("confirm")
	if fenced {
		old.States = append(old.States,
			page.State{From: 0, To: fence, Kind: page.Silent, Label: "silent"},
			page.State{From: fence, To: stopped, Kind: page.Changing, Label: "stopping"},
			page.State{From: stopped, To: never, Kind: page.Stopped, Label: "stopped and fenced", Short: "stopped"})
	}
	if !promoted {
		standby.States = append(standby.States, page.State{From: always, To: 0, Kind: page.Standby, Label: "standby"})
		return []page.Lane{old, standby}
	}
	standby.States = append(standby.States,
		page.State{From: always, To: promote, Kind: page.Standby, Label: "standby"},
		page.State{From: promote, To: primary, Kind: page.Changing, Label: "taking over"},
		page.State{From: primary, To: never, Kind: page.Serving, Label: "primary"})
	return []page.Lane{old, standby}
}

func (r Result) clientLane() page.Lane {
	l := page.Lane{ID: "client", Title: "Clients", Note: page.Count(r.Audit.Acknowledged) + " commits acknowledged, " + page.Count(r.Audit.Lost) + " lost"}
	before := page.State{From: math.Inf(-1), To: 0, Kind: page.Serving, Label: "writing"}
	if r.LastSecond > 0 {
		before.Label, before.Short = fmt.Sprintf("writing: %d commits in the last second", r.LastSecond), fmt.Sprintf("%d commits/s", r.LastSecond)
	}
	l.States = append(l.States, before)
	if r.Recovery > 0 {
		l.States = append(l.States,
			page.State{From: 0, To: r.Recovery, Kind: page.Blocked, Label: fmt.Sprintf("no commit for %.1f s", r.Recovery)},
			page.State{From: r.Recovery, To: math.Inf(1), Kind: page.Serving, Label: "writing again", Short: "writing"})
	}
	return l
}
