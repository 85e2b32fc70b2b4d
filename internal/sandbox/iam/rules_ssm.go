package iam

import (
	"regexp"
	"strings"
)

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
var ssmRules = map[string]rule{
	"SendCommand": by(sendCommand),
	// These have no resource type: they cannot be limited to a command.
	"GetCommandInvocation":        on(),
	"ListCommands":                on(),
	"ListCommandInvocations":      on(),
	"CancelCommand":               on(),
	"DescribeInstanceInformation": on(),
	"GetConnectionStatus":         on("arn:aws:ec2:{region}:{account}:instance/{Target}"),

	"PutInventory":         on(),
	"ListInventoryEntries": on(),

	"CreateDocument":               by(document("ssm:CreateDocument")).and(tagging("ssm:AddTagsToResource", "document/{Name}")),
	"UpdateDocument":               by(document("ssm:UpdateDocument")),
	"UpdateDocumentDefaultVersion": by(document("ssm:UpdateDocumentDefaultVersion")),
	"DeleteDocument":               by(document("ssm:DeleteDocument")),
	"GetDocument":                  by(document("ssm:GetDocument")),
	"DescribeDocument":             by(document("ssm:DescribeDocument")),
	"DescribeDocumentPermission":   by(document("ssm:DescribeDocumentPermission")),
	"ModifyDocumentPermission":     by(document("ssm:ModifyDocumentPermission")),
	"ListDocumentVersions":         by(document("ssm:ListDocumentVersions")),
	"ListDocuments":                on(),

	"GetParameter":        by(parameter("ssm:GetParameter", "Name")),
	"GetParameterHistory": by(parameter("ssm:GetParameterHistory", "Name")),
	"PutParameter":        by(parameter("ssm:PutParameter", "Name")).with(key("ssm:Overwrite", "Overwrite")),
	"DeleteParameter":     by(parameter("ssm:DeleteParameter", "Name")),
	"GetParameters":       by(parameter("ssm:GetParameters", "Names")),
	"DeleteParameters":    by(parameter("ssm:DeleteParameters", "Names")),
	"GetParametersByPath": by(parameter("ssm:GetParametersByPath", "Path")).with(key("ssm:Recursive", "Recursive")),
	"DescribeParameters":  on(),

	"AddTagsToResource":      by(tagged("ssm:AddTagsToResource")),
	"RemoveTagsFromResource": by(tagged("ssm:RemoveTagsFromResource")),
	"ListTagsForResource":    by(tagged("ssm:ListTagsForResource")),
}

// sendCommand needs the permission on the document and on every instance.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/run-command-setting-up.html
func sendCommand(c *call) []permission {
	out := want("ssm:SendCommand", c.document(field(c.input, "DocumentName")))
	for _, id := range fields(c.input, "InstanceIds") {
		out = append(out, want("ssm:SendCommand", c.node(id))...)
	}
	if len(fields(c.input, "Targets.Key")) > 0 { // chosen by tags or a resource group: could be any
		out = append(out, want("ssm:SendCommand", c.node("*"))...)
	}
	return out
}

// node is the ARN of an instance, or of a machine outside EC2.
func (c *call) node(id string) string {
	if strings.HasPrefix(id, "mi-") {
		return c.base() + "managed-instance/" + id
	}
	return "arn:aws:ec2:" + c.Region + ":" + c.Account + ":instance/" + id
}

// ownedByAWS are names that no customer may give to a document.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html
var ownedByAWS = regexp.MustCompile(`^(?i:aws|amazon|amzn)`)

func (c *call) document(name string) string {
	switch {
	case strings.HasPrefix(name, "arn:"):
		return name
	case ownedByAWS.MatchString(name):
		return "arn:aws:ssm:" + c.Region + "::document/" + name
	default:
		return c.base() + "document/" + name
	}
}

func document(action string) func(*call) []permission {
	return func(c *call) []permission { return want(action, c.document(field(c.input, "Name"))) }
}

// parameter knows that a name may begin with a slash or not, and may carry a
// version or label.
func parameter(action, path string) func(*call) []permission {
	return func(c *call) []permission {
		var out []permission
		for _, name := range fields(c.input, path) {
			if !strings.HasPrefix(name, "arn:") {
				name, _, _ = strings.Cut(name, ":")
				name = c.base() + "parameter/" + strings.TrimPrefix(name, "/")
			}
			out = append(out, want(action, name)...)
		}
		return out
	}
}

func tagged(action string) func(*call) []permission {
	return func(c *call) []permission {
		id := field(c.input, "ResourceId")
		switch field(c.input, "ResourceType") {
		case "Document":
			return want(action, c.document(id))
		case "Parameter":
			return want(action, c.base()+"parameter/"+strings.TrimPrefix(id, "/"))
		case "ManagedInstance":
			return want(action, c.node(id))
		default:
			return want(action, c.base()+"*/"+id)
		}
	}
}
