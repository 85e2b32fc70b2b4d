package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// A create is no emergency: it waits for an SSM agent that is busy or has just
// come up.
const (
	viewPatience = time.Minute
	viewPause    = 5 * time.Second
)

// nodeView is what a node says of itself before its group exists.
type nodeView struct {
	node   failover.NodeConfig
	manual failover.Manual // words of its engine
	seen   failover.Observation
	mark   engine.Marks // table and highest epoch that the node has seen
}

// listener runs documents and keeps what they wrote: an observation does not
// hold the marks of a node.
type listener struct {
	engine.Runner
	output string
}

func (l *listener) Run(ctx context.Context, q command.Request) command.Result {
	r := l.Runner.Run(ctx, q)
	l.output = r.Stdout
	return r
}

// views reads the nodes side by side.
func (c *clients) views(ctx context.Context, group string, cfg failover.Config) []nodeView {
	ctx, stop := clock.WithTimeout(ctx, c.clock, viewPatience)
	defer stop()
	all := make([]nodeView, len(cfg.Nodes))
	var wg sync.WaitGroup
	for i, n := range cfg.Nodes {
		wg.Go(func() { all[i] = c.view(ctx, group, n, cfg) })
	}
	wg.Wait()
	return all
}

func (c *clients) view(ctx context.Context, group string, n failover.NodeConfig, cfg failover.Config) nodeView {
	for {
		said := &listener{Runner: command.NewRunner(c.ssm, c.clock)}
		database, err := engine.New(cfg.Engine, said, c.clock)
		if err != nil {
			return nodeView{node: n, seen: failover.Observation{Answer: failover.Unreadable, AnswerError: err.Error()}}
		}
		v := nodeView{node: n, manual: database.Manual(), seen: database.Observe(ctx, group, n, cfg.Settings)}
		v.mark, _ = engine.ParseMarks(said.output) // the observation tells of output that can't be read
		if v.seen.Answer != failover.Undeliverable || c.clock.Sleep(ctx, viewPause) != nil {
			return v
		}
	}
}

func (v nodeView) String() string {
	said := "did not answer: " + v.seen.AnswerError
	if v.seen.Answer == failover.Answered {
		facts := []string{"reads " + strings.ToUpper(string(v.seen.Role))}
		if v.seen.Role == failover.RoleUnknown {
			facts[0] = "reads no role"
		}
		if v.seen.Database != failover.DatabaseActive {
			facts = append(facts, "its database is "+string(v.seen.Database))
		}
		if v.seen.State != "" {
			facts = append(facts, "in "+v.seen.State)
		}
		if v.mark.Epoch > 0 {
			facts = append(facts, fmt.Sprintf("highest epoch %d", v.mark.Epoch))
		}
		said = strings.Join(facts, ", ")
	}
	return fmt.Sprintf("node %s (%s) %s", v.node.ID, v.node.Instance, said)
}

func (v nodeView) primary() bool {
	return v.seen.Answer == failover.Answered && v.seen.Role == failover.RolePrimary
}

// founding is with whom a group begins.
type founding struct {
	primary string
	epoch   uint64
}

// judge finds the primary of a new group in what both nodes say (R12). A second
// node that reads PRIMARY stands in the way even while its database is not
// active: the next activation would make it a second writer.
func judge(group, tableARN string, views []nodeView) (f founding, diags diag.Diagnostics) {
	var said []string
	var active, primaries int
	for _, v := range views {
		said = append(said, v.String())
		at := path.Root("nodes").AtMapKey(v.node.ID)
		if v.mark.Table != "" && v.mark.Table != tableARN {
			diags.Append(diagnose.MarkedNode(at.AtName("instance_id"), group, v.node.ID, v.mark.Table))
		}
		if v.seen.Answer != failover.Answered {
			diags.Append(diagnose.NodeNotRead(at.AtName("instance_id"), group, v.String(), v.manual))
		}
		f.epoch = max(f.epoch, v.mark.Epoch)
		if !v.primary() {
			continue
		}
		primaries++
		if v.seen.Database == failover.DatabaseActive {
			active++
			f.primary = v.node.ID
		}
	}
	if diags.HasError() {
		return founding{}, diags
	}
	read := strings.Join(said, "; ")
	switch {
	case primaries > 1:
		diags.Append(diagnose.TwoPrimaries(path.Root("nodes"), group, read, views[0].manual))
	case active == 0:
		diags.Append(diagnose.NoPrimary(path.Root("nodes"), group, read, views[0].manual))
	}
	for _, v := range views {
		if !diags.HasError() && v.node.ID != f.primary && v.seen.Role != failover.RoleStandby {
			diags.Append(diagnose.NoStandby(path.Root("nodes").AtMapKey(v.node.ID), group, v.String(), v.seen.FitnessNext))
		}
	}
	return f, diags
}

// founded says who is primary: the node that reads PRIMARY, whatever is
// preferred, or the preferred one where nobody can be asked yet.
func (r *groupResource) founded(ctx context.Context, m groupModel, cfg failover.Config) (founding, diag.Diagnostics) {
	name := m.Name.ValueString()
	if !m.VerifyOnCreate.ValueBool() {
		return founding{primary: cfg.Preferred}, diag.Diagnostics{diagnose.NotVerified(path.Root("verify_on_create"), name, cfg.Preferred)}
	}
	f, diags := judge(name, cfg.Settings[settingTable], r.views(ctx, name, cfg))
	if !diags.HasError() && f.primary != cfg.Preferred {
		diags.Append(diagnose.OtherPrimary(path.Root("preferred_primary"), name, cfg.Preferred, f.primary))
	}
	return f, diags
}

// found creates the authority of a new group, above every epoch that its
// history or a node tells of (R12). Two declarations of one name meet here.
func (r *groupResource) found(ctx context.Context, record *statetable.Table, m groupModel, f founding) (diags diag.Diagnostics) {
	table, name := m.TableName.ValueString(), m.Name.ValueString()
	history, err := record.History(ctx, name, 0)
	if err != nil {
		diags.Append(diagnose.Failed("reading history of group", name, err))
		return diags
	}
	highest := f.epoch
	for _, e := range history {
		highest = max(highest, e.Epoch)
	}
	maintenance, _ := m.maintenance(ctx, r.clock.Now(), &diags)
	err = record.CreateState(ctx, name, failover.State{
		Epoch: highest + 1, Primary: f.primary, Phase: failover.Steady, Changed: r.clock.Now(), Maintenance: maintenance,
	})
	if errors.Is(err, statetable.ErrExists) {
		return append(diags, r.taken(ctx, table, name))
	}
	if err != nil {
		diags.Append(diagnose.Failed("creating group", name, err))
	}
	return diags
}

func (r *groupResource) taken(ctx context.Context, table, name string) diag.Diagnostic {
	other := "it has a record, but no configuration yet"
	if s, ok, err := r.loadGroup(ctx, table, name); err == nil && ok {
		other = describeGroup(s)
	}
	return diagnose.GroupTaken(path.Root("name"), name, table, other)
}
