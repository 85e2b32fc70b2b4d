package logs_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/logs"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

type client struct {
	*cloudwatchlogs.Client
	*logs.Logs
}

func newClient() client {
	l := logs.New(world.New(clock.System()))
	s := wire.NewServer(wire.Options{Account: world.DefaultAccount})
	s.Register(l.Service())
	return client{cloudwatchlogs.New(cloudwatchlogs.Options{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), BaseEndpoint: aws.String("http://sandbox"),
		HTTPClient: &http.Client{Transport: s.RoundTripper()}, Retryer: aws.NopRetryer{},
	}), l}
}

// group makes a group "/g" with a stream "s".
func (c client) group(t *testing.T) {
	t.Helper()
	_, err := c.CreateLogGroup(t.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("/g"), Tags: map[string]string{"a": "1"}})
	noError(t, err)
	_, err = c.CreateLogStream(t.Context(), &cloudwatchlogs.CreateLogStreamInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s")})
	noError(t, err)
}

func (c client) put(t *testing.T, at time.Time, messages ...string) *cloudwatchlogs.PutLogEventsOutput {
	t.Helper()
	in := &cloudwatchlogs.PutLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s")}
	for i, m := range messages {
		in.LogEvents = append(in.LogEvents, types.InputLogEvent{Message: &m, Timestamp: aws.Int64(at.UnixMilli() + int64(i))})
	}
	out, err := c.PutLogEvents(t.Context(), in)
	noError(t, err)
	return out
}

func (c client) filter(t *testing.T, in cloudwatchlogs.FilterLogEventsInput) []string {
	t.Helper()
	in.LogGroupName = aws.String("/g")
	out, err := c.FilterLogEvents(t.Context(), &in)
	noError(t, err)
	var got []string
	for _, e := range out.Events {
		got = append(got, *e.Message)
	}
	return got
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("error is %v, want %s", err, code)
	}
}

func TestGroups(t *testing.T) {
	c := newClient()
	c.group(t)
	ctx := t.Context()
	_, err := c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("/g")})
	var exists *types.ResourceAlreadyExistsException
	if !errors.As(err, &exists) {
		t.Errorf("second CreateLogGroup = %v, want ResourceAlreadyExistsException", err)
	}
	_, err = c.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s")})
	wantCode(t, err, "ResourceAlreadyExistsException")
	_, err = c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("no spaces")})
	wantCode(t, err, "InvalidParameterException")
	_, err = c.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("a:b")})
	wantCode(t, err, "InvalidParameterException")

	describe := func() types.LogGroup {
		out, err := c.DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: aws.String("/g")})
		noError(t, err)
		if len(out.LogGroups) != 1 {
			t.Fatalf("%d groups, want 1", len(out.LogGroups))
		}
		return out.LogGroups[0]
	}
	g := describe()
	if g.RetentionInDays != nil || *g.Arn != "arn:aws:logs:eu-central-1:123456789012:log-group:/g:*" {
		t.Errorf("group is %+v", g)
	}
	_, err = c.PutRetentionPolicy(ctx, &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: aws.String("/g"), RetentionInDays: aws.Int32(2)})
	wantCode(t, err, "InvalidParameterException")
	_, err = c.PutRetentionPolicy(ctx, &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: aws.String("/g"), RetentionInDays: aws.Int32(7)})
	noError(t, err)
	if d := describe().RetentionInDays; d == nil || *d != 7 {
		t.Errorf("retention is %v, want 7", d)
	}
	_, err = c.DeleteRetentionPolicy(ctx, &cloudwatchlogs.DeleteRetentionPolicyInput{LogGroupName: aws.String("/g")})
	noError(t, err)
	if d := describe().RetentionInDays; d != nil {
		t.Errorf("retention is %d after its policy was deleted", *d)
	}

	for _, arn := range []string{*g.LogGroupArn, *g.Arn} {
		_, err = c.TagResource(ctx, &cloudwatchlogs.TagResourceInput{ResourceArn: &arn, Tags: map[string]string{"b": "2"}})
		noError(t, err)
	}
	_, err = c.UntagResource(ctx, &cloudwatchlogs.UntagResourceInput{ResourceArn: g.LogGroupArn, TagKeys: []string{"a"}})
	noError(t, err)
	tags, err := c.ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: g.LogGroupArn})
	noError(t, err)
	if diff := cmp.Diff(map[string]string{"b": "2"}, tags.Tags); diff != "" {
		t.Errorf("tags:\n%s", diff)
	}

	_, err = c.DeleteLogGroup(ctx, &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: aws.String("/g")})
	noError(t, err)
	_, err = c.GetLogEvents(ctx, &cloudwatchlogs.GetLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("GetLogEvents of a deleted group = %v, want ResourceNotFoundException", err)
	}
}

// Regions and accounts see their own groups only.
func TestGroupsAreRegional(t *testing.T) {
	c := newClient()
	c.PutLog("us-east-1", world.DefaultAccount, "/g", "s", time.Now(), "elsewhere")
	c.PutLog("eu-central-1", "999999999999", "/g", "s", time.Now(), "of others")
	out, err := c.DescribeLogGroups(t.Context(), &cloudwatchlogs.DescribeLogGroupsInput{})
	noError(t, err)
	if len(out.LogGroups) != 0 {
		t.Errorf("%d groups, want none", len(out.LogGroups))
	}
}

func TestPutLogEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.group(t)
		now := time.Now()
		put := func(stream string, events ...types.InputLogEvent) error {
			_, err := c.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: &stream, LogEvents: events})
			return err
		}
		at := func(d time.Duration) types.InputLogEvent {
			return types.InputLogEvent{Message: aws.String(fmt.Sprint(d)), Timestamp: aws.Int64(now.Add(d).UnixMilli())}
		}
		wantCode(t, put("other", at(0)), "ResourceNotFoundException")
		wantCode(t, put("s", at(time.Second), at(0)), "InvalidParameterException")
		wantCode(t, put("s", at(-25*time.Hour), at(0)), "InvalidParameterException")
		wantCode(t, put("s", types.InputLogEvent{Message: aws.String(strings.Repeat("x", 1<<20)), Timestamp: aws.Int64(now.UnixMilli())}), "InvalidParameterException")
		wantCode(t, put("s", []types.InputLogEvent{}...), "InvalidParameterException")

		out, err := c.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s"),
			LogEvents: []types.InputLogEvent{at(-time.Minute), at(0), at(3 * time.Hour)}})
		noError(t, err)
		if r := out.RejectedLogEventsInfo; r == nil || r.TooNewLogEventStartIndex == nil || *r.TooNewLogEventStartIndex != 2 || r.TooOldLogEventEndIndex != nil {
			t.Errorf("rejected %+v, want those from 2 on as too new", r)
		}
		out, err = c.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s"),
			LogEvents: []types.InputLogEvent{at(-14*24*time.Hour - time.Minute), at(-14*24*time.Hour + time.Minute)}})
		noError(t, err)
		if r := out.RejectedLogEventsInfo; r == nil || r.TooOldLogEventEndIndex == nil || *r.TooOldLogEventEndIndex != 1 {
			t.Errorf("rejected %+v, want the first as too old", r)
		}
		if diff := cmp.Diff([]string{"-335h59m0s", "-1m0s", "0s"}, c.filter(t, cloudwatchlogs.FilterLogEventsInput{})); diff != "" {
			t.Errorf("events:\n%s", diff)
		}
	})
}

func TestRetentionForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.group(t)
		_, err := c.PutRetentionPolicy(t.Context(), &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: aws.String("/g"), RetentionInDays: aws.Int32(1)})
		noError(t, err)
		c.put(t, time.Now(), "old")
		time.Sleep(23 * time.Hour)
		c.put(t, time.Now(), "new")
		if got := c.filter(t, cloudwatchlogs.FilterLogEventsInput{}); len(got) != 2 {
			t.Errorf("after 23 hours: %v, want both", got)
		}
		time.Sleep(2 * time.Hour)
		if got := c.filter(t, cloudwatchlogs.FilterLogEventsInput{}); len(got) != 1 || got[0] != "new" {
			t.Errorf("after 25 hours: %v, want new", got)
		}
	})
}

