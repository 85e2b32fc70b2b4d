package sqs

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// queue is one queue. Its attributes are kept as the texts that the API shows.
type queue struct {
	arn, name, region, account string
	created, modified          time.Time
	attributes                 map[string]string
	tags                       map[string]string
	messages                   []*message // oldest first
	dedup                      map[string]time.Time
}

// settable are the attributes of a queue with their bounds and defaults; the
// texts of the others are kept as they are.
//
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
var settable = map[string]struct {
	min, max int
	def      string
}{
	"DelaySeconds":                  {0, 900, "0"},
	"MaximumMessageSize":            {1024, 1048576, "1048576"},
	"MessageRetentionPeriod":        {60, 1209600, "345600"},
	"ReceiveMessageWaitTimeSeconds": {0, 20, "0"},
	"VisibilityTimeout":             {0, 43200, "30"},
	"KmsDataKeyReusePeriodSeconds":  {60, 86400, ""},
}

var texts = []string{"Policy", "RedrivePolicy", "RedriveAllowPolicy", "FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit", "KmsMasterKeyId", "SqsManagedSseEnabled"}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func (q *queue) seconds(attribute string) time.Duration {
	n, _ := strconv.Atoi(q.attributes[attribute]) // checked when it was set
	return time.Duration(n) * time.Second
}

func (q *queue) fifo() bool { return q.attributes["FifoQueue"] == "true" }

// redrive is where messages go that were received too often.
type redrive struct {
	Target string      `json:"deadLetterTargetArn"`
	Max    json.Number `json:"maxReceiveCount"` // a number or its text
}

func (q *queue) redrive() (target string, max int) {
	var r redrive
	if json.Unmarshal([]byte(q.attributes["RedrivePolicy"]), &r) != nil {
		return "", 0
	}
	n, _ := strconv.Atoi(r.Max.String())
	return r.Target, n
}

// checkAttributes refuses what SQS refuses.
func checkAttributes(attributes map[string]string) error {
	for name, value := range attributes {
		bounds, numeric := settable[name]
		switch {
		case numeric:
			n, err := strconv.Atoi(value)
			if err != nil || n < bounds.min || n > bounds.max {
				return wire.Errorf("InvalidAttributeValue", "Invalid value for the parameter %s. Reason: Must be between %d and %d, if provided.", name, bounds.min, bounds.max)
			}
		case !slices.Contains(texts, name):
			return wire.Errorf("InvalidAttributeName", "Unknown Attribute %s.", name)
		case value == "":
		case name == "RedrivePolicy":
			if err := checkRedrive(value); err != nil {
				return err
			}
		case name == "Policy":
			if _, err := policy.Parse(policy.Resource, value); err != nil {
				return wire.Errorf("InvalidAttributeValue", "Invalid value for the parameter Policy. %v", err)
			}
		}
	}
	return nil
}

func checkRedrive(value string) error {
	var r redrive
	if err := json.Unmarshal([]byte(value), &r); err != nil || r.Target == "" {
		return wire.Errorf("InvalidAttributeValue", "Value %s for parameter RedrivePolicy is invalid. Reason: Redrive policy does not contain mandatory attribute: deadLetterTargetArn.", value)
	}
	if n, err := strconv.Atoi(r.Max.String()); err != nil || n < 1 || n > 1000 {
		return wire.Errorf("InvalidAttributeValue", "Value %s for parameter RedrivePolicy is invalid. Reason: Invalid value for maxReceiveCount: must be between 1 and 1000.", value)
	}
	return nil
}

