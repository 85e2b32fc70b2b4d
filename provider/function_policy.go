package provider

// functionScope is what a function may touch.
type functionScope struct {
	Partition, Region, Account string
	TableARN                   string
	LogGroupARN                string
	Instances                  []string // ids of the nodes' machines
	Checkers                   []string // ids of machines that try the data path only
	RouteTables                []string // ids
	Documents                  []string // names
	IsolationGroup             string   // id of the security group that cuts a node off, or ""
	Interfaces                 []string // ids of the nodes' network interfaces, for that
	FailureDestination         string   // ARN of a topic or queue, or ""
	Topics                     []string // ARNs of the topics that people hear of
	TableKey                   string   // ARN of the table's customer managed key, or ""
	VolumeKeys                 []string // ARNs of the customer managed keys of the nodes' volumes
}

func (s functionScope) ec2(kind string, ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, "arn:"+s.Partition+":ec2:"+s.Region+":"+s.Account+":"+kind+"/"+id)
	}
	return out
}

func (s functionScope) documents() []string {
	var out []string
	for _, name := range s.Documents {
		out = append(out, "arn:"+s.Partition+":ssm:"+s.Region+":"+s.Account+":document/"+name)
	}
	return out
}

// assumeByLambda is the trust policy of an execution role.
func assumeByLambda() policy {
	return document(statement{Effect: "Allow", Principal: map[string]string{"Service": "lambda.amazonaws.com"}, Action: []string{"sts:AssumeRole"}})
}

// takeoverPolicy allows a takeover of the named machines, routes and documents,
// and nothing else. SendCommand needs both the document and the machine, so
// that no other document, and above all no free shell, can be run:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
func takeoverPolicy(s functionScope) policy {
	return document(
		allow("Record", []string{s.TableARN},
			"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"),
		allow("Look", anyResource,
			"ec2:DescribeInstances", "ec2:DescribeInstanceStatus", "ec2:DescribeNetworkInterfaces", "ec2:DescribeRouteTables",
			// A composite alarm can be described with "*" only:
			// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
			"cloudwatch:DescribeAlarms"),
		// These have no resource type; commands are known by their ids alone.
		allow("Commands", anyResource, "ssm:CancelCommand", "ssm:GetCommandInvocation", "ssm:ListCommands"),
		allow("Fence", s.ec2("instance", s.Instances), "ec2:StartInstances", "ec2:StopInstances"),
		allow("Redirect", s.ec2("route-table", s.RouteTables), "ec2:ReplaceRoute"),
		allow("RunDocuments", s.documents(), "ssm:SendCommand"),
		allow("OnNodes", append(s.ec2("instance", s.Instances), s.ec2("instance", s.Checkers)...), "ssm:SendCommand"),
		allow("Log", []string{s.LogGroupARN + ":*"}, "logs:CreateLogStream", "logs:PutLogEvents"),
		s.isolate(),
		s.onFailure(),
		allow("Notify", s.Topics, "sns:Publish"),
		useTableKey(s.TableKey, s.TableARN),
		s.openVolumes(),
	)
}

// isolate allows to give the nodes' interfaces one security group, and no
// other: whoever brings a node back gives it its own ones again.
func (s functionScope) isolate() statement {
	if s.IsolationGroup == "" {
		return statement{}
	}
	return allow("Isolate", append(s.ec2("network-interface", s.Interfaces), s.ec2("security-group", []string{s.IsolationGroup})...),
		"ec2:ModifyNetworkInterfaceAttribute")
}

// watchPolicy allows what a resumed takeover needs, and the sweep of handled
// events, which reads the whole table.
func watchPolicy(s functionScope) policy {
	p := takeoverPolicy(s)
	p.Statement = append(p.Statement, allow("Sweep", []string{s.TableARN}, "dynamodb:DeleteItem", "dynamodb:Scan"))
	return p
}

// onFailure lets Lambda hand over events that it gave up:
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
func (s functionScope) onFailure() statement {
	if s.FailureDestination == "" {
		return statement{}
	}
	action := "sns:Publish"
	if serviceOf(s.FailureDestination) == "sqs" {
		action = "sqs:SendMessage"
	}
	return allow("OnFailure", []string{s.FailureDestination}, action)
}

// openVolumes lets EC2 use the keys of the volumes of a node that the function
// starts. Without it EC2 accepts the start, and the node goes back to stopped:
// https://repost.aws/knowledge-center/kms-iam-ec2-permission
func (s functionScope) openVolumes() statement {
	out := allow("Volumes", s.VolumeKeys, "kms:CreateGrant")
	out.Condition = viaService("ec2", s.Region)
	out.Condition["Bool"] = map[string][]string{"kms:GrantIsForAWSResource": {"true"}}
	return out
}
