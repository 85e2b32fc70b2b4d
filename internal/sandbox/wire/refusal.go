package wire

import "net/http"

// Denied words the refusal of a caller without permission as a service (signing
// name) does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
func Denied(service, text string) *Error {
	switch service {
	case "ec2": // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
		return Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. %s", text).WithStatus(http.StatusForbidden)
	case "sns": // https://docs.aws.amazon.com/sns/latest/api/API_Publish.html#API_Publish_Errors
		return Errorf("AuthorizationError", "%s", text).WithStatus(http.StatusForbidden)
	case "iam", "sts", "sqs", "monitoring":
		return Errorf("AccessDenied", "%s", text).WithStatus(http.StatusForbidden)
	case "lambda", "scheduler":
		return Errorf("AccessDeniedException", "%s", text).WithStatus(http.StatusForbidden)
	default:
		return Errorf("AccessDeniedException", "%s", text)
	}
}

// Throttled words the refusal of a caller that asks too often, as a service
// (signing name) does. Systems Manager, EventBridge and its scheduler, Logs and
// CloudWatch use the common code:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CommonErrors.html
func Throttled(service, operation string) *Error {
	switch service {
	case "ec2": // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
		return Errorf("RequestLimitExceeded", "Request limit exceeded.").WithStatus(http.StatusServiceUnavailable)
	case "lambda": // https://docs.aws.amazon.com/lambda/latest/api/API_GetFunction.html#API_GetFunction_Errors
		return Errorf("TooManyRequestsException", "Rate exceeded").WithStatus(http.StatusTooManyRequests)
	case "dynamodb": // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
		if controlsTables[operation] {
			return Errorf("ThrottlingException", "Rate of requests exceeds the allowed throughput.")
		}
		return Errorf("ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.")
	case "route53", "iam", "sts", "sns": // https://docs.aws.amazon.com/Route53/latest/APIReference/CommonErrors.html
		return Errorf("Throttling", "Rate exceeded")
	case "sqs": // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html#API_SendMessage_Errors
		return Errorf("RequestThrottled", "Rate exceeded")
	default:
		return Errorf("ThrottlingException", "Rate exceeded")
	}
}

// controlsTables are the operations of DynamoDB's control plane.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.API.html#HowItWorks.API.ControlPlane
var controlsTables = map[string]bool{
	"CreateTable": true, "DeleteTable": true, "DescribeTable": true, "ListTables": true, "UpdateTable": true,
	"DescribeTimeToLive": true, "UpdateTimeToLive": true, "DescribeContinuousBackups": true, "UpdateContinuousBackups": true,
	"ListTagsOfResource": true, "TagResource": true, "UntagResource": true,
}

// Failed words a failure on the side of a service (signing name).
func Failed(service string) *Error {
	code, text := "InternalFailure", "The request processing has failed because of an unknown error, exception or failure."
	switch service {
	case "ec2":
		code, text = "InternalError", "An internal error has occurred."
	case "dynamodb", "ssm":
		code, text = "InternalServerError", "Internal server error"
	case "monitoring":
		code, text = "InternalServiceError", "Request processing has failed due to some unknown error, exception, or failure."
	case "lambda":
		code, text = "ServiceException", "The service encountered an internal error."
	case "logs":
		code, text = "ServiceUnavailableException", "The service cannot complete the request."
	case "iam":
		code, text = "ServiceFailure", "The request processing has failed because of an unknown error, exception or failure."
	case "events":
		code, text = "InternalException", "This exception occurs due to unexpected causes."
	case "scheduler":
		code, text = "InternalServerException", "Unexpected error encountered while processing the request."
	}
	return Errorf(code, "%s", text).WithStatus(http.StatusInternalServerError)
}
