package logs

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// The limits of a batch.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
const (
	maxBatch      = 10_000
	maxBatchBytes = 1 << 20
	eventOverhead = 26 // bytes that each event counts beside its message
	maxSpan       = 24 * time.Hour
	tooNew        = 2 * time.Hour
	tooOld        = 14 * 24 * time.Hour
)

func (l *Logs) putLogEvents(r *wire.Request, in *cloudwatchlogs.PutLogEventsInput) (*cloudwatchlogs.PutLogEventsOutput, error) {
	if err := checkBatch(in.LogEvents); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, nil)
	if err != nil {
		return nil, err
	}
	s, err := g.find(in.LogStreamName)
	if err != nil {
		return nil, err
	}
	now := l.now()
	rejected := &types.RejectedLogEventsInfo{}
	for i, e := range in.LogEvents {
		switch t := *e.Timestamp; {
		case t > now+tooNew.Milliseconds():
			if rejected.TooNewLogEventStartIndex == nil {
				rejected.TooNewLogEventStartIndex = aws.Int32(int32(i))
			}
		case g.expired(t, now):
			rejected.ExpiredLogEventEndIndex = aws.Int32(int32(i + 1))
		case t < now-tooOld.Milliseconds():
			rejected.TooOldLogEventEndIndex = aws.Int32(int32(i + 1))
		default:
			l.append(g, s, event{timestamp: t, message: *e.Message})
		}
	}
	out := &cloudwatchlogs.PutLogEventsOutput{NextSequenceToken: aws.String(l.world.Hex(56))}
	if *rejected != (types.RejectedLogEventsInfo{}) {
		out.RejectedLogEventsInfo = rejected
	}
	return out, nil
}

func checkBatch(events []types.InputLogEvent) error {
	if len(events) == 0 || len(events) > maxBatch {
		return invalid("Value at 'logEvents' failed to satisfy constraint: Member must have between 1 and %d events, not %d", maxBatch, len(events))
	}
	size := 0
	for i, e := range events {
		if e.Timestamp == nil || *e.Timestamp < 0 || deref(e.Message) == "" {
			return invalid("Event %d of 'logEvents' needs a timestamp and a message.", i)
		}
		size += len(*e.Message) + eventOverhead
		if i > 0 && *e.Timestamp < *events[i-1].Timestamp {
			return invalid("Log events in a single PutLogEvents request must be in chronological order.")
		}
	}
	if size > maxBatchBytes {
		return invalid("Upload too large: %d bytes exceeds limit of %d", size, maxBatchBytes)
	}
	if *events[len(events)-1].Timestamp-*events[0].Timestamp > maxSpan.Milliseconds() {
		return invalid("The batch of log events in a single PutLogEvents request cannot span more than 24 hours.")
	}
	return nil
}

// mostEvents bounds a stream, so that a sandbox that runs for long does not
// grow: the oldest events are forgotten. AWS has no such limit.
const mostEvents = 20_000

// append adds e in the order of timestamps, after those of the same time, and
// forgets what the retention of the group has passed, or what is too much.
func (l *Logs) append(g *group, s *stream, e event) {
	now := l.now()
	e.ingestion, s.ingestion = now, now
	e.id = fmt.Sprintf("%019d%s", e.timestamp, l.world.Hex(37))
	i := sort.Search(len(s.events), func(i int) bool { return s.events[i].timestamp > e.timestamp })
	s.events = slices.Insert(s.events, i, e)
	old := sort.Search(len(s.events), func(i int) bool { return !g.expired(s.events[i].timestamp, now) })
	if len(s.events) > mostEvents {
		old = max(old, mostEvents/10) // a copy now and then, not with every event
	}
	if old > 0 {
		s.events = slices.Delete(s.events, 0, old)
	}
}

func (g *group) expired(timestamp, now int64) bool {
	return g.retention != nil && timestamp < now-int64(*g.retention)*24*time.Hour.Milliseconds()
}

