package world

import (
	"context"
	"net/http"
	"time"
)

// Credentials are temporary credentials of a role session.
type Credentials struct {
	AccessKey    string
	SecretKey    string
	SessionToken string
	Expiration   time.Time
	RoleARN      string
}

// Identity issues credentials and decides whether a caller may act.
type Identity interface {
	// ServiceSession returns credentials for a role that an AWS service, such
	// as "lambda.amazonaws.com" or "ec2.amazonaws.com", assumes for a function
	// or a host. It fails if the role is missing or does not trust the service.
	ServiceSession(roleARN, service, session string) (Credentials, error)
	// InstanceProfileRole returns the role of an instance profile (name or ARN).
	InstanceProfileRole(profile string) (roleARN string, err error)
	// CheckPassRole is called when caller hands roleARN to a service.
	CheckPassRole(callerARN, roleARN, service string) error
}

// Functions runs Lambda functions for other services.
type Functions interface {
	// InvokeAsync queues an event for a function (ARN, with or without
	// qualifier), as its caller the service principal, such as
	// "lambda.alarms.cloudwatch.amazonaws.com", acting for sourceARN. It fails
	// if the function does not exist or its policy does not allow the call.
	InvokeAsync(functionARN string, payload []byte, principal, sourceARN, sourceAccount string) error
}

// Datum is one value of a metric published by an AWS service or an agent.
type Datum struct {
	Namespace  string
	Name       string
	Dimensions map[string]string
	Time       time.Time
	Value      float64
	Unit       string
	HighRes    bool
}

// Metrics takes metrics that AWS services publish themselves.
type Metrics interface {
	PutMetric(region, account string, data ...Datum)
}

// Logs takes log lines of functions.
type Logs interface {
	PutLog(region, account, group, stream string, at time.Time, message string)
}

// Messages delivers to SNS topics and SQS queues (alarm actions, failure
// destinations). It fails if the target does not exist.
type Messages interface {
	Deliver(targetARN, subject string, body []byte) error
}

// Events takes events that AWS services send to EventBridge themselves.
type Events interface {
	// Emit puts an event, in the form in which rules see it, on the default bus
	// of an account. It returns at once and calls no other port before that.
	Emit(region, account string, event []byte)
}

// Machine is what EC2 tells the host world about an instance.
type Machine struct {
	InstanceID string
	Region     string
	Account    string
	Zone       string
	PrivateIP  string
	Profile    string // instance profile ARN, "" = none
	ImageID    string
	UserData   string // what the host runs at boot
	Tags       map[string]string
}

// Command is one run of an SSM document step on a host, as root.
type Command struct {
	ID         string // CommandId
	InstanceID string
	Document   string
	Script     string
	Env        map[string]string
	Timeout    time.Duration // executionTimeout
}

// CommandResult is what a finished command left.
type CommandResult struct {
	Code     int // exit code; -1 if it did not end by itself
	Stdout   string
	Stderr   string
	TimedOut bool
	Started  time.Time
	Ended    time.Time
}

// Hosts are the simulated machines. All methods are safe for concurrent use.
type Hosts interface {
	// Boot starts the machine of an instance: first boot runs its user data.
	// It returns once the machine runs. Disks survive Off and Shutdown.
	Boot(m Machine) error
	// Off cuts the power: every process is gone at once, no connection is closed.
	Off(instanceID string)
	// Shutdown asks the operating system to stop its services and then halts.
	// It returns when the machine has halted or ctx ends.
	Shutdown(ctx context.Context, instanceID string) error
	// Destroy removes a terminated machine and its disks.
	Destroy(instanceID string)
	// Healthy reports the system and the instance status check.
	Healthy(instanceID string) (system, instance bool)
	// AgentOnline reports whether the SSM agent of the machine is connected.
	AgentOnline(instanceID string) bool
	// Run executes a command through the SSM agent and waits for its end. It
	// blocks while the agent does not answer (machine off, frozen or cut off)
	// until ctx ends, and then returns the cause of ctx.
	Run(ctx context.Context, c Command) (CommandResult, error)
}

// Network answers where a packet goes, from EC2's route tables and interfaces.
type Network interface {
	// Route returns the instance to which packets for ip leave a subnet that
	// uses routeTable. ok is false for a missing or blackhole route.
	Route(routeTable, ip string) (instanceID string, ok bool)
	// Owner returns the instance that has ip as a private address.
	Owner(ip string) (instanceID string, ok bool)
}

// InstanceMetadata serves a host's IMDS endpoint (IMDSv2 and v1).
type InstanceMetadata interface {
	Handler(instanceID string) http.Handler
}

// AlarmState is what the data of an alarm says, whatever state the alarm is in.
type AlarmState int

// The states of an alarm's data.
const (
	AlarmInsufficientData AlarmState = iota
	AlarmOK
	AlarmRed
)

// AlarmStream is the data that a metric alarm watches, with the settings that
// the alarm had when the stream was asked for.
type AlarmStream struct {
	Namespace, Metric string // Metric is "" for an alarm on an expression
	Dimensions        map[string]string
	Statistic         string // such as "Average" or "p99"
	Comparison        string // such as "GreaterThanThreshold"
	Threshold         float64
	Period            time.Duration
	Periods, ToAlarm  int // evaluation periods and datapoints to alarm
	State             func(at time.Time) AlarmState
}

// Alarms reads the data behind metric alarms (Route 53's health checks).
type Alarms interface {
	// AlarmStream returns false if there is no metric alarm of that name.
	AlarmStream(region, account, name string) (AlarmStream, bool)
}
