package iam

import "strings"

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html
var lambdaRules = map[string]rule{
	"CreateFunction": by(function("CreateFunction")).with(functionNetwork...).
		and(passing("Role", "lambda.amazonaws.com"), taggingFunction),
	"UpdateFunctionConfiguration": by(function("UpdateFunctionConfiguration")).with(functionNetwork...).
		and(passing("Role", "lambda.amazonaws.com")),
	"UpdateFunctionCode":              by(function("UpdateFunctionCode")),
	"DeleteFunction":                  by(function("DeleteFunction")),
	"GetFunction":                     by(function("GetFunction")),
	"GetFunctionConfiguration":        by(function("GetFunctionConfiguration")),
	"GetFunctionCodeSigningConfig":    by(function("GetFunctionCodeSigningConfig")),
	"GetRuntimeManagementConfig":      by(function("GetRuntimeManagementConfig")),
	"GetFunctionRecursionConfig":      by(function("GetFunctionRecursionConfig")),
	"ListFunctions":                   on(),
	"GetAccountSettings":              on(),
	"ListVersionsByFunction":          by(function("ListVersionsByFunction")),
	"PublishVersion":                  by(function("PublishVersion")),
	"CreateAlias":                     by(function("CreateAlias")),
	"UpdateAlias":                     by(function("UpdateAlias")),
	"GetAlias":                        by(function("GetAlias")),
	"DeleteAlias":                     by(function("DeleteAlias")),
	"ListAliases":                     by(function("ListAliases")),
	"Invoke":                          by(qualified("InvokeFunction")),
	"AddPermission":                   by(function("AddPermission")).with(key("lambda:Principal", "Principal"), key("lambda:FunctionUrlAuthType", "FunctionUrlAuthType")),
	"RemovePermission":                by(function("RemovePermission")),
	"GetPolicy":                       by(function("GetPolicy")),
	"PutFunctionEventInvokeConfig":    by(function("PutFunctionEventInvokeConfig")),
	"UpdateFunctionEventInvokeConfig": by(function("UpdateFunctionEventInvokeConfig")),
	"GetFunctionEventInvokeConfig":    by(function("GetFunctionEventInvokeConfig")),
	"DeleteFunctionEventInvokeConfig": by(function("DeleteFunctionEventInvokeConfig")),
	"ListFunctionEventInvokeConfigs":  by(function("ListFunctionEventInvokeConfigs")),
	"PutFunctionConcurrency":          by(function("PutFunctionConcurrency")),
	"GetFunctionConcurrency":          by(function("GetFunctionConcurrency")),
	"DeleteFunctionConcurrency":       by(function("DeleteFunctionConcurrency")),
	"CreateFunctionUrlConfig":         by(function("CreateFunctionUrlConfig")).with(key("lambda:FunctionUrlAuthType", "AuthType")),
	"UpdateFunctionUrlConfig":         by(function("UpdateFunctionUrlConfig")).with(key("lambda:FunctionUrlAuthType", "AuthType")),
	"GetFunctionUrlConfig":            by(function("GetFunctionUrlConfig")),
	"DeleteFunctionUrlConfig":         by(function("DeleteFunctionUrlConfig")),
	"ListFunctionUrlConfigs":          by(function("ListFunctionUrlConfigs")),
	"TagResource":                     on("{Resource}"),
	"UntagResource":                   on("{Resource}"),
	"ListTags":                        on("{Resource}"),
}

var functionNetwork = []keyFunc{
	key("lambda:SubnetIds", "VpcConfig.SubnetIds"), key("lambda:SecurityGroupIds", "VpcConfig.SecurityGroupIds"), key("lambda:Layer", "Layers"),
}

// function needs an action on the function itself, whatever its qualifier.
func function(action string) func(*call) []permission {
	return func(c *call) []permission {
		arn, _ := c.function()
		return want("lambda:"+action, arn)
	}
}

// qualified needs an action on the version or alias that is named.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
func qualified(action string) func(*call) []permission {
	return func(c *call) []permission {
		arn, qualifier := c.function()
		if qualifier != "" {
			arn += ":" + qualifier
		}
		return want("lambda:"+action, arn)
	}
}

// function reads the forms in which a function can be named: NAME, ACCOUNT:
// function:NAME, and its ARN, each with a qualifier or without.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func (c *call) function() (arn, qualifier string) {
	name := field(c.input, "FunctionName")
	base := c.base()
	if _, rest, found := strings.Cut(name, ":function:"); found {
		if strings.HasPrefix(name, "arn:") {
			base = strings.TrimSuffix(name, "function:"+rest)
		}
		name = rest
	}
	name = strings.TrimPrefix(name, "function:")
	name, qualifier, _ = strings.Cut(name, ":")
	if q := field(c.input, "Qualifier"); q != "" {
		qualifier = q
	}
	return base + "function:" + name, qualifier
}

func taggingFunction(c *call) []permission {
	if len(pairs(c.input, "Tags")) == 0 {
		return nil
	}
	return function("TagResource")(c)
}
