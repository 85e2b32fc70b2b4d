package logs

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (l *Logs) createLogGroup(r *wire.Request, in *cloudwatchlogs.CreateLogGroupInput) (*cloudwatchlogs.CreateLogGroupOutput, error) {
	name := deref(in.LogGroupName)
	if err := checkGroupName(name); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := groupKey{r.Account, r.Region, name}
	if l.groups[key] != nil {
		return nil, wire.Errorf("ResourceAlreadyExistsException", "The specified log group already exists")
	}
	g := l.add(key)
	g.kmsKey = in.KmsKeyId
	if in.LogGroupClass != "" {
		g.class = string(in.LogGroupClass)
	}
	maps.Copy(g.tags, in.Tags)
	return nil, nil
}

func (l *Logs) deleteLogGroup(r *wire.Request, in *cloudwatchlogs.DeleteLogGroupInput) (*cloudwatchlogs.DeleteLogGroupOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, nil)
	if err != nil {
		return nil, err
	}
	delete(l.groups, groupKey{r.Account, r.Region, g.name})
	return nil, nil
}

// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_DescribeLogGroups.html
func (l *Logs) describeLogGroups(r *wire.Request, in *cloudwatchlogs.DescribeLogGroupsInput) (*cloudwatchlogs.DescribeLogGroupsOutput, error) {
	if in.LogGroupNamePattern != nil && in.LogGroupNamePrefix != nil {
		return nil, invalid("LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.")
	}
	limit, err := limitOf(in.Limit, 50, 50)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*group
	for k, g := range l.groups {
		if k.account == r.Account && k.region == r.Region && strings.HasPrefix(g.name, deref(in.LogGroupNamePrefix)) &&
			strings.Contains(g.name, deref(in.LogGroupNamePattern)) && (in.LogGroupClass == "" || g.class == string(in.LogGroupClass)) {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	part, next, err := page(all, in.NextToken, limit)
	if err != nil {
		return nil, err
	}
	out := &cloudwatchlogs.DescribeLogGroupsOutput{NextToken: next}
	for _, g := range part {
		out.LogGroups = append(out.LogGroups, types.LogGroup{
			Arn:               aws.String(g.arn + ":*"),
			LogGroupArn:       aws.String(g.arn),
			LogGroupName:      aws.String(g.name),
			LogGroupClass:     types.LogGroupClass(g.class),
			CreationTime:      aws.Int64(g.created),
			KmsKeyId:          g.kmsKey,
			MetricFilterCount: aws.Int32(0),
			RetentionInDays:   g.retention,
			StoredBytes:       aws.Int64(0),
		})
	}
	return out, nil
}

// retentionDays are the values that CloudWatch Logs takes.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var retentionDays = []int32{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

func (l *Logs) putRetentionPolicy(r *wire.Request, in *cloudwatchlogs.PutRetentionPolicyInput) (*cloudwatchlogs.PutRetentionPolicyOutput, error) {
	if in.RetentionInDays == nil || !slices.Contains(retentionDays, *in.RetentionInDays) {
		return nil, invalid("The specified retention period is not one of %v.", retentionDays)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, nil)
	if err != nil {
		return nil, err
	}
	g.retention = aws.Int32(*in.RetentionInDays)
	return nil, nil
}

func (l *Logs) deleteRetentionPolicy(r *wire.Request, in *cloudwatchlogs.DeleteRetentionPolicyInput) (*cloudwatchlogs.DeleteRetentionPolicyOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, in.LogGroupName, nil)
	if err != nil {
		return nil, err
	}
	g.retention = nil
	return nil, nil
}

func (l *Logs) tagResource(r *wire.Request, in *cloudwatchlogs.TagResourceInput) (*cloudwatchlogs.TagResourceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, nil, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	maps.Copy(g.tags, in.Tags)
	return nil, nil
}

func (l *Logs) untagResource(r *wire.Request, in *cloudwatchlogs.UntagResourceInput) (*cloudwatchlogs.UntagResourceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, nil, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	for _, k := range in.TagKeys {
		delete(g.tags, k)
	}
	return nil, nil
}

func (l *Logs) listTagsForResource(r *wire.Request, in *cloudwatchlogs.ListTagsForResourceInput) (*cloudwatchlogs.ListTagsForResourceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.find(r, nil, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return &cloudwatchlogs.ListTagsForResourceOutput{Tags: maps.Clone(g.tags)}, nil
}
