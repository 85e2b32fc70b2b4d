package simulation

import (
	"slices"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// chance is something that happens with a weight.
type chance struct {
	weight int
	happen func(d *draw, node string, at time.Duration)
}

// losses are how a node's database goes at once.
var losses = []chance{
	{20, onNode(fault.Fault{Kind: fault.PowerLoss}, 0, 0)},
	{14, onNode(fault.Fault{Kind: fault.KillProcess, Effect: fault.Effect{Process: "db2sysc"}}, 0, 0)},
}

// failures are what befalls a node or its network.
var failures = append(slices.Clone(losses), []chance{
	{10, onNode(fault.Fault{Kind: fault.HangSQL}, 30*time.Second, long)},
	{8, onNode(fault.Fault{Kind: fault.SlowSQL, Effect: fault.Effect{Delay: fault.Duration(25 * time.Second)}}, 30*time.Second, long)},
	{6, onNode(fault.Fault{Kind: fault.Freeze}, 20*time.Second, long)},
	{4, onNode(fault.Fault{Kind: fault.Freeze, Effect: fault.Effect{Process: "db2sysc"}}, 20*time.Second, long)},
	{4, onNode(fault.Fault{Kind: fault.KillProcess, Effect: fault.Effect{Process: "hadr-agent"}}, 0, 0)},
	{12, cutLink},
	{7, cutZone},
	{6, takeoverByHand},
	{8, func(d *draw, node string, at time.Duration) { d.of(losses, other(node), at) }},
	{5, func(*draw, string, time.Duration) {}}, // AWS alone
}...)

func (d *draw) of(all []chance, node string, at time.Duration) {
	total := 0
	for _, c := range all {
		total += c.weight
	}
	n := d.IntN(total)
	for _, c := range all {
		if n -= c.weight; n < 0 {
			c.happen(d, node, at)
			return
		}
	}
}

func (d *draw) failure(node string, at time.Duration) { d.of(failures, node, at) }

func onNode(f fault.Fault, shortest, longest time.Duration) func(*draw, string, time.Duration) {
	return func(d *draw, node string, at time.Duration) {
		f := f
		f.Instance = node
		lasts := time.Duration(0)
		if longest > 0 {
			lasts = d.between(shortest, longest)
		}
		d.fault(at, lasts, f)
	}
}

func cutLink(d *draw, node string, at time.Duration) {
	direction := pick(d, fault.Both, fault.Both, fault.Out, fault.In)
	d.fault(at, d.between(10*time.Second, long), fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: node, Peer: other(node), Direction: direction}})
}

func cutZone(d *draw, node string, at time.Duration) {
	d.fault(at, d.between(20*time.Second, long), fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: demo.Region + node}})
}

func takeoverByHand(d *draw, node string, at time.Duration) {
	d.add(Incident{At: at, Deed: Takeover, Node: other(node)})
}

// second is a further failure, of whichever node, or what somebody does about
// the first one.
func (d *draw) second() {
	at := d.between(20*time.Second, d.late())
	d.of([]chance{
		{30, func(d *draw, _ string, at time.Duration) { d.failure(pick(d, "a", "b"), at) }},
		{12, func(d *draw, _ string, at time.Duration) {
			d.add(Incident{At: at, Deed: Reboot, Node: pick(d, "a", "b", "b")})
		}},
		{12, func(d *draw, _ string, at time.Duration) { d.add(Incident{At: at, Deed: Start, Node: "a"}) }},
		{10, func(d *draw, node string, at time.Duration) {
			d.fault(max(0, at-time.Minute), d.between(20*time.Second, 4*time.Minute), fault.Fault{Kind: fault.StuckStopping, Selector: fault.Selector{Instance: node}, Effect: fault.Effect{Powered: d.chance(0.5)}})
		}},
	}, "a", at)
}

