package awsclient

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Code returns the error code of AWS's answer, "" if err is none.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// IsNotFound reports whether AWS says that the object does not exist.
//
// EC2 names every kind of object, as in "InvalidInstanceID.NotFound"
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
func IsNotFound(err error) bool {
	c := Code(err)
	switch c {
	case "InvalidDocument", "InvalidDocumentVersion", "NoSuchEntity", "NotFoundException", "NonExistentQueue", "ParameterNotFound":
		return true
	}
	return strings.HasSuffix(c, ".NotFound") || strings.HasSuffix(c, "NotFoundException") || strings.HasSuffix(c, "NotFoundFault") ||
		c == "ResourceNotFound" || c == "NotFound"
}

// IsAccessDenied reports whether the caller lacks a permission.
func IsAccessDenied(err error) bool {
	switch Code(err) {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Client.UnauthorizedOperation", "AuthorizationError":
		return true
	}
	return false
}

var throttles = []string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
	"RequestLimitExceeded", "TooManyRequestsException", "ProvisionedThroughputExceededException", "SlowDown",
	"RateExceeded", "EC2ThrottledException", "LimitExceededException",
}

// IsThrottle reports whether AWS refused the call for now.
func IsThrottle(err error) bool { return slices.Contains(throttles, Code(err)) }

// IsConditionFailed reports whether a DynamoDB condition did not hold.
func IsConditionFailed(err error) bool { return Code(err) == "ConditionalCheckFailedException" }

// Outcome says what is known about a change that was asked for once: OK,
// Failed if it certainly had no effect, Unknown otherwise (R23).
//
// It is right only for calls that the SDK does not repeat: behind a repeated
// call stands an earlier attempt that may have worked.
func Outcome(err error) failover.Outcome {
	if err == nil {
		return failover.OK
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		if api.ErrorFault() == smithy.FaultServer || strings.Contains(api.ErrorCode(), "Timeout") || status(err) >= 500 {
			return failover.Unknown
		}
		return failover.Failed
	}
	if neverSent(err) {
		return failover.Failed
	}
	return failover.Unknown
}

func status(err error) int {
	var resp interface{ HTTPStatusCode() int }
	if errors.As(err, &resp) {
		return resp.HTTPStatusCode()
	}
	return 0
}

// neverSent recognises calls that ended before a byte reached AWS.
func neverSent(err error) bool {
	var invalid smithy.InvalidParamsError
	var serialize *smithy.SerializationError
	if errors.As(err, &invalid) || errors.As(err, &serialize) {
		return true
	}
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}
