package lambda

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// The limits of a function.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
// https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
const (
	maxTimeout     = 900       // seconds
	minMemory      = 128       // MB
	maxMemory      = 10240     // MB
	minStorage     = 512       // MB
	maxStorage     = 10240     // MB
	maxEnvironment = 4 << 10   // bytes
	maxZip         = 50 << 20  // bytes, zipped
	maxUnzipped    = 250 << 20 // bytes
	maxDescription = 256
	maxHandler     = 128
)

var (
	roleARN     = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:iam::[0-9]{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$`)
	variable    = regexp.MustCompile(`^[a-zA-Z]([a-zA-Z0-9_])+$`)
	handlerName = regexp.MustCompile(`^\S+$`)
	targetARN   = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:(sqs|sns):[a-z0-9-]+:[0-9]{12}:\S+$`)
)

// reservedVariables cannot be set by a function's configuration.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE",
	"AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY",
	"AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR", "LAMBDA_TASK_ROOT",
}

// runtimes are those that the sandbox can run: a bootstrap of its own.
var runtimes = []types.Runtime{types.RuntimeProvidedal2023, types.RuntimeProvidedal2}

// validate checks a configuration that was made or changed.
func validate(c *types.FunctionConfiguration) error {
	switch {
	case c.PackageType != types.PackageTypeZip:
		return invalid("The sandbox runs zip archives, not the package type %s.", c.PackageType)
	case c.Runtime == "":
		return invalid("Runtime and Handler are mandatory parameters for functions created with deployment packages.")
	case !slices.Contains(c.Runtime.Values(), c.Runtime):
		return invalid("Value %s at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: %v", c.Runtime, c.Runtime.Values())
	case !slices.Contains(runtimes, c.Runtime):
		return invalid("The sandbox runs functions of %v, not of %s.", runtimes, c.Runtime)
	case deref(c.Handler) == "" || !handlerName.MatchString(*c.Handler) || len(*c.Handler) > maxHandler:
		return invalid("Value %q at 'handler' failed to satisfy constraint: Member must satisfy regular expression pattern: [^\\s]+ and have length less than or equal to %d", deref(c.Handler), maxHandler)
	case !roleARN.MatchString(deref(c.Role)):
		return invalid("Value %q at 'role' failed to satisfy constraint: Member must satisfy regular expression pattern of a role ARN", deref(c.Role))
	case *c.Timeout < 1 || *c.Timeout > maxTimeout:
		return invalid("Value '%d' at 'timeout' failed to satisfy constraint: Member must have value between 1 and %d", *c.Timeout, maxTimeout)
	case *c.MemorySize < minMemory || *c.MemorySize > maxMemory:
		return invalid("'MemorySize' value failed to satisfy constraint: Member must have value between %d and %d", minMemory, maxMemory)
	case *c.EphemeralStorage.Size < minStorage || *c.EphemeralStorage.Size > maxStorage:
		return invalid("Value '%d' at 'ephemeralStorage.size' failed to satisfy constraint: Member must have value between %d and %d", *c.EphemeralStorage.Size, minStorage, maxStorage)
	case len(deref(c.Description)) > maxDescription:
		return invalid("Value at 'description' failed to satisfy constraint: Member must have length less than or equal to %d", maxDescription)
	case len(c.Architectures) != 1 || !slices.Contains(c.Architectures[0].Values(), c.Architectures[0]):
		return invalid("Value %v at 'architectures' failed to satisfy constraint: Member must be one of [x86_64] and [arm64]", c.Architectures)
	case c.DeadLetterConfig != nil && deref(c.DeadLetterConfig.TargetArn) != "" && !targetARN.MatchString(*c.DeadLetterConfig.TargetArn):
		return invalid("The target %q of the dead letter queue is neither an SNS topic nor an SQS queue.", *c.DeadLetterConfig.TargetArn)
	}
	return validateEnvironment(c.Environment)
}

func validateEnvironment(e *types.EnvironmentResponse) error {
	if e == nil {
		return nil
	}
	var reserved []string
	size := 0
	for _, k := range slices.Sorted(maps.Keys(e.Variables)) {
		size += len(k) + len(e.Variables[k])
		if slices.Contains(reservedVariables, k) {
			reserved = append(reserved, k)
			continue
		}
		if !variable.MatchString(k) {
			return invalid("Value %q at 'environment.variables' failed to satisfy constraint: Map keys must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+", k)
		}
	}
	if len(reserved) > 0 {
		return invalid("Lambda was unable to configure your environment variables because the environment variables you have provided contains reserved keys that are currently not supported for modification. Reserved keys used in this request: %s", strings.Join(reserved, ", "))
	}
	if size > maxEnvironment {
		return invalid("Lambda was unable to configure your environment variables because the environment variables you have provided exceeded the 4KB limit. They have %d bytes.", size)
	}
	return nil
}
