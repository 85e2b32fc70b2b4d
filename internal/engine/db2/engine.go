package db2

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Runner runs a document on an instance.
type Runner interface {
	Run(ctx context.Context, q command.Request) command.Result
}

// Engine observes and promotes Db2 databases.
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
	parameters := map[string]string{"group": group, "database": s.Database, "owner": s.Owner}
	if err := check("status", s.StatusDocument, parameters); err != nil {
		unreadable(o, err.Error())
		return
	}
	res := e.runner.Run(ctx, command.Request{
		Document: s.StatusDocument, Version: s.versions["status"], Instance: n.Instance, Parameters: parameters, Comment: "status of " + group, Cancel: true,
	})
	switch res.Outcome {
	case command.OK:
		report, err := ParseReport(res.Stdout)
		if err != nil {
			unreadable(o, err.Error())
			return
		}
		assess(o, s, report)
	case command.Undeliverable:
		o.Answer, o.AnswerError = failover.Undeliverable, res.Detail
	case command.Failed:
		unreadable(o, strings.TrimSpace(res.Detail+" "+beginning(res.Stdout+res.Stderr)))
	default:
		o.Answer, o.AnswerError = failover.Silent, res.Detail
	}
}

func check(kind, name string, parameters map[string]string) error {
	if name == "" {
		return fmt.Errorf("setting %s_document is missing", kind)
	}
	d, err := DocumentOf(kind)
	if err != nil {
		return err
	}
	return d.Validate(parameters)
}

// Promote implements control.Engine. It asks for BY FORCE PEER WINDOW ONLY, for
// plain BY FORCE only where a person asked for that (R19), and for a takeover
// without force in a switchover.
func (e *Engine) Promote(ctx context.Context, p control.Promotion, started func(commandID string)) control.PromotionResult {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error()}
	}
	vip := p.VIP
	if vip == "" {
		vip = "none"
	}
	step := string(failover.StepPromote)
	parameters := map[string]string{
		"group": p.Group, "table_arn": s.TableARN, "database": s.Database, "owner": s.Owner, "vip": vip,
		"epoch": strconv.FormatUint(p.Epoch, 10), "operation": p.OperationID, "step": step,
		"attempt": strconv.Itoa(p.Attempt), "deadline": strconv.FormatInt(p.Deadline.Unix(), 10),
	}
	kind, document := "takeover", s.TakeoverDocument
	switch {
	case p.InOrder:
		kind, document = "switchover", s.SwitchDocument
	case p.Force:
		kind, document = "forced_takeover", s.ForcedDocument
	}
	if err := check(kind, document, parameters); err != nil {
		return control.PromotionResult{Outcome: failover.Failed, Detail: err.Error(), Next: "correct the configuration of the group, then terraform apply"}
	}
	res := e.runner.Run(ctx, command.Request{
		Document: document, Version: s.versions[kind], Instance: p.Node.Instance, Parameters: parameters,
		Comment:   fmt.Sprintf("%s/%s/%d", p.OperationID, step, p.Attempt), // R21
		CommandID: p.CommandID, Resume: !p.First, Started: started,
	})
	return promotion(res, s.Database)
}
