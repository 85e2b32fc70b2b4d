package detection

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// Signal is a metric of a node: how it is published, and what failures do to it.
type Signal struct {
	Name    string
	Stream  alarm.Stream
	Effects map[Failure]alarm.Effect
	Hold    time.Duration // a value may leave the host so much later than it is stamped
	Calls   time.Duration // one call of PutMetricData per so much; 0 = AWS publishes it itself
	Coarse  bool          // published with standard resolution: periods below a minute are mostly empty
	Note    string        // what the model leaves out, for people
}

// Probe is what hadr-agent measures: the round trip of SQL in milliseconds.
type Probe struct {
	Namespace string
	Metric    string
	Interval  time.Duration
	Timeout   time.Duration // a probe that takes longer is published as Sentinel
	Sentinel  float64       // milliseconds
}

// DefaultProbe is the probe of hadr_sql_latency_metric.
func DefaultProbe() Probe {
	return Probe{Namespace: "HADR", Metric: "SQLLatency", Interval: 20 * time.Second, Timeout: 19 * time.Second, Sentinel: 20001}
}

// Check refuses a probe that cannot work.
func (p Probe) Check() error {
	switch {
	case p.Interval < time.Second || p.Interval > time.Hour:
		return fmt.Errorf("the probe's interval must be between 1 s and 1 h, not %s", p.Interval)
	case p.Timeout <= 0 || p.Timeout > p.Interval:
		return fmt.Errorf("the probe's time-out must be above 0 and at most its interval of %s, not %s", p.Interval, p.Timeout)
	case p.Namespace == "" || p.Metric == "":
		return errors.New("the probe's metric needs a namespace and a name")
	}
	return nil
}

// Signals are the metrics that the model knows. A set of detectors watches one
// node, so that namespace and name tell a metric.
type Signals struct {
	probe   *Signal
	process *Signal
	status  *Signal

	probeNamespace, probeMetric string
}

// healthyRoundTrip is what the probe of a healthy database publishes, in
// milliseconds.
const healthyRoundTrip = 20

// NewSignals returns the metrics of a node with that probe. highResolution says
// that the probe's values are published with a storage resolution of a second.
func NewSignals(p Probe, highResolution bool) *Signals {
	return &Signals{
		probeNamespace: p.Namespace, probeMetric: p.Metric,
		probe: &Signal{
			Name:   p.Metric,
			Stream: alarm.Stream{Interval: p.Interval, Healthy: healthyRoundTrip},
			Effects: map[Failure]alarm.Effect{
				Host:  {Silent: true},
				Hang:  {Value: p.Sentinel, Lag: p.Timeout},
				Crash: {Value: p.Sentinel}, // the agent reads at once that the database is not active
			},
			Calls:  p.Interval,
			Coarse: !highResolution,
		},
		// The CloudWatch agent's defaults: it collects once a minute, and a value
		// leaves the host up to two flush intervals of a minute later.
		// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-Configuration-File-Details.html
		process: &Signal{
			Name:    "procstat",
			Stream:  alarm.Stream{Interval: time.Minute, Healthy: 1},
			Effects: map[Failure]alarm.Effect{Host: {Silent: true}, Hang: {Value: 1}, Crash: {Value: 0}},
			Hold:    2 * time.Minute,
			Calls:   time.Minute,
			Coarse:  true,
		},
		// How late EC2 reports a failed check is not published, and a stopped
		// instance reports none.
		// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html
		status: &Signal{
			Name:    "EC2 status check",
			Stream:  alarm.Stream{Interval: time.Minute},
			Effects: map[Failure]alarm.Effect{Host: {}, Hang: {}, Crash: {}},
			Note:    "EC2 status checks are not counted on: AWS does not say how late they report",
		},
	}
}

// Find returns the signal that a metric is, or nil if the model does not know it.
func (s *Signals) Find(m alarm.QueryMetric) *Signal {
	switch {
	case m.Namespace == s.probeNamespace && m.Name == s.probeMetric:
		return s.probe
	case m.Name == "procstat_lookup_pid_count":
		return s.process
	case m.Namespace == "AWS/EC2" && strings.HasPrefix(m.Name, "StatusCheckFailed"):
		return s.status
	}
	return nil
}

func (s *Signal) impact(f Failure) alarm.Impact {
	return alarm.Impact{Stream: s.Stream, Effect: s.Effects[f]}
}