func TestGetLogEventsPages(t *testing.T) {
	c := newClient()
	c.group(t)
	at := time.Now()
	c.put(t, at, "0", "1", "2", "3", "4")
	get := func(in cloudwatchlogs.GetLogEventsInput) (string, *cloudwatchlogs.GetLogEventsOutput) {
		in.LogGroupName, in.LogStreamName = aws.String("/g"), aws.String("s")
		out, err := c.GetLogEvents(t.Context(), &in)
		noError(t, err)
		s := ""
		for _, e := range out.Events {
			s += *e.Message
		}
		return s, out
	}
	check := func(step, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	s, _ := get(cloudwatchlogs.GetLogEventsInput{})
	check("all", s, "01234")
	s, out := get(cloudwatchlogs.GetLogEventsInput{Limit: aws.Int32(2)})
	check("the last two", s, "34")
	s, back := get(cloudwatchlogs.GetLogEventsInput{Limit: aws.Int32(2), NextToken: out.NextBackwardToken})
	check("before them", s, "12")
	s, _ = get(cloudwatchlogs.GetLogEventsInput{Limit: aws.Int32(2), NextToken: back.NextForwardToken})
	check("forward again", s, "34")
	s, out = get(cloudwatchlogs.GetLogEventsInput{Limit: aws.Int32(3), StartFromHead: aws.Bool(true)})
	check("from the head", s, "012")
	s, out = get(cloudwatchlogs.GetLogEventsInput{Limit: aws.Int32(3), NextToken: out.NextForwardToken})
	check("the rest", s, "34")
	s, end := get(cloudwatchlogs.GetLogEventsInput{NextToken: out.NextForwardToken})
	check("nothing more", s, "")
	check("token at the end", *end.NextForwardToken, *out.NextForwardToken)
	c.put(t, at.Add(time.Minute), "5")
	s, _ = get(cloudwatchlogs.GetLogEventsInput{NextToken: end.NextForwardToken})
	check("what came since", s, "5")
	s, _ = get(cloudwatchlogs.GetLogEventsInput{StartTime: aws.Int64(at.UnixMilli() + 1), EndTime: aws.Int64(at.UnixMilli() + 3)})
	check("end time is excluded", s, "12")
	_, err := c.GetLogEvents(t.Context(), &cloudwatchlogs.GetLogEventsInput{LogGroupName: aws.String("/g"), LogStreamName: aws.String("s"), NextToken: aws.String("x")})
	wantCode(t, err, "InvalidParameterException")
}

func TestDescribeLogStreams(t *testing.T) {
	c := newClient()
	at := time.Now()
	for i, name := range []string{"b", "a", "c"} {
		c.PutLog("eu-central-1", world.DefaultAccount, "/g", name, at.Add(-time.Duration(i)*time.Minute), "x")
	}
	list := func(in cloudwatchlogs.DescribeLogStreamsInput) string {
		in.LogGroupName = aws.String("/g")
		s := ""
		for p := cloudwatchlogs.NewDescribeLogStreamsPaginator(c.Client, &in); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			noError(t, err)
			for _, l := range out.LogStreams {
				s += *l.LogStreamName
			}
		}
		return s
	}
	for _, tt := range []struct {
		in   cloudwatchlogs.DescribeLogStreamsInput
		want string
	}{
		{cloudwatchlogs.DescribeLogStreamsInput{}, "abc"},
		{cloudwatchlogs.DescribeLogStreamsInput{Limit: aws.Int32(1)}, "abc"},
		{cloudwatchlogs.DescribeLogStreamsInput{LogStreamNamePrefix: aws.String("b")}, "b"},
		{cloudwatchlogs.DescribeLogStreamsInput{OrderBy: "LastEventTime"}, "cab"},
		{cloudwatchlogs.DescribeLogStreamsInput{OrderBy: "LastEventTime", Descending: aws.Bool(true)}, "bac"},
	} {
		if got := list(tt.in); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestFilterPatterns(t *testing.T) {
	c := newClient()
	c.group(t)
	c.put(t, time.Now(), "ERROR boom", "INFO fine", "ERROR 42 in takeover", `say "hi"`)
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{"", []string{"ERROR boom", "INFO fine", "ERROR 42 in takeover", `say "hi"`}},
		{"ERROR", []string{"ERROR boom", "ERROR 42 in takeover"}},
		{"error", nil},
		{"ERROR takeover", []string{"ERROR 42 in takeover"}},
		{"ERROR -boom", []string{"ERROR 42 in takeover"}},
		{`"42 in"`, []string{"ERROR 42 in takeover"}},
		{`"\"hi\""`, []string{`say "hi"`}},
		{"?boom ?fine", []string{"ERROR boom", "INFO fine"}},
		{"?boom INFO", []string{"INFO fine"}},
		{`%[0-9]+%`, []string{"ERROR 42 in takeover"}},
	} {
		if diff := cmp.Diff(tt.want, c.filter(t, cloudwatchlogs.FilterLogEventsInput{FilterPattern: &tt.pattern})); diff != "" {
			t.Errorf("%s:\n%s", tt.pattern, diff)
		}
	}
	for _, bad := range []string{`{ $.level = "x" }`, `"open`, `%(%`, `%open`, `-`} {
		_, err := c.FilterLogEvents(t.Context(), &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("/g"), FilterPattern: &bad})
		wantCode(t, err, "InvalidParameterException")
	}
}

// Whatever the order of arrival, a stream reads in the order of time, and
// paging loses and doubles nothing.
func TestEventsAreOrdered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newClient()
		at := time.Now()
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		for i := range n {
			c.PutLog("eu-central-1", world.DefaultAccount, "/g", rapid.SampledFrom([]string{"s", "t"}).Draw(rt, "stream"),
				at.Add(-time.Duration(rapid.IntRange(0, 5).Draw(rt, "age"))*time.Second), fmt.Sprint(i))
		}
		seen := map[string]bool{}
		var last int64
		in := &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("/g"), Limit: aws.Int32(int32(rapid.IntRange(1, 7).Draw(rt, "limit")))}
		for p := cloudwatchlogs.NewFilterLogEventsPaginator(c.Client, in); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			for _, e := range out.Events {
				if *e.Timestamp < last || seen[*e.Message] {
					rt.Fatalf("event %s at %d after %d, seen before: %t", *e.Message, *e.Timestamp, last, seen[*e.Message])
				}
				last, seen[*e.Message] = *e.Timestamp, true
			}
		}
		if len(seen) != n {
			rt.Fatalf("%d events, want %d", len(seen), n)
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, p := range []string{`a "b" -c ?d`, `%x%`, `"`, "- ", "?", `"\`} {
		f.Add(p)
	}
	c := newClient()
	c.PutLog("eu-central-1", world.DefaultAccount, "/g", "s", time.Now(), "message")
	f.Fuzz(func(t *testing.T, pattern string) {
		_, err := c.FilterLogEvents(t.Context(), &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("/g"), FilterPattern: &pattern})
		if err != nil {
			wantCode(t, err, "InvalidParameterException")
		}
	})
}