func (s *SQS) createQueue(r *wire.Request, in *api.CreateQueueInput) (*api.CreateQueueOutput, error) {
	name := aws.ToString(in.QueueName)
	base, isFifo := strings.CutSuffix(name, ".fifo")
	if !queueName.MatchString(base) || isFifo != (in.Attributes["FifoQueue"] == "true") {
		return nil, wire.Errorf("InvalidParameterValue", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length; the name of a FIFO queue ends in .fifo")
	}
	if err := checkAttributes(in.Attributes); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := arnOf(r.Region, r.Account, name)
	if q := s.queues[arn]; q != nil { // the same again is no error
		for k, v := range in.Attributes {
			if q.attributes[k] != v {
				return nil, wire.Errorf("QueueNameExists", "A queue already exists with the same name and a different value for attribute %s", k)
			}
		}
		return &api.CreateQueueOutput{QueueUrl: aws.String(s.url(q))}, nil
	}
	now := s.w.Clock.Now()
	q := &queue{arn: arn, name: name, region: r.Region, account: r.Account, created: now, modified: now,
		attributes: map[string]string{}, tags: map[string]string{}, dedup: map[string]time.Time{}}
	for k, v := range settable {
		if v.def != "" {
			q.attributes[k] = v.def
		}
	}
	maps.Copy(q.attributes, in.Attributes)
	maps.Copy(q.tags, in.Tags)
	s.queues[arn] = q
	return &api.CreateQueueOutput{QueueUrl: aws.String(s.url(q))}, nil
}

func (s *SQS) getQueueURL(r *wire.Request, in *api.GetQueueUrlInput) (*api.GetQueueUrlOutput, error) {
	account := r.Account
	if in.QueueOwnerAWSAccountId != nil {
		account = *in.QueueOwnerAWSAccountId
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[arnOf(r.Region, account, aws.ToString(in.QueueName))]
	if q == nil {
		return nil, missing(aws.ToString(in.QueueName))
	}
	return &api.GetQueueUrlOutput{QueueUrl: aws.String(s.url(q))}, nil
}

func (s *SQS) listQueues(r *wire.Request, in *api.ListQueuesInput) (*api.ListQueuesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &api.ListQueuesOutput{}
	for _, q := range s.queues {
		if q.region == r.Region && q.account == r.Account && strings.HasPrefix(q.name, aws.ToString(in.QueueNamePrefix)) {
			out.QueueUrls = append(out.QueueUrls, s.url(q))
		}
	}
	sort.Strings(out.QueueUrls)
	return out, nil
}

func (s *SQS) deleteQueue(r *wire.Request, in *api.DeleteQueueInput) (*api.DeleteQueueOutput, error) {
	return &api.DeleteQueueOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		delete(s.queues, q.arn)
		s.wake()
		return nil
	})
}

func (s *SQS) purgeQueue(r *wire.Request, in *api.PurgeQueueInput) (*api.PurgeQueueOutput, error) {
	return &api.PurgeQueueOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		q.messages = nil
		return nil
	})
}

func (s *SQS) getQueueAttributes(r *wire.Request, in *api.GetQueueAttributesInput) (*api.GetQueueAttributesOutput, error) {
	out := &api.GetQueueAttributesOutput{Attributes: map[string]string{}}
	return out, s.change(r, in.QueueUrl, func(q *queue) error {
		s.expire(q)
		visible, hidden, delayed := q.count(s.w.Clock.Now())
		all := maps.Clone(q.attributes)
		all["QueueArn"] = q.arn
		all["CreatedTimestamp"] = strconv.FormatInt(q.created.Unix(), 10)
		all["LastModifiedTimestamp"] = strconv.FormatInt(q.modified.Unix(), 10)
		all["ApproximateNumberOfMessages"] = strconv.Itoa(visible)
		all["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(hidden)
		all["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(delayed)
		for _, name := range in.AttributeNames {
			if name == types.QueueAttributeNameAll {
				maps.Copy(out.Attributes, all)
			} else if v, ok := all[string(name)]; ok {
				out.Attributes[string(name)] = v
			}
		}
		maps.DeleteFunc(out.Attributes, func(_, v string) bool { return v == "" }) // unset
		return nil
	})
}

func (s *SQS) setQueueAttributes(r *wire.Request, in *api.SetQueueAttributesInput) (*api.SetQueueAttributesOutput, error) {
	if err := checkAttributes(in.Attributes); err != nil {
		return nil, err
	}
	return &api.SetQueueAttributesOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		if v, ok := in.Attributes["FifoQueue"]; ok && v != q.attributes["FifoQueue"] {
			return wire.Errorf("InvalidAttributeName", "You cannot change the type of an existing queue.")
		}
		maps.Copy(q.attributes, in.Attributes)
		q.modified = s.w.Clock.Now()
		return nil
	})
}

func (s *SQS) tagQueue(r *wire.Request, in *api.TagQueueInput) (*api.TagQueueOutput, error) {
	return &api.TagQueueOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		maps.Copy(q.tags, in.Tags)
		return nil
	})
}

func (s *SQS) untagQueue(r *wire.Request, in *api.UntagQueueInput) (*api.UntagQueueOutput, error) {
	return &api.UntagQueueOutput{}, s.change(r, in.QueueUrl, func(q *queue) error {
		for _, k := range in.TagKeys {
			delete(q.tags, k)
		}
		return nil
	})
}

func (s *SQS) listQueueTags(r *wire.Request, in *api.ListQueueTagsInput) (*api.ListQueueTagsOutput, error) {
	out := &api.ListQueueTagsOutput{}
	return out, s.change(r, in.QueueUrl, func(q *queue) error {
		out.Tags = maps.Clone(q.tags)
		return nil
	})
}

// change calls f with the queue of a URL under the lock.
func (s *SQS) change(r *wire.Request, url *string, f func(*queue) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.byURL(r, url)
	if err != nil {
		return err
	}
	return f(q)
}
