package hosts

import (
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// publishProcesses is the CloudWatch agent of all machines, configured to
// count the processes that match ^db2sysc$ and to aggregate by InstanceId. A
// machine that is off, frozen or cut off publishes nothing; one without such a
// process publishes 0.
func (h *Hosts) publishProcesses() {
	t := h.world.Clock.NewTicker(h.opt.ProcstatInterval)
	defer t.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-t.C():
		}
		if h.world.Metrics == nil {
			continue
		}
		h.mu.Lock()
		var all []*machine
		for _, m := range h.machines {
			all = append(all, m)
		}
		h.mu.Unlock()
		for _, m := range all {
			if h.publishes(m) && m.hasDb2() {
				h.world.Metrics.PutMetric(m.info.Region, m.info.Account, h.processCount(m)...)
			}
		}
	}
}

func (h *Hosts) publishes(m *machine) bool {
	id := m.id()
	return m.running() && !m.isFrozen() && !h.fabric.Isolated(id) && !h.world.Faults.CutOff(id)
}

func (h *Hosts) processCount(m *machine) []world.Datum {
	d := world.Datum{
		Namespace: "CWAgent", Name: "procstat_lookup_pid_count", Unit: "Count", Time: m.clock.Now(),
		Value: float64(len(m.named("db2sysc"))), HighRes: h.opt.ProcstatHighRes,
	}
	full, aggregated := d, d
	full.Dimensions = map[string]string{"exe": "^db2sysc$", "InstanceId": m.id(), "pid_finder": "native"}
	aggregated.Dimensions = map[string]string{"InstanceId": m.id()}
	return []world.Datum{full, aggregated}
}
