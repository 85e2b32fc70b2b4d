package benchmark

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// database is one side of a Db2 pair in peer state. A cut of the link that is
// shorter than HADR_TIMEOUT ends no connection: commits wait for it, and the
// standby hears nothing.
type database struct {
	calm *calm
	id   string

	mu    sync.Mutex
	heard time.Time // when the standby heard something last; of node b
	log   uint64    // that it has
}

// View implements agent.Database.
func (n *database) View(context.Context, map[string]string) failover.Observation {
	now := time.Now()
	o := failover.Observation{
		Node: n.id, Source: "command", ReadAt: now, HostTime: now, Answer: failover.Answered, Database: failover.DatabaseActive,
		State: "PEER", SyncMode: "NEARSYNC", PartnerStatus: "CONNECTED",
	}
	waiting, failure := n.calm.in(linkCut, isolated), n.calm.failure()
	if n.id == "a" && failure == detection.Crash {
		o.Database, o.State, o.PartnerStatus = failover.DatabaseDown, "", ""
		return o
	}
	if n.id == "a" {
		o.Role, o.Fitness = failover.RolePrimary, failover.Unfit
		o.BlockedUntil = now.Add(demo.PeerWindow)
		o.WaitsForStandby = waiting > 0 && waiting < cutLength-time.Second // LOG_HADR_WAIT_CUR
		return o
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	o.Role, o.Fitness = failover.RoleStandby, failover.Fit
	o.PartnerSilence, o.Position = now.Sub(n.heard), n.log
	o.PromoteUntil = n.heard.Add(demo.PeerWindow)
	o.ConnectedSince = n.calm.began
	if failure == detection.Crash { // its end resets the connection
		o.State, o.PartnerStatus, o.PartnerLost = "DISCONNECTED_PEER", "DISCONNECTED", true
	}
	return o
}

// What a commit takes where nothing is slow, and at most where it is.
const (
	commitTime    = 5 * time.Millisecond
	slowestCommit = 12 * time.Second
)

// Probe implements agent.Database: the standby hears of a commit.
func (n *database) Probe(ctx context.Context, _ string, _ map[string]string) error {
	wait := n.calm.in(linkCut, isolated)
	if n.calm.failure() == detection.Hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if n.calm.in(slowSQL) > 0 {
		// Whoever is slower than the threshold counts as failed.
		wait += min(slowCommit.Quantile(n.calm.dice.unit(calls.Digest("commit"))), slowestCommit)
	}
	if n.calm.clock.Sleep(ctx, wait+commitTime) != nil {
		return context.Cause(ctx)
	}
	standby := n.calm.nodes["b"]
	standby.mu.Lock()
	defer standby.mu.Unlock()
	standby.heard = time.Now()
	standby.log++
	return nil
}

// Kill implements agent.Database: no dead-man has a reason to.
func (n *database) Kill(context.Context, map[string]string) error {
	n.calm.tell("TAKEOVER: the dead-man of node %s kills its database", n.id)
	n.calm.mu.Lock()
	defer n.calm.mu.Unlock()
	n.calm.out.Takeovers++
	return nil
}

// commands are Systems Manager and the nodes behind it.
type commands struct{ calm *calm }

// Observe implements control.Engine.
func (c commands) Observe(ctx context.Context, _ string, n failover.NodeConfig, _ map[string]string) failover.Observation {
	delivery := c.calm.dice.profile[CommandDelivery]
	if c.calm.in(slowAWS) > 0 {
		delivery = slowDelivery
	}
	err := c.calm.clock.Sleep(ctx, delivery.Quantile(c.calm.dice.unit(calls.Digest("command on "+n.ID))))
	if err == nil {
		err = c.calm.reach(ctx, n.ID, "command")
	}
	if err != nil {
		return failover.Observation{Node: n.ID, Source: "command", ReadAt: time.Now(), Answer: failover.Silent, AnswerError: err.Error()}
	}
	return c.calm.nodes[n.ID].View(ctx, nil)
}

var errNever = errors.New("a day without a failure has no use for it")

// Promote implements control.Engine.
func (commands) Promote(context.Context, control.Promotion, func(string)) control.PromotionResult {
	return control.PromotionResult{Outcome: failover.Failed, Detail: errNever.Error()}
}

// StartDatabase implements control.Engine.
func (commands) StartDatabase(context.Context, control.Promotion) (failover.Outcome, error) {
	return failover.Failed, errNever
}

// Rejoin implements control.Engine.
func (commands) Rejoin(context.Context, control.Promotion) control.PromotionResult {
	return control.PromotionResult{Outcome: failover.Failed, Detail: errNever.Error()}
}

// Manual implements control.Engine.
func (commands) Manual() failover.Manual { return failover.Manual{} }

// machines run, all of them.
type machines struct{ calm *calm }

// State implements control.Instances.
func (m machines) State(ctx context.Context, n failover.NodeConfig) (failover.InstanceState, string, error) {
	return failover.InstanceRunning, "ok", m.calm.reach(ctx, "", "instance "+n.ID)
}

// Stop implements control.Instances.
func (machines) Stop(context.Context, failover.NodeConfig) (failover.Outcome, error) {
	return failover.Failed, errNever
}

// Start implements control.Instances.
func (machines) Start(context.Context, failover.NodeConfig) (failover.Outcome, error) {
	return failover.Failed, errNever
}

// Groups implements control.Instances.
func (machines) Groups(context.Context, failover.NodeConfig) ([]string, error) { return nil, errNever }

// SetGroups implements control.Instances.
func (machines) SetGroups(context.Context, failover.NodeConfig, []string) error { return errNever }

// routes are none: the group has no virtual address.
type routes struct{}

// Owner implements control.Routes.
func (routes) Owner(context.Context, string, string) (string, error) { return "", errNever }

// Move implements control.Routes.
func (routes) Move(context.Context, string, string, string) error { return errNever }

// Check implements control.Routes.
func (routes) Check(context.Context, string, string, int) error { return errNever }
