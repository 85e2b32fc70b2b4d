package iam

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awskeymanagementservice.html
var kmsRules = map[string]rule{
	"DescribeKey": on("{KeyId}"),
}
