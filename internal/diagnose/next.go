package diagnose

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/aws/smithy-go"
)

// class is a kind of failure for which a person does the same thing.
type class struct {
	codes []string // of smithy.APIError
	next  string
}

// The codes are those of the AWS API references' "Common Errors" pages, such as
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
var classes = []class{
	{
		[]string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "AuthorizationErrorException"},
		"Allow the action named above for the identity that runs Terraform (`aws sts get-caller-identity` shows it), then apply again",
	},
	{
		[]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"},
		"The credentials have expired: log in again, then apply again",
	},
	{
		[]string{"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthFailure", "InvalidSignatureException"},
		"AWS does not know these credentials: check access_key, secret_key, token and profile of the provider, and the clock of this machine",
	},
	{
		[]string{"Throttling", "ThrottlingException", "ThrottledException", "RequestLimitExceeded", "TooManyRequestsException", "ProvisionedThroughputExceededException"},
		"AWS throttles the account: apply again in a minute, or raise max_retries of the provider",
	},
	{
		[]string{"LimitExceeded", "LimitExceededException", "LimitExceededFault", "CodeStorageExceededException", "RouteLimitExceeded"},
		"A quota of the account is used up: ask for more in Service Quotas, or delete what is not needed",
	},
	{
		[]string{"EntityAlreadyExists", "ResourceConflictException", "ResourceInUseException", "DocumentAlreadyExists", "ParameterAlreadyExists", "ResourceAlreadyExistsException", "RouteAlreadyExists"},
		"An object of this name exists already or is being changed: import it with `terraform import`, choose another name, or wait until the change has ended",
	},
	{
		[]string{"ResourceNotFoundException", "NoSuchEntity", "InvalidInstanceID.NotFound", "InvalidNetworkInterfaceID.NotFound", "InvalidRouteTableID.NotFound", "InvalidDocument"},
		"Check the name or id, and that region and account of the provider are the ones that hold the object",
	},
}

// cause is the error's own words.
func cause(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		op := ""
		if o, ok := errors.AsType[*smithy.OperationError](err); ok {
			op = fmt.Sprintf("%s %s answered ", o.Service(), o.Operation())
		}
		return fmt.Sprintf("%s%s: %s", op, api.ErrorCode(), api.ErrorMessage())
	}
	return err.Error()
}

// nextStep is what a person does about an error.
func nextStep(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		for _, c := range classes {
			if slices.Contains(c.codes, api.ErrorCode()) {
				return c.next
			}
		}
		return "Correct what AWS names above, then apply again"
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return "AWS could not be reached: check region, endpoints and AWS_ENDPOINT_URL, and the network, then apply again"
	}
	return "Apply again; if it persists, run with TF_LOG_PROVIDER=DEBUG and look at the last request"
}
