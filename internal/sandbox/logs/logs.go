// Package logs is CloudWatch Logs for the sandbox: log groups, streams, events,
// retention and filter patterns.
package logs

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Logs holds the log groups of all accounts and Regions. It implements
// world.Logs.
type Logs struct {
	world *world.World

	mu     sync.Mutex
	groups map[groupKey]*group
}

var _ world.Logs = (*Logs)(nil)

type groupKey struct{ account, region, name string }

type group struct {
	name      string
	arn       string // without the ":*" that some operations add
	created   int64  // milliseconds since the Unix epoch, like all times here
	class     string
	kmsKey    *string
	retention *int32 // days; nil keeps events for ever
	tags      map[string]string
	streams   map[string]*stream
}

type stream struct {
	name      string
	created   int64
	ingestion int64   // time of the last PutLogEvents
	events    []event // by timestamp
}

type event struct {
	id        string
	timestamp int64
	ingestion int64
	message   string
}

// New returns CloudWatch Logs without groups.
func New(w *world.World) *Logs {
	return &Logs{world: w, groups: map[groupKey]*group{}}
}

// Service returns the operations for a wire.Server.
func (l *Logs) Service() *wire.Service {
	s := &wire.Service{
		Name:      "logs",
		Target:    "Logs_20140328",
		Version:   "2014-03-28",
		Namespace: "http://monitoring.amazonaws.com/doc/2014-03-28/",
		Default:   wire.JSON11,
		Schema:    schemas.Logs_20140328,
		Types:     cloudwatchlogs.TypeRegistry,
	}
	wire.Handle(s, "CreateLogGroup", nil, nil, l.createLogGroup)
	wire.Handle(s, "DeleteLogGroup", nil, nil, l.deleteLogGroup)
	wire.Handle(s, "DescribeLogGroups", nil, nil, l.describeLogGroups)
	wire.Handle(s, "PutRetentionPolicy", nil, nil, l.putRetentionPolicy)
	wire.Handle(s, "DeleteRetentionPolicy", nil, nil, l.deleteRetentionPolicy)
	wire.Handle(s, "CreateLogStream", nil, nil, l.createLogStream)
	wire.Handle(s, "DeleteLogStream", nil, nil, l.deleteLogStream)
	wire.Handle(s, "DescribeLogStreams", nil, nil, l.describeLogStreams)
	wire.Handle(s, "PutLogEvents", nil, nil, l.putLogEvents)
	wire.Handle(s, "GetLogEvents", nil, nil, l.getLogEvents)
	wire.Handle(s, "FilterLogEvents", nil, nil, l.filterLogEvents)
	wire.Handle(s, "TagResource", nil, nil, l.tagResource)
	wire.Handle(s, "UntagResource", nil, nil, l.untagResource)
	wire.Handle(s, "ListTagsForResource", nil, nil, l.listTagsForResource)
	return s
}

// PutLog implements world.Logs: group and stream are made when they are
// missing, as the service that writes them would do.
func (l *Logs) PutLog(region, account, name, streamName string, at time.Time, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := groupKey{account, region, name}
	g := l.groups[key]
	if g == nil {
		g = l.add(key)
	}
	s := g.streams[streamName]
	if s == nil {
		s = &stream{name: streamName, created: l.now()}
		g.streams[streamName] = s
	}
	l.append(g, s, event{timestamp: at.UnixMilli(), message: message})
}

func (l *Logs) now() int64 { return l.world.Clock.Now().UnixMilli() }

func (l *Logs) add(k groupKey) *group {
	g := &group{
		name:    k.name,
		arn:     "arn:aws:logs:" + k.region + ":" + k.account + ":log-group:" + k.name,
		created: l.now(),
		class:   "STANDARD",
		tags:    map[string]string{},
		streams: map[string]*stream{},
	}
	l.groups[k] = g
	return g
}

// find returns the group that a request names, by its name or by its ARN.
func (l *Logs) find(r *wire.Request, name, identifier *string) (*group, error) {
	if (name == nil) == (identifier == nil) {
		return nil, invalid("Exactly one of logGroupName and logGroupIdentifier is needed.")
	}
	want := deref(name)
	if identifier != nil {
		want = *identifier
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(want, ":*"), "arn:aws:logs:"+r.Region+":"+r.Account+":log-group:"); ok {
			want = rest
		}
	}
	if err := checkGroupName(want); err != nil {
		return nil, err
	}
	g := l.groups[groupKey{r.Account, r.Region, want}]
	if g == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "The specified log group does not exist.")
	}
	return g, nil
}

func (g *group) find(name *string) (*stream, error) {
	s := g.streams[deref(name)]
	if s == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "The specified log stream does not exist.")
	}
	return s, nil
}

var (
	// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html
	groupName = regexp.MustCompile(`^[.\-_/#A-Za-z0-9]{1,512}$`)
	// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogStream.html
	streamName = regexp.MustCompile(`^[^:*]{1,512}$`)
)

func checkGroupName(name string) error {
	if !groupName.MatchString(name) {
		return invalid("Value %q at 'logGroupName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_/#A-Za-z0-9]+", name)
	}
	return nil
}

func checkStreamName(name string) error {
	if !streamName.MatchString(name) {
		return invalid("Value %q at 'logStreamName' failed to satisfy constraint: Member must satisfy regular expression pattern: [^:*]*", name)
	}
	return nil
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterException", format, args...)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
