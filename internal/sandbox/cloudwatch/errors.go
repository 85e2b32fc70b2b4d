package cloudwatch

import (
	"net/http"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CommonErrors.html

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationError", format, args...)
}

func invalidValue(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterValue", format, args...)
}

func invalidCombination(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterCombination", format, args...)
}

func missing(parameter string) *wire.Error {
	return wire.Errorf("MissingParameter", "The parameter %s is required.", parameter)
}

func noAlarm(name string) *wire.Error {
	return wire.Errorf("ResourceNotFound", "Unknown alarm %s", name).WithStatus(http.StatusNotFound)
}

func noResource(arn string) *wire.Error {
	return wire.Errorf("ResourceNotFoundException", "Unknown resource %s", arn).WithStatus(http.StatusNotFound)
}
