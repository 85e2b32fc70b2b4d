// Package procstat is the configuration with which the CloudWatch agent counts
// processes: as JSON, and read back from it.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-procstat-process-metrics.html
package procstat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"time"
)

// Metric is the count of the processes that match, 0 without any.
const Metric = "procstat_lookup_pid_count"

// DefaultNamespace is that of the CloudWatch agent.
const DefaultNamespace = "CWAgent"

// Limits of the CloudWatch agent's own check of its configuration:
// https://github.com/aws/amazon-cloudwatch-agent/blob/main/translator/config/schema.json
const (
	MaxPattern   = 255
	MaxPatterns  = 255
	MaxNamespace = 255
)

// Config says which processes are counted, and how soon others see it.
type Config struct {
	Namespace string
	// Processes are regular expressions that are searched in the names of
	// processes. The counts are published under the dimension InstanceId alone,
	// too, where the smallest of them tells that one is missing.
	Processes []string
	// Interval is how often the processes are counted, in whole seconds.
	Interval time.Duration
	// Flush is how often the counts leave the host, in whole seconds; one may
	// leave up to twice as late.
	Flush time.Duration
}

// document is the part of the agent's configuration that is used here. It has
// no section "agent", so that it can be appended to another configuration.
type document struct {
	Metrics metrics `json:"metrics"`
}

type metrics struct {
	Namespace  string            `json:"namespace"`
	Append     map[string]string `json:"append_dimensions"`
	Aggregate  [][]string        `json:"aggregation_dimensions"`
	Flush      int               `json:"force_flush_interval"`
	Collection collected         `json:"metrics_collected"`
}

type collected struct {
	Procstat []process `json:"procstat"`
}

type process struct {
	Exe         string   `json:"exe"`
	Measurement []string `json:"measurement"`
	Interval    int      `json:"metrics_collection_interval"`
}

const instanceID = "InstanceId"

// JSON writes the configuration: the same for the same content.
func (c Config) JSON() string {
	m := metrics{
		Namespace: c.Namespace, Append: map[string]string{instanceID: "${aws:InstanceId}"}, Aggregate: [][]string{{instanceID}},
		Flush: int(c.Flush / time.Second), Collection: collected{Procstat: []process{}},
	}
	for _, p := range slices.Sorted(slices.Values(c.Processes)) {
		m.Collection.Procstat = append(m.Collection.Procstat, process{Exe: p, Measurement: []string{"pid_count"}, Interval: int(c.Interval / time.Second)})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(document{m}); err != nil {
		return "" // strings and numbers always encode
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// Parse reads a configuration that JSON wrote. Any other, although the agent
// may understand it, is an error that says where it differs.
func Parse(text string) (Config, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return Config{}, fmt.Errorf("reading a configuration of the CloudWatch agent: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("reading a configuration of the CloudWatch agent: something follows it")
	}
	m := doc.Metrics
	c := Config{Namespace: m.Namespace, Flush: time.Duration(m.Flush) * time.Second}
	for i, p := range m.Collection.Procstat {
		interval := time.Duration(p.Interval) * time.Second
		if i > 0 && interval != c.Interval {
			return Config{}, fmt.Errorf("process %s is counted every %s, others every %s", p.Exe, interval, c.Interval)
		}
		c.Processes, c.Interval = append(c.Processes, p.Exe), interval
	}
	if err := c.Check(); err != nil {
		return Config{}, err
	}
	var same, given any
	if json.Unmarshal([]byte(c.JSON()), &same) != nil || json.Unmarshal([]byte(text), &given) != nil || !reflect.DeepEqual(same, given) {
		return Config{}, errors.New("it sets dimensions or measurements in another way")
	}
	return c, nil
}

// Check tells what the CloudWatch agent would not take.
func (c Config) Check() error {
	switch {
	case c.Namespace == "" || len(c.Namespace) > MaxNamespace:
		return fmt.Errorf("namespace has %d characters, want 1 to %d", len(c.Namespace), MaxNamespace)
	case len(c.Processes) == 0 || len(c.Processes) > MaxPatterns:
		return fmt.Errorf("%d processes, want 1 to %d", len(c.Processes), MaxPatterns)
	case c.Interval < time.Second || c.Flush < time.Second:
		return fmt.Errorf("interval %s and flush %s must be a second or more", c.Interval, c.Flush)
	}
	for _, p := range c.Processes {
		if err := CheckPattern(p); err != nil {
			return fmt.Errorf("process %q %w", p, err)
		}
	}
	return nil
}

// CheckPattern tells what is wrong with the regular expression of a process.
// The agent is written in Go, and so are its regular expressions.
func CheckPattern(p string) error {
	if p == "" || len(p) > MaxPattern {
		return fmt.Errorf("has %d characters, want 1 to %d", len(p), MaxPattern)
	}
	if _, err := regexp.Compile(p); err != nil {
		return fmt.Errorf("is no regular expression: %w", err)
	}
	return nil
}
