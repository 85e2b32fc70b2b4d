package logs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (l *Logs) createLogStream(r *wire.Request, in *cloudwatchlogs.CreateLogStreamInput) (*cloudwatchlogs.CreateLogStreamOutput, error) {
	name := deref(in.LogStreamName)
	if err := checkStreamName(name); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, nil)
	if err != nil {
		return nil, err
	}
	if g.streams[name] != nil {
		return nil, wire.Errorf("ResourceAlreadyExistsException", "The specified log stream already exists")
	}
	g.streams[name] = &stream{name: name, created: l.now()}
	return nil, nil
}

func (l *Logs) deleteLogStream(r *wire.Request, in *cloudwatchlogs.DeleteLogStreamInput) (*cloudwatchlogs.DeleteLogStreamOutput, error) {
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
	delete(g.streams, s.name)
	return nil, nil
}

// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_DescribeLogStreams.html
func (l *Logs) describeLogStreams(r *wire.Request, in *cloudwatchlogs.DescribeLogStreamsInput) (*cloudwatchlogs.DescribeLogStreamsOutput, error) {
	byTime := in.OrderBy == types.OrderByLastEventTime
	if byTime && in.LogStreamNamePrefix != nil {
		return nil, invalid("Cannot order by LastEventTime with a logStreamNamePrefix.")
	}
	limit, err := limitOf(in.Limit, 50, 50)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, in.LogGroupIdentifier)
	if err != nil {
		return nil, err
	}
	var all []*stream
	for _, s := range g.streams {
		if strings.HasPrefix(s.name, deref(in.LogStreamNamePrefix)) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *stream) int {
		c := strings.Compare(a.name, b.name)
		if byTime {
			c = cmp.Or(cmp.Compare(a.last(), b.last()), c)
		}
		if aws.ToBool(in.Descending) {
			return -c
		}
		return c
	})
	part, next, err := page(all, in.NextToken, limit)
	if err != nil {
		return nil, err
	}
	out := &cloudwatchlogs.DescribeLogStreamsOutput{NextToken: next}
	for _, s := range part {
		d := types.LogStream{
			Arn:           aws.String(g.arn + ":log-stream:" + s.name),
			LogStreamName: aws.String(s.name),
			CreationTime:  aws.Int64(s.created),
			StoredBytes:   aws.Int64(0),
		}
		if n := len(s.events); n > 0 {
			d.FirstEventTimestamp = aws.Int64(s.events[0].timestamp)
			d.LastEventTimestamp = aws.Int64(s.last())
			d.LastIngestionTime = aws.Int64(s.ingestion)
		}
		out.LogStreams = append(out.LogStreams, d)
	}
	return out, nil
}

// last returns the timestamp of the newest event, 0 if there is none.
func (s *stream) last() int64 {
	if len(s.events) == 0 {
		return 0
	}
	return s.events[len(s.events)-1].timestamp
}

func limitOf(asked *int32, otherwise, most int) (int, error) {
	if asked == nil {
		return otherwise, nil
	}
	if *asked < 1 || int(*asked) > most {
		return 0, invalid("Value %d at 'limit' failed to satisfy constraint: Member must have value between 1 and %d", *asked, most)
	}
	return int(*asked), nil
}

// page returns the part of list after the items that token counts, and the
// token of the next part; nil at the end.
func page[T any](list []T, token *string, limit int) ([]T, *string, error) {
	from := 0
	if token != nil {
		n, err := strconv.Atoi(*token)
		if err != nil || n < 0 {
			return nil, nil, invalid("The specified nextToken is invalid.")
		}
		from = min(n, len(list))
	}
	to := min(from+limit, len(list))
	if to == len(list) {
		return list[from:], nil, nil
	}
	return list[from:to], aws.String(strconv.Itoa(to)), nil
}
