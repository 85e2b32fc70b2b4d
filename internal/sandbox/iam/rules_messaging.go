package iam

import "strings"

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsns.html
var snsRules = map[string]rule{
	"CreateTopic":               on("arn:aws:sns:{region}:{account}:{Name}").and(tagging("sns:TagResource", "arn:aws:sns:{region}:{account}:{Name}")),
	"DeleteTopic":               on("{TopicArn}"),
	"GetTopicAttributes":        on("{TopicArn}"),
	"SetTopicAttributes":        on("{TopicArn}"),
	"ListTopics":                on(),
	"Publish":                   by(published),
	"PublishBatch":              as("Publish", "{TopicArn}"),
	"Subscribe":                 on("{TopicArn}").with(key("sns:Protocol", "Protocol"), key("sns:Endpoint", "Endpoint")),
	"ListSubscriptionsByTopic":  on("{TopicArn}"),
	"ListSubscriptions":         on(),
	"Unsubscribe":               by(subscribed("sns:Unsubscribe")),
	"GetSubscriptionAttributes": by(subscribed("sns:GetSubscriptionAttributes")),
	"SetSubscriptionAttributes": by(subscribed("sns:SetSubscriptionAttributes")),
	"TagResource":               on("{ResourceArn}"),
	"UntagResource":             on("{ResourceArn}"),
	"ListTagsForResource":       on("{ResourceArn}"),
}

func published(c *call) []permission {
	return want("sns:Publish", c.expand([]string{"{TopicArn?}", "{TargetArn?}"})...)
}

// subscribed asks for the topic, whose ARN begins that of the subscription.
func subscribed(action string) func(*call) []permission {
	return func(c *call) []permission {
		arn := field(c.input, "SubscriptionArn")
		if end := strings.LastIndex(arn, ":"); end > 0 {
			arn = arn[:end]
		}
		return want(action, arn)
	}
}

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsqs.html
var sqsRules = map[string]rule{
	"CreateQueue":                  by(named("sqs:CreateQueue")).and(taggingQueue),
	"GetQueueUrl":                  by(named("sqs:GetQueueUrl")),
	"ListQueues":                   on(),
	"DeleteQueue":                  by(queue("sqs:DeleteQueue")),
	"PurgeQueue":                   by(queue("sqs:PurgeQueue")),
	"GetQueueAttributes":           by(queue("sqs:GetQueueAttributes")),
	"SetQueueAttributes":           by(queue("sqs:SetQueueAttributes")),
	"SendMessage":                  by(queue("sqs:SendMessage")),
	"SendMessageBatch":             by(queue("sqs:SendMessage")), // batches have no actions of their own
	"ReceiveMessage":               by(queue("sqs:ReceiveMessage")),
	"DeleteMessage":                by(queue("sqs:DeleteMessage")),
	"DeleteMessageBatch":           by(queue("sqs:DeleteMessage")),
	"ChangeMessageVisibility":      by(queue("sqs:ChangeMessageVisibility")),
	"ChangeMessageVisibilityBatch": by(queue("sqs:ChangeMessageVisibility")),
	"ListDeadLetterSourceQueues":   by(queue("sqs:ListDeadLetterSourceQueues")),
	"TagQueue":                     by(queue("sqs:TagQueue")),
	"UntagQueue":                   by(queue("sqs:UntagQueue")),
	"ListQueueTags":                by(queue("sqs:ListQueueTags")),
}

// queue asks for the queue that a URL ending in ACCOUNT/NAME means.
func queue(action string) func(*call) []permission {
	return func(c *call) []permission {
		parts := strings.Split(field(c.input, "QueueUrl"), "/")
		name, account := parts[len(parts)-1], c.Account
		if len(parts) > 1 && parts[len(parts)-2] != "" {
			account = parts[len(parts)-2]
		}
		return want(action, "arn:aws:sqs:"+c.Region+":"+account+":"+name)
	}
}

func named(action string) func(*call) []permission {
	return func(c *call) []permission { return want(action, c.base()+field(c.input, "QueueName")) }
}

func taggingQueue(c *call) []permission {
	if len(pairs(c.input, "Tags")) == 0 {
		return nil
	}
	return named("sqs:TagQueue")(c)
}

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridgescheduler.html
var schedulerRules = map[string]rule{
	"CreateSchedule":      by(schedule("scheduler:CreateSchedule")).and(passing("Target.RoleArn", "scheduler.amazonaws.com")),
	"UpdateSchedule":      by(schedule("scheduler:UpdateSchedule")).and(passing("Target.RoleArn", "scheduler.amazonaws.com")),
	"GetSchedule":         by(schedule("scheduler:GetSchedule")),
	"DeleteSchedule":      by(schedule("scheduler:DeleteSchedule")),
	"ListSchedules":       on(),
	"CreateScheduleGroup": on("schedule-group/{Name}").and(tagging("scheduler:TagResource", "schedule-group/{Name}")),
	"GetScheduleGroup":    on("schedule-group/{Name}"),
	"DeleteScheduleGroup": on("schedule-group/{Name}"),
	"ListScheduleGroups":  on(),
	"TagResource":         on("{ResourceArn}"),
	"UntagResource":       on("{ResourceArn}"),
	"ListTagsForResource": on("{ResourceArn}"),
}

func schedule(action string) func(*call) []permission {
	return func(c *call) []permission {
		group := field(c.input, "GroupName")
		if group == "" {
			group = "default"
		}
		return want(action, c.base()+"schedule/"+group+"/"+field(c.input, "Name"))
	}
}
