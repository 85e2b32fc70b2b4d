package iam

import (
	"regexp"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
)

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
var dynamodbRules = map[string]rule{
	"CreateTable":                         on("table/{TableName}").and(tagging("dynamodb:TagResource", "table/{TableName}")),
	"DeleteTable":                         on("table/{TableName}"),
	"DescribeTable":                       on("table/{TableName}"),
	"UpdateTable":                         on("table/{TableName}").and(replicas),
	"ListTables":                          on(),
	"DescribeEndpoints":                   on(),
	"DescribeLimits":                      on(),
	"DescribeContinuousBackups":           on("table/{TableName}"),
	"UpdateContinuousBackups":             on("table/{TableName}"),
	"DescribeTimeToLive":                  on("table/{TableName}"),
	"UpdateTimeToLive":                    on("table/{TableName}"),
	"DescribeTableReplicaAutoScaling":     on("table/{TableName}"),
	"DescribeKinesisStreamingDestination": on("table/{TableName}"),
	"DescribeContributorInsights":         on("table/{TableName}"),
	"TagResource":                         on("{ResourceArn}"),
	"UntagResource":                       on("{ResourceArn}"),
	"ListTagsOfResource":                  on("{ResourceArn}"),
	"GetResourcePolicy":                   on("{ResourceArn}"),
	"PutResourcePolicy":                   on("{ResourceArn}"),
	"DeleteResourcePolicy":                on("{ResourceArn}"),

	"GetItem":            on("table/{TableName}").with(leadingKey("Key"), selection),
	"PutItem":            on("table/{TableName}").with(leadingKey("Item"), selection),
	"UpdateItem":         on("table/{TableName}").with(leadingKey("Key"), selection),
	"DeleteItem":         on("table/{TableName}").with(leadingKey("Key"), selection),
	"Query":              by(tableOrIndex("dynamodb:Query")).with(queriedKey, selection),
	"Scan":               by(tableOrIndex("dynamodb:Scan")).with(selection),
	"BatchGetItem":       on("table/{RequestItems}"),
	"BatchWriteItem":     on("table/{RequestItems}"),
	"TransactGetItems":   by(transaction),
	"TransactWriteItems": by(transaction),

	"ListStreams":      on(),
	"DescribeStream":   on("{StreamArn}"),
	"GetShardIterator": on("{StreamArn}"),
	"GetRecords":       by(records),
}

// records needs its action on the stream that the iterator leads to.
func records(c *call) []permission {
	stream := "*"
	if c.auth.Stream != nil {
		stream = c.auth.Stream(field(c.input, "ShardIterator"))
	}
	return want("dynamodb:GetRecords", stream)
}

func selection(c *call, p *permission) {
	p.keys.Set("dynamodb:ReturnValues", fields(c.input, "ReturnValues")...)
	p.keys.Set("dynamodb:ReturnConsumedCapacity", fields(c.input, "ReturnConsumedCapacity")...)
	p.keys.Set("dynamodb:Select", fields(c.input, "Select")...)
}

// replicas needs what adding and removing a replica of a global table needs.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables-security.html
func replicas(c *call) []permission {
	var out []permission
	for _, r := range fields(c.input, "ReplicaUpdates.Create.RegionName") {
		for _, arn := range c.fill("table/{TableName}") {
			out = append(out, want("dynamodb:CreateTableReplica", arn, inRegion(arn, r))...)
		}
	}
	for _, r := range fields(c.input, "ReplicaUpdates.Delete.RegionName") {
		for _, arn := range c.fill("table/{TableName}") {
			out = append(out, want("dynamodb:DeleteTableReplica", inRegion(arn, r))...)
		}
	}
	for range fields(c.input, "GlobalTableWitnessUpdates.Create.RegionName") {
		out = append(out, want("dynamodb:CreateGlobalTableWitness", c.fill("table/{TableName}")...)...)
	}
	for range fields(c.input, "GlobalTableWitnessUpdates.Delete.RegionName") {
		out = append(out, want("dynamodb:DeleteGlobalTableWitness", c.fill("table/{TableName}")...)...)
	}
	return out
}

func inRegion(arn, region string) string {
	parts := strings.SplitN(arn, ":", 5)
	parts[3] = region
	return strings.Join(parts, ":")
}

func tableOrIndex(action string) func(*call) []permission {
	return func(c *call) []permission {
		var out []permission
		for _, arn := range c.fill("table/{TableName}") {
			if index := field(c.input, "IndexName"); index != "" {
				arn += "/index/" + index
			}
			out = append(out, want(action, arn)...)
		}
		return out
	}
}

// transaction needs, for each of its parts, the action of the single operation.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
func transaction(c *call) []permission {
	var out []permission
	for _, part := range []string{"Get", "ConditionCheck", "Put", "Update", "Delete"} {
		for _, arn := range c.fill("table/{TransactItems." + part + ".TableName?}") {
			p := permission{action: "dynamodb:" + part + "Item", resource: arn, keys: policy.Context{}}
			p.keys.Set("dynamodb:EnclosingOperation", c.Operation)
			out = append(out, p)
		}
	}
	return out
}

// leadingKey adds the partition key of the item in a field of the input.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
func leadingKey(path string) keyFunc {
	return func(c *call, p *permission) {
		if pk := c.partitionKey(); pk != "" {
			p.keys.Set("dynamodb:LeadingKeys", fields(c.input, path+"."+pk+".Value")...)
		}
	}
}

func (c *call) partitionKey() string {
	if c.auth.PartitionKey == nil {
		return ""
	}
	table := field(c.input, "TableName")
	return c.auth.PartitionKey(c.Region, c.Account, table[strings.LastIndex(table, "/")+1:])
}

var equality = regexp.MustCompile(`([#\w]+)\s*=\s*(:\w+)`)

// queriedKey adds the partition key that a query asks for.
func queriedKey(c *call, p *permission) {
	pk := c.partitionKey()
	for _, m := range equality.FindAllStringSubmatch(field(c.input, "KeyConditionExpression"), -1) {
		name := m[1]
		if strings.HasPrefix(name, "#") {
			name = field(c.input, "ExpressionAttributeNames."+name)
		}
		if name == pk && pk != "" {
			p.keys.Set("dynamodb:LeadingKeys", fields(c.input, "ExpressionAttributeValues."+m[2]+".Value")...)
		}
	}
}
