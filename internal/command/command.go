// Package command runs SSM documents on instances and says what is known about
// their outcome.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// API is what a Runner needs of an SSM client.
type API interface {
	SendCommand(ctx context.Context, in *ssm.SendCommandInput, opts ...func(*ssm.Options)) (*ssm.SendCommandOutput, error)
	GetCommandInvocation(ctx context.Context, in *ssm.GetCommandInvocationInput, opts ...func(*ssm.Options)) (*ssm.GetCommandInvocationOutput, error)
	ListCommands(ctx context.Context, in *ssm.ListCommandsInput, opts ...func(*ssm.Options)) (*ssm.ListCommandsOutput, error)
	CancelCommand(ctx context.Context, in *ssm.CancelCommandInput, opts ...func(*ssm.Options)) (*ssm.CancelCommandOutput, error)
}

// Outcome is what is known about a command.
type Outcome string

// The outcomes of a command.
const (
	OK            Outcome = "ok"            // ended with exit code 0
	Failed        Outcome = "failed"        // ended with another exit code
	Undeliverable Outcome = "undeliverable" // AWS could not hand it over
	Unknown       Outcome = "unknown"       // may have run, or may still run (R23)
)

// Request is one run of a document on one instance.
type Request struct {
	Document   string // name or ARN
	Version    string // of the document, "" = its default one
	Instance   string
	Parameters map[string]string
	// Comment names the run, at most 100 characters. A run that may be asked
	// for twice has a comment of its own (R21).
	Comment string
	// CommandID goes on with a command that was sent before.
	CommandID string
	// Resume looks for a command with this comment before it sends one.
	Resume bool
	// Cancel withdraws the command when ctx ends first. A command that must
	// not be killed half-way stays.
	Cancel bool
	// Started is told the command id as soon as it is known.
	Started func(commandID string)
}

// Result is what came of a Request.
type Result struct {
	CommandID string
	Outcome   Outcome
	Code      int // exit code, -1 if there is none
	Stdout    string
	Stderr    string
	Detail    string // for people: why it is not OK
}

// deliveryTimeout is the time that SSM has to hand a command over, in seconds:
// the smallest that it allows
// (https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html).
// An offline agent must not find an old command when it comes back.
const deliveryTimeout = 30

// Times between two looks at a command. An invocation can be missing for a
// moment after SendCommand returned its id.
const (
	firstPoll   = 200 * time.Millisecond
	slowestPoll = time.Second
	// firstPolls are how many looks come at once: most commands end within them.
	firstPolls = 20
)

// cancelTimeout bounds the withdrawal of a command that is given up.
const cancelTimeout = 2 * time.Second

// Runner runs documents. It is safe for concurrent use.
type Runner struct {
	api   API
	clock clock.Clock
}

// NewRunner returns a runner on the instances of one Region.
func NewRunner(api API, c clock.Clock) *Runner { return &Runner{api, c} }

// Run sends a command, or goes on with one that was sent before, and waits for
// its end or that of ctx.
func (r *Runner) Run(ctx context.Context, q Request) Result {
	id := q.CommandID
	if id == "" && q.Resume {
		// Without an answer the command is sent: the node answers a
		// duplicate with the first result.
		id, _ = r.find(ctx, q)
	}
	if id == "" {
		var failed *Result
		if id, failed = r.send(ctx, q); failed != nil {
			return *failed
		}
	}
	if q.Started != nil {
		q.Started(id)
	}
	return r.wait(ctx, q, id)
}

// once keeps the SDK from sending a command again: SendCommand knows no client
// token, so every request runs.
func once(o *ssm.Options) { o.RetryMaxAttempts = 1 }

func (r *Runner) send(ctx context.Context, q Request) (string, *Result) {
	parameters := make(map[string][]string, len(q.Parameters))
	for name, value := range q.Parameters {
		parameters[name] = []string{value}
	}
	in := &ssm.SendCommandInput{
		DocumentName: &q.Document, InstanceIds: []string{q.Instance}, Parameters: parameters,
		TimeoutSeconds: aws.Int32(deliveryTimeout),
	}
	if q.Comment != "" {
		in.Comment = &q.Comment
	}
	if q.Version != "" {
		in.DocumentVersion = &q.Version
	}
	pause := firstPoll
	for {
		out, err := r.api.SendCommand(ctx, in, once)
		if err == nil && out.Command != nil {
			return aws.ToString(out.Command.CommandId), nil
		}
		if awsclient.IsThrottle(err) && r.clock.Sleep(ctx, pause) == nil {
			pause = min(2*pause, slowestPoll)
			continue
		}
		return r.unsent(ctx, q, err)
	}
}

