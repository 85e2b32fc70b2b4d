package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// serveMetrics serves Prometheus metrics on a loopback address until the
// returned function is called: they say who is primary, which is nobody's
// business outside of the host.
func serveMetrics(address string, a *agent.Agent) (shut func(), err error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("metrics on %q: %w", address, errUnsafeAddress)
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics on %q: %w: choose another port with --metrics", address, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{a})
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	go func() { _ = srv.Serve(l) }()
	return func() { _ = srv.Close() }, nil
}

// collector turns the agent's status into metrics when they are asked for.
type collector struct {
	agent interface{ Status() agent.Status }
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hadr_agent_"+name, help, labels, nil)
}

var (
	descLatency  = desc("probe_latency_seconds", "Round trip of the last probe, or of the last view on a standby.")
	descGood     = desc("last_good_probe_timestamp_seconds", "When a probe committed below the threshold last; 0 = never.")
	descBad      = desc("last_bad_probe_timestamp_seconds", "When a probe failed or was slow last; 0 = never.")
	descRole     = desc("database", "1 for the role and the state that the database reads.", "role", "state")
	descRecorded = desc("recorded_primary", "1 for the node that the record names as primary.", "node")
	descEpoch    = desc("epoch", "Epoch of the record.")
	descOffset   = desc("clock_offset_seconds", "This host's clock against AWS's; positive = ahead.")
	descHolding  = desc("lease_held", "1 while this node renews the lease.")
	descMargin   = desc("lease_margin_seconds", "Time until the lease expires, counted from the sending of the last good renewal.")
	descRenewals = desc("lease_renewals_total", "Renewals that worked.")
	descFailures = desc("lease_failures_total", "Renewals that failed, or whose answer was lost.")
	descStood    = desc("lease_still_seconds", "For how long the other node's lease stands still.")
	descDeadMan  = desc("dead_man_in_force", "1 while the dead-man may be relied upon.")
	descTrouble  = desc("trouble", "1 for what does not work now.", "area")
)

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descLatency, descGood, descBad, descRole, descRecorded, descEpoch, descOffset,
		descHolding, descMargin, descRenewals, descFailures, descStood, descDeadMan, descTrouble,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := c.agent.Status()
	o := s.Observation
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descLatency, o.Latency.Seconds())
	gauge(descGood, timestamp(o.LastGoodProbe))
	gauge(descBad, timestamp(o.LastBadProbe))
	gauge(descRole, boolean(o.Answer == failover.Answered), string(o.Role), o.State)
	gauge(descRecorded, 1, s.Primary)
	gauge(descEpoch, float64(s.Epoch))
	gauge(descOffset, o.ClockOffset.Seconds())
	gauge(descHolding, boolean(s.Lease.Holding))
	gauge(descMargin, s.Lease.Margin.Seconds())
	gauge(descStood, s.Lease.Stood.Seconds())
	gauge(descDeadMan, boolean(s.DeadMan))
	ch <- prometheus.MustNewConstMetric(descRenewals, prometheus.CounterValue, float64(s.Lease.Renewals))
	ch <- prometheus.MustNewConstMetric(descFailures, prometheus.CounterValue, float64(s.Lease.Failures))
	for _, area := range s.Troubles {
		gauge(descTrouble, 1, area)
	}
}

func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
