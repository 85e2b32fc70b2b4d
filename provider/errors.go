package provider

import (
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
)

// hasCode reports whether AWS answered with one of the error codes.
func hasCode(err error, codes ...string) bool {
	return err != nil && slices.Contains(codes, awsclient.Code(err))
}

// notFound reports whether AWS says that an object does not exist.
func notFound(err error) bool { return err != nil && awsclient.IsNotFound(err) }