// hindrance is what makes a takeover harder without failing anything.
func (d *draw) hindrance() {
	d.of([]chance{
		{10, func(d *draw, _ string, at time.Duration) {
			d.add(Incident{At: at, For: d.between(20*time.Second, 3*time.Minute), Deed: Maintenance})
		}},
		{10, func(d *draw, _ string, at time.Duration) {
			d.add(Incident{At: at, For: d.between(30*time.Second, 5*time.Minute), Deed: WatchOff})
		}},
		{10, func(d *draw, node string, at time.Duration) {
			d.fault(at, d.between(20*time.Second, 3*time.Minute), fault.Fault{Kind: fault.AgentOffline, Selector: fault.Selector{Instance: node}})
		}},
		{10, func(d *draw, _ string, at time.Duration) {
			d.fault(at, d.between(20*time.Second, long), fault.Fault{
				Kind: fault.CommandDelay, Limits: fault.Limits{Probability: pick(d, 0.3, 1.0)}, Effect: fault.Effect{Delay: fault.Duration(d.between(time.Second, 25*time.Second))},
			})
		}},
		{8, func(d *draw, node string, at time.Duration) { // within the bound of R8
			d.fault(at, d.between(time.Minute, long), fault.Fault{Kind: fault.ClockOffset, Selector: fault.Selector{Instance: node}, Effect: fault.Effect{Delay: fault.Duration(d.between(-1800*time.Millisecond, 1800*time.Millisecond))}})
		}},
		{8, func(d *draw, node string, at time.Duration) { // beyond it
			by := d.between(3*time.Second, 10*time.Minute)
			d.fault(at, d.between(time.Minute, long), fault.Fault{Kind: fault.ClockOffset, Selector: fault.Selector{Instance: node}, Effect: fault.Effect{Delay: fault.Duration(pick(d, by, -by))}})
		}},
		{8, func(d *draw, node string, at time.Duration) {
			d.fault(at, d.between(20*time.Second, 4*time.Minute), fault.Fault{Kind: fault.StuckStopping, Selector: fault.Selector{Instance: node}, Effect: fault.Effect{Powered: d.chance(0.5)}})
		}},
		{6, func(d *draw, node string, at time.Duration) {
			d.fault(at, d.between(20*time.Second, 5*time.Minute), fault.Fault{Kind: fault.FullLogDevice, Selector: fault.Selector{Instance: other(node)}})
		}},
		{6, func(d *draw, _ string, at time.Duration) {
			d.fault(at, d.between(30*time.Second, 3*time.Minute), fault.Fault{
				Kind: fault.StaleRoutes, Effect: fault.Effect{Delay: fault.Duration(d.between(time.Second, 20*time.Second)), SeenBy: pick(d, fault.Everybody, fault.Describe, fault.Packets)},
			})
		}},
	}, pick(d, "a", "a", "b"), d.between(0, d.late()))
}

// call makes calls of the API fail.
func (d *draw) call() {
	f := fault.Fault{Selector: fault.Selector{Service: pick(d, "dynamodb", "dynamodb", "ec2", "ssm", "cloudwatch", "*"), Role: pick(d, programs...)}}
	f.Probability = pick(d, 0.1, 0.3, 0.7)
	at, lasts := d.between(0, d.late()), d.between(10*time.Second, 2*time.Minute)
	switch d.IntN(10) {
	case 0, 1:
		f.Kind = fault.Throttle
	case 2, 3:
		f.Kind, f.When = fault.Failure, pick(d, fault.Before, fault.After)
	case 4, 5, 6:
		f.Kind, f.When = fault.Lost, pick(d, fault.Before, fault.After, fault.After)
	case 7:
		f.Kind, f.Delay = fault.Latency, fault.Duration(d.between(500*time.Millisecond, 12*time.Second))
	case 8: // the whole table is unreachable
		f.Kind, f.Service, f.Role, f.Probability, lasts = fault.Lost, "dynamodb", "", 1, d.between(5*time.Second, 90*time.Second)
	case 9: // a permission is missing for a while
		f.Kind, f.Service, f.Operation, f.Probability = fault.Denied, "", pick(d, "StopInstances", "ReplaceRoute", "SendCommand", "GetCommandInvocation", "DescribeInstances", "UpdateItem"), 1
	}
	if f.Role == "" && f.Kind != fault.Lost { // agents, too
		f.Role = pick(d, "", landscape.Role)
	}
	d.fault(at, lasts, f)
}

// event makes events come late, twice, or in another order.
func (d *draw) event() {
	f := fault.Fault{Kind: pick(d, fault.Late, fault.Duplicate, fault.Reorder), Selector: fault.Selector{Service: pick(d, "cloudwatch", "lambda", "scheduler")}}
	f.Delay = fault.Duration(d.between(time.Second, 2*time.Minute))
	if f.Kind == fault.Duplicate {
		f.Copies = 2 + d.IntN(3)
	}
	d.fault(d.between(0, d.late()), d.between(30*time.Second, 4*time.Minute), f)
}

// deaths kill functions after their effects.
func (d *draw) deaths() {
	for _, program := range []string{demo.TakeoverFunction, demo.WatchFunction} {
		for range d.IntN(3) {
			d.add(Incident{At: d.between(0, d.late()), Deed: Death, Program: program, Effect: 1 + d.IntN(12)})
		}
	}
}
