package events

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// defaultBus receives the events of AWS services. It cannot be deleted.
const defaultBus = "default"

// busName is the form of the names of buses: a slash is for partners only.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_CreateEventBus.html
var busName = regexp.MustCompile(`^[\.\-_A-Za-z0-9]{1,256}$`)

// bus is an event bus with its rules.
type bus struct {
	owner
	name        string
	description *string
	created     time.Time
	tags        map[string]string
	rules       map[string]*rule // by name
}

func newBus(o owner, name string, now time.Time) *bus {
	return &bus{owner: o, name: name, created: now, tags: map[string]string{}, rules: map[string]*rule{}}
}

func (b *bus) busARN() string { return b.arn("event-bus/" + b.name) }

// ruleARN leaves the default bus out, as AWS does.
func (b *bus) ruleARN(name string) string {
	if b.name == defaultBus {
		return b.arn("rule/" + name)
	}
	return b.arn("rule/" + b.name + "/" + name)
}

// find returns a bus by its name or ARN; without one the default bus.
func find(all map[string]*bus, name *string) (*bus, error) {
	n := aws.ToString(name)
	if n == "" {
		n = defaultBus
	}
	for _, b := range all {
		if n == b.name || n == b.busARN() {
			return b, nil
		}
	}
	return nil, missing("Event bus %s does not exist.", n)
}

func (e *Events) createEventBus(r *wire.Request, in *api.CreateEventBusInput) (*api.CreateEventBusOutput, error) {
	name := aws.ToString(in.Name)
	switch {
	case !busName.MatchString(name) || in.EventSourceName != nil:
		return nil, invalid("1 validation error detected: Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+ (the sandbox has no partner event sources)", name)
	case in.DeadLetterConfig != nil || in.LogConfig != nil:
		return nil, invalid("The sandbox's event buses have neither dead-letter queues nor logs.")
	}
	all, now := e.enter(r)
	defer e.mu.Unlock()
	if all[name] != nil {
		return nil, exists("Event bus", name)
	}
	b := newBus(owner{r.Region, r.Account}, name, now)
	b.description = in.Description
	if err := tag(&b.tags, in.Tags); err != nil {
		return nil, err
	}
	all[name] = b
	return &api.CreateEventBusOutput{EventBusArn: aws.String(b.busARN()), Description: b.description}, nil
}

func (e *Events) describeEventBus(r *wire.Request, in *api.DescribeEventBusInput) (*api.DescribeEventBusOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	b, err := find(all, in.Name)
	if err != nil {
		return nil, err
	}
	return &api.DescribeEventBusOutput{Arn: aws.String(b.busARN()), Name: aws.String(b.name), Description: b.description, CreationTime: aws.Time(b.created), LastModifiedTime: aws.Time(b.created)}, nil
}

func (e *Events) deleteEventBus(r *wire.Request, in *api.DeleteEventBusInput) (*api.DeleteEventBusOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	b := all[aws.ToString(in.Name)]
	switch {
	case b == nil: // deleting nothing is no error
		return nil, nil
	case b.name == defaultBus:
		return nil, invalid("Cannot delete event bus default.")
	case len(b.rules) > 0:
		return nil, invalid("Event bus %s can't be deleted since it has rules.", b.name)
	}
	delete(all, b.name)
	return nil, nil
}

func (e *Events) listEventBuses(r *wire.Request, in *api.ListEventBusesInput) (*api.ListEventBusesOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	found := []types.EventBus{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if b := all[name]; strings.HasPrefix(name, aws.ToString(in.NamePrefix)) {
			found = append(found, types.EventBus{Arn: aws.String(b.busARN()), Name: aws.String(name), Description: b.description, CreationTime: aws.Time(b.created), LastModifiedTime: aws.Time(b.created)})
		}
	}
	some, next, err := page(found, in.Limit, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListEventBusesOutput{EventBuses: some, NextToken: next}, nil
}
