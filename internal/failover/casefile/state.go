package casefile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Now is the moment of the event of every case.
var Now = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

const (
	group     = "orders"
	machineOf = "i-0000000000000000" // and the node's id
	portOf    = "eni-0000000000000000"
	alarmOf   = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-"
)

// manual are the words of the engine of every case, Db2.
var manual = failover.Manual{
	Role: "db2pd -hadr", Start: "db2 activate db", Kill: "db2_kill",
	Reseed: "db2 backup, db2 restore, db2 start hadr ... as standby",
}

func baseConfig() failover.Config {
	return failover.Config{
		Engine: "db2", Preferred: "a", VIP: "10.99.0.1", Port: 50000,
		Nodes: []failover.NodeConfig{
			{ID: "a", Instance: machineOf + "a", ENI: portOf + "a", Zone: "eu-central-1a", Region: "eu-central-1"},
			{ID: "b", Instance: machineOf + "b", ENI: portOf + "b", Zone: "eu-central-1b", Region: "eu-central-1"},
		},
		Routes:   []string{"rtb-1", "rtb-2"},
		Checkers: map[string]string{"rtb-1": machineOf + "c"},
		Policy:   failover.Automatic, Fencing: failover.Strict,
	}.WithDefaults()
}

func configFields(c *failover.Config) fields {
	return fields{
		"policy":            word(&c.Policy, failover.Automatic, failover.Approval, failover.Observe),
		"fencing":           word(&c.Fencing, failover.Strict, failover.PeerWindow),
		"preferred":         node(&c.Preferred),
		"vip":               textOrNone(&c.VIP),
		"port":              number(&c.Port),
		"routes":            names(&c.Routes),
		"checked":           checked(&c.Checkers),
		"host_applications": yes(&c.HostApplications),
		"isolation":         text(&c.Isolation),
		"latency_threshold": length(&c.LatencyThreshold),
		"max_clock_offset":  length(&c.MaxClockOffset),
		"promote_margin":    length(&c.PromoteMargin),
		"promote_delay":     length(&c.PromoteDelay),
		"gather_timeout":    length(&c.GatherTimeout),
		"evidence_wait":     length(&c.EvidenceWait),
		"fence_timeout":     length(&c.FenceTimeout),
		"promote_timeout":   length(&c.PromoteTimeout),
		"redirect_timeout":  length(&c.RedirectTimeout),
		"cooldown":          length(&c.Cooldown),
	}
}

// textOrNone takes any text; "none" stands for the empty one.
func textOrNone(to *string) setter {
	return func(_, v string) error {
		if *to = v; v == "none" {
			*to = ""
		}
		return nil
	}
}

// node takes the id of a node.
func node(to *string) setter { return word(to, "a", "b") }

// checked takes the route tables whose data path can be tried.
func checked(to *map[string]string) setter {
	var tables []string
	set := names(&tables)
	return func(arg, v string) error {
		if err := set(arg, v); err != nil {
			return err
		}
		*to = map[string]string{}
		for _, t := range tables {
			(*to)[t] = machineOf + "c"
		}
		return nil
	}
}

// baseState is a group in which nothing runs.
func baseState(c failover.Config) failover.State {
	return failover.State{
		Group: group, Config: c, Epoch: 7, Primary: "a", Phase: failover.Steady,
		Changed: Now.Add(-24 * time.Hour), Version: 40, Fenced: map[string]failover.Fence{},
		Manual: manual,
	}
}

func stateFields(s *failover.State) fields {
	phases := []failover.Phase{failover.Steady, failover.TakingOver, failover.SwitchingOver, failover.Rejoining, failover.Blocked}
	return fields{
		"base":              word(new(string), "healthy", "vanished"), // read when the nodes are
		"epoch":             number(&s.Epoch),
		"primary":           node(&s.Primary),
		"phase":             word(&s.Phase, phases...),
		"changed":           moment(&s.Changed),
		"maintenance":       maintenance(&s.Maintenance),
		"maintenance_until": moment(&s.Maintenance.Until),
		"cooldown":          moment(&s.Cooldown),
		"ended":             texts(&s.Ended),
		"void_seal":         text(&s.VoidSeal),
		"claims_wait":       moment(&s.ClaimsWait),
		"fenced *":          fenced(s),
		"refused":           refused(&s.Refused),
		"pending":           pending(s),
	}
}

// maintenance is on if its reason is given.
func maintenance(m *failover.Maintenance) setter {
	return func(_, v string) error {
		if m.On, m.Reason = true, v; v == "off" {
			*m = failover.Maintenance{}
		}
		return nil
	}
}

// fenced takes "epoch 8", "epoch 8, stopped -3m, groups sg-1 sg-2" or "no".
func fenced(s *failover.State) setter {
	return func(id, v string) error {
		if id != "a" && id != "b" {
			return fmt.Errorf("no node %q; want a or b", id)
		}
		if v == "no" {
			delete(s.Fenced, id)
			return nil
		}
		f := failover.Fence{Method: "stop", At: Now.Add(-time.Minute)}
		for part := range strings.SplitSeq(v, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
			var err error
			switch name {
			case "epoch":
				f.Epoch, err = strconv.ParseUint(value, 10, 31)
			case "groups":
				f.Groups = strings.Fields(value)
			case "stopped":
				f.ConfirmedAt, err = parseMoment(value)
				f.Confirmed = true
			default:
				err = fmt.Errorf("%q; want such as: epoch 8, stopped -3m", v)
			}
			if err != nil {
				return err
			}
		}
		s.Fenced[id] = f
		return nil
	}
}

// refused takes "GUARD, TIME": the last refusal that the minutely look told.
func refused(r *failover.Refusal) setter {
	return func(_, v string) (err error) {
		guard, at, _ := strings.Cut(v, ", ")
		r.Guard = failover.Guard(guard)
		r.At, err = parseMoment(at)
		return err
	}
}

// pending takes "epoch 7, from a, until +2m": what waits for a person.
func pending(s *failover.State) setter {
	return func(_, v string) error {
		p := failover.Pending{OperationID: "op1", Alarm: alarmOf + "a", Trigger: "alarm " + alarmOf + "a", Since: Now.Add(-time.Minute)}
		for part := range strings.SplitSeq(v, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
			var err error
			switch name {
			case "epoch":
				p.Epoch, err = strconv.ParseUint(value, 10, 31)
			case "from":
				err = node(&p.From)("", value)
			case "until":
				p.Expires, err = parseMoment(value)
			default:
				err = fmt.Errorf("%q; want such as: epoch 7, from a, until +2m", v)
			}
			if err != nil {
				return err
			}
		}
		s.Pending = &p
		return nil
	}
}
