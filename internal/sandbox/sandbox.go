// Package sandbox is an embedded AWS: services that speak the wire protocols
// on one endpoint, share a clock, and reach simulated hosts. It connects the
// services; each of them knows only wire and world.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go/middleware"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/cloudwatch"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/ec2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/events"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/imds"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/kms"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/logs"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/route53"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/scheduler"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sns"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sqs"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/ssm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/throttle"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

// Options configure a sandbox.
type Options struct {
	Clock clock.Clock // clock.System() if nil
	// Manual, if it is set, is the time at which a clock stands that is moved by
	// hand, instead of Clock. World.Clock is then a *clock.Manual.
	Manual time.Time
	// Dir holds the disks of the hosts.
	Dir string
	// Listen is the address of the endpoint, such as "127.0.0.1:4566". Empty:
	// in process, reached through Sandbox.Config only.
	Listen string
	// Binary is the program behind the commands of the hosts; its main calls
	// hosts.MultiCall. Empty: hosts and functions run in process.
	Binary string
	// Agent is the program behind the hosts' unit hadr-agent.
	Agent string
	// Functions are the handlers of functions that run in process.
	Functions map[string]lambda.Handler
	// Commands are further programs of hosts that run in process.
	Commands map[string]hosts.CommandFunc
	// FunctionProcesses lets functions run as processes, from the code that was
	// uploaded, though hosts run in process.
	FunctionProcesses bool
	// Throttled switches throttling on.
	Throttled bool
	// CloudWatch changes how CloudWatch behaves where AWS promises nothing.
	CloudWatch []cloudwatch.Option
	// Disturb, if it is set, puts something between the services and the faults
	// that they meet.
	Disturb func(world.Faults) world.Faults
	Log     *slog.Logger
}

// Sandbox is a running AWS.
type Sandbox struct {
	World      *world.World
	Server     *wire.Server
	IAM        *iam.IAM
	DynamoDB   *dynamodb.DynamoDB
	EC2        *ec2.EC2
	SSM        *ssm.SSM
	CloudWatch *cloudwatch.CloudWatch
	Lambda     *lambda.Lambda
	Events     *events.Events
	Scheduler  *scheduler.Scheduler
	Logs       *logs.Logs
	Route53    *route53.Route53
	Hosts      *hosts.Hosts

	// Faults is what goes wrong, Throttling what comes too often. The control path
	// of the endpoint sets both, too.
	Faults     fault.Injector
	Throttling *throttle.Throttle

	// Endpoint is the URL of the endpoint; a name that resolves to nothing if
	// the sandbox runs in process.
	Endpoint string

	http      *http.Server
	done      chan struct{}
	book      *fault.Book
	functions *activity // of functions that run as processes
}

// inProcessEndpoint is what clients of a sandbox without a socket are told.
const inProcessEndpoint = "http://sandbox.invalid"

// Start runs a sandbox until Close.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	functions := newActivity()
	switch {
	case !o.Manual.IsZero():
		o.Clock = clock.NewManual(o.Manual, functions.settle)
	case o.Clock == nil:
		o.Clock = clock.System()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the directory of the sandbox: %w", err)
	}
	w := world.New(o.Clock)
	s := &Sandbox{World: w, Endpoint: inProcessEndpoint, done: make(chan struct{}), functions: functions}
	var listener net.Listener
	if o.Listen != "" {
		var err error
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
		if err != nil {
			return nil, fmt.Errorf("listening for the sandbox's endpoint: %w", err)
		}
		s.Endpoint = "http://" + listener.Addr().String()
	}
	w.Endpoint = s.Endpoint
	if err := s.connect(o); err != nil {
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return nil, err
	}
	if listener == nil {
		close(s.done)
		return s, nil
	}
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("the sandbox's endpoint ended", "error", err)
		}
	}()
	return s, nil
}