// between returns the events from start on and before end that have not expired.
func (s *stream) between(g *group, now int64, start, end *int64) []event {
	var out []event
	for _, e := range s.events {
		if !g.expired(e.timestamp, now) && (start == nil || e.timestamp >= *start) && (end == nil || e.timestamp < *end) {
			out = append(out, e)
		}
	}
	return out
}

// getLogEvents pages in both directions. At an end the token that was given
// comes back.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_GetLogEvents.html
func (l *Logs) getLogEvents(r *wire.Request, in *cloudwatchlogs.GetLogEventsInput) (*cloudwatchlogs.GetLogEventsOutput, error) {
	limit, err := limitOf(in.Limit, maxBatch, maxBatch)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, in.LogGroupIdentifier)
	if err != nil {
		return nil, err
	}
	s, err := g.find(in.LogStreamName)
	if err != nil {
		return nil, err
	}
	all := s.between(g, l.now(), in.StartTime, in.EndTime)
	// A token is the position between two events, with the direction in which
	// it goes on.
	from, to := max(0, len(all)-limit), len(all)
	if aws.ToBool(in.StartFromHead) {
		from, to = 0, min(limit, len(all))
	}
	if in.NextToken != nil {
		direction, position, _ := strings.Cut(*in.NextToken, "/")
		n, err := strconv.Atoi(position)
		if err != nil || n < 0 || direction != "f" && direction != "b" {
			return nil, invalid("The specified nextToken is invalid.")
		}
		n = min(n, len(all))
		if direction == "f" {
			from, to = n, min(n+limit, len(all))
		} else {
			from, to = max(0, n-limit), n
		}
	}
	out := &cloudwatchlogs.GetLogEventsOutput{
		Events:            []types.OutputLogEvent{},
		NextForwardToken:  aws.String("f/" + strconv.Itoa(to)),
		NextBackwardToken: aws.String("b/" + strconv.Itoa(from)),
	}
	for _, e := range all[from:to] {
		out.Events = append(out.Events, types.OutputLogEvent{Message: aws.String(e.message), Timestamp: aws.Int64(e.timestamp), IngestionTime: aws.Int64(e.ingestion)})
	}
	return out, nil
}

// filterLogEvents searches the streams of a group. Unlike GetLogEvents, events
// at endTime are found.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
func (l *Logs) filterLogEvents(r *wire.Request, in *cloudwatchlogs.FilterLogEventsInput) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	if in.LogStreamNames != nil && in.LogStreamNamePrefix != nil {
		return nil, invalid("LogStreamNames and LogStreamNamePrefix are mutually exclusive parameters.")
	}
	limit, err := limitOf(in.Limit, maxBatch, maxBatch)
	if err != nil {
		return nil, err
	}
	match, err := parsePattern(deref(in.FilterPattern))
	if err != nil {
		return nil, err
	}
	end := in.EndTime
	if end != nil {
		end = aws.Int64(*end + 1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, in.LogGroupIdentifier)
	if err != nil {
		return nil, err
	}
	for _, name := range in.LogStreamNames {
		if _, err := g.find(&name); err != nil {
			return nil, err
		}
	}
	var found []types.FilteredLogEvent
	for name, s := range g.streams {
		if len(in.LogStreamNames) > 0 && !slices.Contains(in.LogStreamNames, name) || !strings.HasPrefix(name, deref(in.LogStreamNamePrefix)) {
			continue
		}
		for _, e := range s.between(g, l.now(), in.StartTime, end) {
			if match(e.message) {
				found = append(found, types.FilteredLogEvent{EventId: aws.String(e.id), LogStreamName: aws.String(name),
					Message: aws.String(e.message), Timestamp: aws.Int64(e.timestamp), IngestionTime: aws.Int64(e.ingestion)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b types.FilteredLogEvent) int {
		return cmp.Or(cmp.Compare(*a.Timestamp, *b.Timestamp), strings.Compare(*a.LogStreamName, *b.LogStreamName))
	})
	part, next, err := page(found, in.NextToken, limit)
	if err != nil {
		return nil, err
	}
	return &cloudwatchlogs.FilterLogEventsOutput{Events: part, NextToken: next}, nil
}
