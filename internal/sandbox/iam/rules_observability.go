package iam

import "strings"

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
var cloudwatchRules = map[string]rule{
	"PutMetricData":       on().with(key("cloudwatch:namespace", "Namespace")),
	"GetMetricData":       on(),
	"GetMetricStatistics": on(),
	"ListMetrics":         on(),

	"PutMetricAlarm":          on("alarm:{AlarmName}").with(key("cloudwatch:AlarmActions", "AlarmActions")).and(tagging("cloudwatch:TagResource", "alarm:{AlarmName}")),
	"PutCompositeAlarm":       on("alarm:{AlarmName}").with(key("cloudwatch:AlarmActions", "AlarmActions")).and(tagging("cloudwatch:TagResource", "alarm:{AlarmName}")),
	"DeleteAlarms":            on("alarm:{AlarmNames}"),
	"DescribeAlarms":          on("alarm:{AlarmNames}"),
	"DescribeAlarmsForMetric": on(),
	"DescribeAlarmHistory":    on("alarm:{AlarmName}"),
	"SetAlarmState":           on("alarm:{AlarmName}"),
	"EnableAlarmActions":      on("alarm:{AlarmNames}"),
	"DisableAlarmActions":     on("alarm:{AlarmNames}"),

	"PutDashboard":     on("arn:aws:cloudwatch::{account}:dashboard/{DashboardName}"),
	"GetDashboard":     on("arn:aws:cloudwatch::{account}:dashboard/{DashboardName}"),
	"DeleteDashboards": on("arn:aws:cloudwatch::{account}:dashboard/{DashboardNames}"),
	"ListDashboards":   on(),

	"TagResource":         on("{ResourceARN}"),
	"UntagResource":       on("{ResourceARN}"),
	"ListTagsForResource": on("{ResourceARN}"),
}

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
var logsRules = map[string]rule{
	"CreateLogGroup":        by(logGroup("logs:CreateLogGroup")).and(taggingLogGroup),
	"DeleteLogGroup":        by(logGroup("logs:DeleteLogGroup")),
	"DescribeLogGroups":     on(),
	"DescribeLogStreams":    by(logGroup("logs:DescribeLogStreams")),
	"PutRetentionPolicy":    by(logGroup("logs:PutRetentionPolicy")),
	"DeleteRetentionPolicy": by(logGroup("logs:DeleteRetentionPolicy")),
	"FilterLogEvents":       by(logGroup("logs:FilterLogEvents")),
	"StartQuery":            by(logGroup("logs:StartQuery")),
	"CreateLogStream":       by(logStream("logs:CreateLogStream")),
	"DeleteLogStream":       by(logStream("logs:DeleteLogStream")),
	"PutLogEvents":          by(logStream("logs:PutLogEvents")),
	"GetLogEvents":          by(logStream("logs:GetLogEvents")),
	"TagResource":           on("{ResourceArn}"),
	"UntagResource":         on("{ResourceArn}"),
	"ListTagsForResource":   on("{ResourceArn}"),
	"ListTagsLogGroup":      by(logGroup("logs:ListTagsLogGroup")),
}

// logGroup asks for the group's ARN with a tail: CloudWatch Logs checks its
// actions, but for those on tags, on log-group:NAME:*.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
func logGroup(action string) func(*call) []permission {
	return func(c *call) []permission { return want(action, c.logGroup()+":log-stream:") }
}

func logStream(action string) func(*call) []permission {
	return func(c *call) []permission {
		return want(action, c.logGroup()+":log-stream:"+field(c.input, "LogStreamName"))
	}
}

// logGroup is the ARN of the group, without a tail.
func (c *call) logGroup() string {
	for _, path := range []string{"LogGroupIdentifier", "LogGroupName", "LogGroupIdentifiers", "LogGroupNames"} {
		if v := field(c.input, path); strings.HasPrefix(v, "arn:") {
			return strings.TrimSuffix(v, ":*")
		} else if v != "" {
			return c.base() + "log-group:" + v
		}
	}
	return c.base() + "log-group:*"
}

func taggingLogGroup(c *call) []permission {
	if len(pairs(c.input, "Tags")) == 0 {
		return nil
	}
	return want("logs:TagResource", c.logGroup())
}