// connect makes the services and gives each the ports to the others.
func (s *Sandbox) connect(o Options) error {
	w := s.World
	s.IAM = iam.New(w)
	s.DynamoDB = dynamodb.New(w)
	s.EC2 = ec2.New(w)
	s.SSM = ssm.New(w)
	s.CloudWatch = cloudwatch.New(w, append([]cloudwatch.Option{cloudwatch.WithLog(o.Log)}, o.CloudWatch...)...)
	s.Logs = logs.New(w)
	s.Route53 = route53.New(w)
	queues := sqs.New(w)
	topics := sns.New(w, queues)
	functions, err := s.executor(o)
	if err != nil {
		return err
	}
	s.Lambda = lambda.New(w, functions)
	metadata := imds.New(w, s.instance)
	s.Hosts = hosts.New(hosts.Options{
		World: w, Dir: o.Dir, Binary: o.Binary, Agent: o.Agent, Commands: o.Commands,
		Metadata: metadata, RouteTable: s.EC2.RouteTable, Log: o.Log,
	})
	targets := delivery.Ports{Functions: s.Lambda, Messages: topics, Roles: s.IAM}
	s.Events = events.New(w, targets, o.Log)
	s.Scheduler = scheduler.New(w, targets, o.Log)
	w.Identity, w.Functions, w.Metrics, w.Logs = s.IAM, s.Lambda, s.CloudWatch, s.Logs
	w.Alarms, w.Messages, w.Hosts, w.Network, w.Inventory, w.Events = s.CloudWatch, topics, s.Hosts, s.EC2, s.EC2, s.Events

	authorizer := s.IAM.Authorizer()
	authorizer.Tags = func(region, arn string) map[string]string {
		switch {
		case strings.HasPrefix(arn, "arn:aws:lambda:"):
			return s.Lambda.Tags(arn)
		case strings.HasPrefix(arn, "arn:aws:events:"):
			return s.Events.TagsOf(arn)
		case strings.HasPrefix(arn, "arn:aws:scheduler:"):
			return s.Scheduler.TagsOf(arn)
		case strings.HasPrefix(arn, "arn:aws:route53:"):
			return s.Route53.Tags(arn)
		}
		return s.EC2.TagsOf(region, arn)
	}
	authorizer.PartitionKey = s.DynamoDB.PartitionKey
	authorizer.Stream = dynamodb.StreamOf
	authorizer.ResourcePolicy = func(service, region, arn string) string {
		switch service {
		case "lambda":
			return s.Lambda.Policy(arn)
		case "sns":
			return topics.Policy(arn)
		case "sqs":
			return queues.Policy(arn)
		}
		return ""
	}
	s.Server = wire.NewServer(wire.Options{
		Account: w.Account, RequestID: w.UUID, Identify: s.IAM.Identify, Authorize: authorizer.Authorize, Now: w.Clock.Now, Log: o.Log,
	})
	for _, service := range []*wire.Service{
		s.IAM.Service(), sts.New(s.IAM).Service(), s.DynamoDB.Service(), s.DynamoDB.Streams(), s.EC2.Service(), s.SSM.Service(),
		s.CloudWatch.Service(), s.Logs.Service(), s.Lambda.Service(), s.Route53.Service(), topics.Service(), queues.Service(),
		s.Events.Service(), s.Scheduler.Service(), kms.New(s.DynamoDB.ManagesKey).Service(),
	} {
		s.Server.Register(service)
	}
	s.disturb(authorizer, o)
	s.SSM.Start()
	s.CloudWatch.Start()
	s.Events.Start()
	s.Scheduler.Start()
	return nil
}

// executor runs functions in this process or in processes of their own.
func (s *Sandbox) executor(o Options) (lambda.Executor, error) {
	if o.Binary == "" && !o.FunctionProcesses {
		return s.functions.watch(lambda.NewInProcess(o.Functions), false), nil
	}
	processes, err := lambda.NewProcess(o.Dir)
	if err != nil {
		return nil, err
	}
	return s.functions.watch(processes, true), nil
}

// instance tells the metadata service about an instance.
func (s *Sandbox) instance(id string) (imds.Instance, bool) {
	for _, i := range s.EC2.Instances() {
		if i.InstanceID == id {
			return imds.Instance{Machine: i.Machine, Type: i.Type, Architecture: "x86_64", Launched: i.Launched, TokensRequired: true}, true
		}
	}
	return imds.Instance{}, false
}

// Handler serves the endpoint: the services, and the URLs of functions.
// All answers are dated by the sandbox's clock.
func (s *Sandbox) Handler() http.Handler {
	urls := s.Lambda.URLs()
	orders := control.Handler(control.Options{Faults: s.book, Throttling: s.Throttling, Clock: s.World.Clock})
	return s.functions.note(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.World.Clock.Now().UTC().Format(http.TimeFormat))
		switch {
		case strings.HasPrefix(r.URL.Path, control.Path):
			orders.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, lambda.URLPath):
			urls.ServeHTTP(w, r)
		default:
			s.Server.ServeHTTP(w, r)
		}
	}))
}

// Config is a configuration for clients of the account itself, which may do
// everything.
func (s *Sandbox) Config(region string) aws.Config {
	cfg := aws.Config{
		Region: region, BaseEndpoint: &s.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		APIOptions:  []func(*middleware.Stack) error{awsclient.PlainBody},
	}
	if s.http == nil {
		cfg.HTTPClient = &http.Client{Transport: wire.Direct(s.Handler())}
		cfg.DisableRequestCompression = true // no network to spare
	}
	return cfg
}

// Close ends hosts, functions and services.
func (s *Sandbox) Close() {
	s.book.Stop()
	s.CloudWatch.Close()
	s.Scheduler.Close()
	s.Events.Close()
	s.Lambda.Close()
	s.Route53.Close()
	s.SSM.Close()
	s.EC2.Close()
	s.Hosts.Close()
	s.book.Wait()
	if s.http != nil {
		_ = s.http.Close() // nothing can be done about it
	}
	<-s.done
}
