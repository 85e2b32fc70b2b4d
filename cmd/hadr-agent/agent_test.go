package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestNeedsToKnowItsNode(t *testing.T) {
	for _, n := range []node{{}, {table: "hadr", group: "orders"}, {group: "orders", id: "a"}} {
		if err := n.check(); err == nil || !strings.Contains(err.Error(), "HADR_NODE") {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// TestStopping (R6): the mark says who stopped the database and why, in one
// line, and nothing but a group's name comes into its path.
func TestStopping(t *testing.T) {
	root := t.TempDir()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	if err := (node{group: "orders"}).mark(root, "patch\n=== hadr end", now); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "var/lib/hadr/orders/stopped"))
	if err != nil || !strings.HasPrefix(string(text), "patch === hadr end, by ") || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "2026-03-02T10:00:00Z") {
		t.Errorf("mark %q, %v", text, err)
	}
	for _, group := range []string{"", "../etc", "Orders"} {
		if err := (node{group: group}).mark(root, "", now); err == nil {
			t.Errorf("group %q was marked", group)
		}
	}
}

// TestMetricsStayOnLoopback: who is primary is nobody's business outside.
// TestStoppingKnowsItsGroup: whoever stops the database has the environment of a
// shell or of another unit, which names no group.
func TestStoppingKnowsItsGroup(t *testing.T) {
	tests := []struct {
		name string
		file string // "" = there is none
		args []string
		want string // group, "" = an error that names the file
	}{
		{name: "that of the agent", file: "HADR_TABLE=hadr\nHADR_GROUP=orders\nHADR_NODE=a\n", want: "orders"},
		{name: "in quotes", file: "HADR_GROUP=\"orders\"\n", want: "orders"},
		{name: "the last one counts", file: "HADR_GROUP=old\n HADR_GROUP=orders\n", want: "orders"},
		{name: "a comment does not", file: "#HADR_GROUP=orders\n"},
		{name: "one that is named", file: "HADR_GROUP=orders\n", args: []string{"--group", "stock"}, want: "stock"},
		{name: "no agent on this host"},
		{name: "no name of a group", file: "HADR_GROUP=../../etc\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			t.Setenv("HADR_ROOT", root)
			t.Setenv("HADR_GROUP", "")
			if tt.file != "" {
				must(t, os.MkdirAll(filepath.Join(root, "etc/hadr"), 0o755))
				must(t, os.WriteFile(filepath.Join(root, configuration), []byte(tt.file), 0o600))
			}
			cmd := command()
			cmd.SetArgs(append([]string{"stopping", "--reason", "patch"}, tt.args...))
			err := cmd.ExecuteContext(t.Context())
			if (err == nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), configuration) {
				t.Fatalf("error %v", err)
			}
			if _, found := os.Stat(filepath.Join(root, "var/lib/hadr", tt.want, "stopped")); err == nil && found != nil {
				t.Errorf("no mark for group %s: %v", tt.want, found)
			}
		})
	}
}

func TestMetricsStayOnLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:9788", ":9788", "10.0.0.1:9788", "9788"} {
		if _, err := serveMetrics(address, &agent.Agent{}); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

type status agent.Status

func (s status) Status() agent.Status { return agent.Status(s) }

// TestCollector: every metric is described, and the figures are those of the
// agent.
func TestCollector(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector{status{
		Observation: failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, State: "PEER", Latency: 30 * time.Millisecond},
		Primary:     "a", Epoch: 7, DeadMan: true, Troubles: []string{"clock"},
		Lease: agent.LeaseStatus{Holding: true, Renewals: 42, Margin: 15 * time.Second},
	}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	for name, want := range map[string]float64{
		"hadr_agent_probe_latency_seconds": 0.03, "hadr_agent_epoch": 7, "hadr_agent_lease_held": 1, "hadr_agent_lease_renewals_total": 42,
		"hadr_agent_lease_margin_seconds": 15, "hadr_agent_dead_man_in_force": 1, "hadr_agent_trouble": 1, "hadr_agent_last_bad_probe_timestamp_seconds": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s = %v (%v), want %v", name, v, ok, want)
		}
	}
}
