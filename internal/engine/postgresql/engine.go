package postgresql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Runner runs a document on an instance.
type Runner interface {
	Run(ctx context.Context, q command.Request) command.Result
}

// Engine observes and promotes PostgreSQL servers.
type Engine struct {
	runner Runner
	clock  clock.Clock
}

var _ control.Engine = (*Engine)(nil)

// New returns the engine. The names of the documents come with the settings of
// each group, so that an operation keeps to those of its snapshot (R13).
func New(r Runner, c clock.Clock) *Engine { return &Engine{runner: r, clock: c} }

// Observe implements control.Engine.
func (e *Engine) Observe(ctx context.Context, group string, n failover.NodeConfig, settings map[string]string) failover.Observation {
	o := failover.Observation{Node: n.ID, Source: "command"}
	e.observe(ctx, group, n, settings, &o)
	o.ReadAt = e.clock.Now()
	return o
}

func (e *Engine) observe(ctx context.Context, group string, n failover.NodeConfig, settings map[string]string, o *failover.Observation) {
	s, err := ParseSettings(settings)
	if err != nil {
		unreadable(o, err.Error())
		return
	}
	d := documents["status"]
	parameters := s.parameters(d, group, n.ID, nil)
	if err := s.check(d, parameters); err != nil {
		unreadable(o, err.Error())
		return
	}
	res := e.runner.Run(ctx, command.Request{
		Document: s.Documents["status"], Version: s.Versions["status"], Instance: n.Instance, Parameters: parameters, Comment: "status of " + group, Cancel: true,
	})
	switch res.Outcome {
	case command.OK:
		report, err := ParseReport(res.Stdout)
		if err != nil {
			unreadable(o, err.Error())
			return
		}
		assess(o, s, n.ID, report)
	case command.Undeliverable:
		o.Answer, o.AnswerError = failover.Undeliverable, res.Detail
	case command.Failed:
		unreadable(o, strings.TrimSpace(res.Detail+" "+document.Beginning(res.Stdout+res.Stderr)))
	default:
		o.Answer, o.AnswerError = failover.Silent, res.Detail
	}
}

// check: a document that is named, and values that it takes.
func (s Settings) check(d document.Document, parameters map[string]string) error {
	if s.Documents[d.Kind] == "" {
		return fmt.Errorf("setting %s_document is missing", d.Kind)
	}
	return d.Validate(parameters)
}

// order is one run of a document that changes a node.
type order struct {
	kind     string
	step     failover.StepName
	settings Settings
	control.Promotion
	extra map[string]string // values of the document beside the usual ones
}

// answer is how an order ended. Report is nil where nothing certain came back.
type answer struct {
	command.Result
	report document.Report
	err    error // it was certainly never sent
}

// run sends an order, or takes up an earlier run of the same one (R21).
func (e *Engine) run(ctx context.Context, q order, started func(commandID string)) answer {
	d := documents[q.kind]
	extra := map[string]string{
		"epoch": strconv.FormatUint(q.Epoch, 10), "operation": q.OperationID, "step": string(q.step),
		"attempt": strconv.Itoa(q.Attempt), "deadline": strconv.FormatInt(q.Deadline.Unix(), 10), "vip": or(q.VIP, "none"),
	}
	for name, value := range q.extra {
		extra[name] = value
	}
	parameters := q.settings.parameters(d, q.Group, q.Node.ID, extra)
	if err := q.settings.check(d, parameters); err != nil {
		return answer{err: err}
	}
	a := answer{Result: e.runner.Run(ctx, command.Request{
		Document: q.settings.Documents[q.kind], Version: q.settings.Versions[q.kind], Instance: q.Node.Instance, Parameters: parameters,
		Comment:   fmt.Sprintf("%s/%s/%d", q.OperationID, q.step, q.Attempt),
		CommandID: q.CommandID, Resume: true, Started: started,
	})}
	if a.CommandID == "" && a.Outcome != command.Unknown {
		a.err = fmt.Errorf("document %s was not sent to node %s: %s", q.kind, q.Node.ID, a.Detail)
		return a
	}
	if a.Outcome == command.OK || a.Outcome == command.Failed {
		report, err := document.ParseReport(a.Stdout)
		if err != nil {
			a.Detail = strings.TrimSpace(err.Error() + " " + document.Beginning(a.Stderr))
			return a
		}
		a.report = report
	}
	return a
}

// now is the moment that a report names, or the engine's own.
func (e *Engine) at(seconds string) time.Time {
	if t := document.Time(seconds); !t.IsZero() {
		return t
	}
	return e.clock.Now()
}