// unsent sorts out a SendCommand that returned an error.
func (r *Runner) unsent(ctx context.Context, q Request, err error) (string, *Result) {
	res := &Result{Code: -1, Outcome: Failed, Detail: fmt.Sprintf("run document %s on %s: %v", q.Document, q.Instance, err)}
	switch {
	case awsclient.Code(err) == "InvalidInstanceId":
		// Not registered, not running, or its agent never answered
		// (https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html#API_SendCommand_Errors).
		res.Outcome = Undeliverable
	case awsclient.Outcome(err) != failover.Failed:
		if q.Comment != "" {
			if id, findErr := r.find(ctx, q); findErr == nil && id != "" {
				return id, nil // it was sent, only the answer was lost
			}
		}
		res.Outcome = Unknown
	}
	return "", res
}

// find returns the id of the command with this comment, "" if there is none.
func (r *Runner) find(ctx context.Context, q Request) (string, error) {
	in := &ssm.ListCommandsInput{
		InstanceId: &q.Instance,
		Filters:    []types.CommandFilter{{Key: types.CommandFilterKeyDocumentName, Value: &q.Document}},
	}
	for {
		out, err := r.api.ListCommands(ctx, in)
		if err != nil {
			return "", fmt.Errorf("look for the command %q on %s: %w", q.Comment, q.Instance, err)
		}
		for _, c := range out.Commands {
			if aws.ToString(c.Comment) == q.Comment {
				return aws.ToString(c.CommandId), nil
			}
		}
		if aws.ToString(out.NextToken) == "" {
			return "", nil
		}
		in.NextToken = out.NextToken
	}
}

func (r *Runner) wait(ctx context.Context, q Request, id string) Result {
	res := Result{CommandID: id, Outcome: Unknown, Code: -1}
	in := &ssm.GetCommandInvocationInput{CommandId: &id, InstanceId: &q.Instance}
	last := "no answer yet"
	pause := firstPoll
	for polls := 0; ; polls++ {
		if polls > firstPolls {
			pause = slowestPoll
		}
		if err := r.clock.Sleep(ctx, pause); err != nil {
			res.Detail = fmt.Sprintf("gave up waiting for command %s on %s (%s): %v", id, q.Instance, last, err)
			if q.Cancel {
				r.cancel(ctx, q, id)
			}
			return res
		}
		out, err := r.api.GetCommandInvocation(ctx, in)
		var missing *types.InvocationDoesNotExist
		switch {
		case errors.As(err, &missing):
			last = "not visible yet"
			continue
		case err != nil && awsclient.Outcome(err) == failover.Failed && !awsclient.IsThrottle(err):
			res.Detail = fmt.Sprintf("read the outcome of command %s on %s: %v", id, q.Instance, err)
			return res
		case err != nil:
			last = err.Error()
			continue
		}
		status := detail(out)
		outcome, ended := ends[status]
		if !ended {
			last = status
			continue
		}
		res.Outcome = outcome
		res.Code = int(out.ResponseCode)
		res.Stdout, res.Stderr = aws.ToString(out.StandardOutputContent), aws.ToString(out.StandardErrorContent)
		if outcome != OK {
			res.Detail = fmt.Sprintf("command %s on %s: %s, exit code %d", id, q.Instance, status, res.Code)
		}
		return res
	}
}

// ends are the details of a status that does not change any more, without
// blanks, and what they prove
// (https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html).
// A command that SSM gave up, or was told to give up, may have run in part.
var ends = map[string]Outcome{
	"Success":           OK,
	"Failed":            Failed,
	"DeliveryTimedOut":  Undeliverable,
	"Undeliverable":     Undeliverable,
	"ExecutionTimedOut": Unknown,
	"Cancelled":         Unknown,
	"Terminated":        Unknown,
	"TimedOut":          Unknown,
	"AccessDenied":      Undeliverable,
}

// detail is StatusDetails; its texts have blanks in the documentation and
// none on the wire.
func detail(out *ssm.GetCommandInvocationOutput) string {
	if d := strings.ReplaceAll(aws.ToString(out.StatusDetails), " ", ""); d != "" {
		return d
	}
	return string(out.Status)
}

// cancel withdraws a command, best effort: nobody waits for it any more.
func (r *Runner) cancel(ctx context.Context, q Request, id string) {
	ctx, stop := clock.WithTimeout(context.WithoutCancel(ctx), r.clock, cancelTimeout)
	defer stop()
	_, _ = r.api.CancelCommand(ctx, &ssm.CancelCommandInput{CommandId: &id, InstanceIds: []string{q.Instance}})
}
