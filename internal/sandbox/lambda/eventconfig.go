package lambda

import (
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// The settings of asynchronous invocation and their defaults.
// https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html
const (
	maxRetries  = 2
	minEventAge = 60     // seconds
	maxEventAge = 21_600 // seconds
)

var destinationARN = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:(sqs|sns|lambda|events|s3):[a-z0-9-]*:([0-9]{12})?:\S+$`)

type eventSettings struct {
	qualifier   string // latest for the function itself
	retries     *int32
	age         *int32 // seconds
	destination *types.DestinationConfig
	modified    time.Time
}

func (s *eventSettings) check() error {
	if s.retries != nil && (*s.retries < 0 || *s.retries > maxRetries) {
		return invalid("Value '%d' at 'maximumRetryAttempts' failed to satisfy constraint: Member must have value between 0 and %d", *s.retries, maxRetries)
	}
	if s.age != nil && (*s.age < minEventAge || *s.age > maxEventAge) {
		return invalid("Value '%d' at 'maximumEventAgeInSeconds' failed to satisfy constraint: Member must have value between %d and %d", *s.age, minEventAge, maxEventAge)
	}
	for _, arn := range []string{s.onFailure(), s.onSuccess()} {
		if arn != "" && !destinationARN.MatchString(arn) {
			return invalid("The destination ARN %q is invalid.", arn)
		}
	}
	return nil
}

func (s *eventSettings) onFailure() string {
	if s == nil || s.destination == nil || s.destination.OnFailure == nil {
		return ""
	}
	return deref(s.destination.OnFailure.Destination)
}

func (s *eventSettings) onSuccess() string {
	if s == nil || s.destination == nil || s.destination.OnSuccess == nil {
		return ""
	}
	return deref(s.destination.OnSuccess.Destination)
}

// tries is how often an event is tried in all.
func (s *eventSettings) tries() int {
	if s == nil || s.retries == nil {
		return 1 + maxRetries
	}
	return 1 + int(*s.retries)
}

// lifetime is how long an event is tried at all.
func (s *eventSettings) lifetime() time.Duration {
	if s == nil || s.age == nil {
		return maxEventAge * time.Second
	}
	return time.Duration(*s.age) * time.Second
}

func settingsKey(qualifier string) string {
	if qualifier == "" {
		return latest
	}
	return qualifier
}

func (f *function) show(s *eventSettings) types.FunctionEventInvokeConfig {
	destination := s.destination
	if destination == nil {
		destination = &types.DestinationConfig{OnFailure: &types.OnFailure{}, OnSuccess: &types.OnSuccess{}}
	}
	return types.FunctionEventInvokeConfig{FunctionArn: aws.String(f.qualifiedARN(s.qualifier)), LastModified: aws.Time(s.modified),
		MaximumRetryAttempts: s.retries, MaximumEventAgeInSeconds: s.age, DestinationConfig: destination}
}

// store checks and keeps the settings of a qualifier. The caller holds l.mu.
func (l *Lambda) store(f *function, s *eventSettings) (types.FunctionEventInvokeConfig, error) {
	if err := s.check(); err != nil {
		return types.FunctionEventInvokeConfig{}, err
	}
	s.modified = l.world.Clock.Now()
	f.events[s.qualifier] = s
	return f.show(s), nil
}

func (l *Lambda) putEventInvokeConfig(r *wire.Request, in *api.PutFunctionEventInvokeConfigInput) (*api.PutFunctionEventInvokeConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	c, err := l.store(f, &eventSettings{qualifier: settingsKey(qualifier), retries: in.MaximumRetryAttempts, age: in.MaximumEventAgeInSeconds, destination: in.DestinationConfig})
	if err != nil {
		return nil, err
	}
	return &api.PutFunctionEventInvokeConfigOutput{FunctionArn: c.FunctionArn, LastModified: c.LastModified, MaximumRetryAttempts: c.MaximumRetryAttempts,
		MaximumEventAgeInSeconds: c.MaximumEventAgeInSeconds, DestinationConfig: c.DestinationConfig}, nil
}

// eventConfig finds the settings that a request names.
func (l *Lambda) eventConfig(r *wire.Request, name, qualifier *string) (*function, *eventSettings, error) {
	f, _, q, err := l.find(r, name, qualifier)
	if err != nil {
		return nil, nil, err
	}
	s := f.events[settingsKey(q)]
	if s == nil {
		return nil, nil, wire.Errorf("ResourceNotFoundException", "The function %s doesn't have an EventInvokeConfig", f.qualifiedARN(settingsKey(q)))
	}
	return f, s, nil
}

func (l *Lambda) updateEventInvokeConfig(r *wire.Request, in *api.UpdateFunctionEventInvokeConfigInput) (*api.UpdateFunctionEventInvokeConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, old, err := l.eventConfig(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	s := *old
	set(&s.retries, in.MaximumRetryAttempts)
	set(&s.age, in.MaximumEventAgeInSeconds)
	set(&s.destination, in.DestinationConfig)
	c, err := l.store(f, &s)
	if err != nil {
		return nil, err
	}
	return &api.UpdateFunctionEventInvokeConfigOutput{FunctionArn: c.FunctionArn, LastModified: c.LastModified, MaximumRetryAttempts: c.MaximumRetryAttempts,
		MaximumEventAgeInSeconds: c.MaximumEventAgeInSeconds, DestinationConfig: c.DestinationConfig}, nil
}

func (l *Lambda) getEventInvokeConfig(r *wire.Request, in *api.GetFunctionEventInvokeConfigInput) (*api.GetFunctionEventInvokeConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, s, err := l.eventConfig(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	c := f.show(s)
	return &api.GetFunctionEventInvokeConfigOutput{FunctionArn: c.FunctionArn, LastModified: c.LastModified, MaximumRetryAttempts: c.MaximumRetryAttempts,
		MaximumEventAgeInSeconds: c.MaximumEventAgeInSeconds, DestinationConfig: c.DestinationConfig}, nil
}

func (l *Lambda) deleteEventInvokeConfig(r *wire.Request, in *api.DeleteFunctionEventInvokeConfigInput) (*api.DeleteFunctionEventInvokeConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, s, err := l.eventConfig(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	delete(f.events, s.qualifier)
	return nil, nil
}

func (l *Lambda) listEventInvokeConfigs(r *wire.Request, in *api.ListFunctionEventInvokeConfigsInput) (*api.ListFunctionEventInvokeConfigsOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	var all []types.FunctionEventInvokeConfig
	for _, q := range sortedKeys(f.events) {
		all = append(all, f.show(f.events[q]))
	}
	part, next, err := page(all, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &api.ListFunctionEventInvokeConfigsOutput{FunctionEventInvokeConfigs: part, NextMarker: next}, nil
}
