package iam

import (
	"errors"
	"regexp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html

func noSuchEntity(format string, args ...any) *wire.Error {
	return wire.Errorf("NoSuchEntity", format, args...).WithStatus(404)
}

func alreadyExists(format string, args ...any) *wire.Error {
	return wire.Errorf("EntityAlreadyExists", format, args...).WithStatus(409)
}

func deleteConflict(format string, args ...any) *wire.Error {
	return wire.Errorf("DeleteConflict", format, args...).WithStatus(409)
}

func limitExceeded(format string, args ...any) *wire.Error {
	return wire.Errorf("LimitExceeded", format, args...).WithStatus(409)
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationError", format, args...)
}

// stored is a policy document as a caller gave it, and what it means.
type stored struct {
	text string
	doc  *policy.Document
}

// parse checks a document before it is stored. max is the quota for its size
// in characters without white space, 0 for none.
func parse(kind policy.Kind, text, quota string, max int) (stored, error) {
	doc, err := policy.Parse(kind, text)
	var m *policy.Malformed
	if errors.As(err, &m) {
		return stored{}, wire.Errorf("MalformedPolicyDocument", "%s", m.Reason)
	}
	if max > 0 && size(text) > max {
		return stored{}, limitExceeded("Cannot exceed quota for %s: %d", quota, max)
	}
	return stored{text, doc}, nil
}

// size counts as IAM does: white space is free.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func size(text string) int { return len(whiteSpace.ReplaceAllString(text, "")) }

var (
	whiteSpace  = regexp.MustCompile(`\s+`)
	namePattern = regexp.MustCompile(`^[\w+=,.@-]+$`)
	pathPattern = regexp.MustCompile(`^/([\x21-\x7E]+/)?$`)
)

// validName checks the name of an entity; field is its name in the API.
func validName(field, name string, max int) error {
	if name == "" || len(name) > max {
		return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must have length between 1 and %d", name, field, max)
	}
	if !namePattern.MatchString(name) {
		return invalid("The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-", field)
	}
	return nil
}

// validPath returns the path of a new entity, "/" by default.
func validPath(path *string) (string, error) {
	if path == nil {
		return "/", nil
	}
	if len(*path) > 512 || !pathPattern.MatchString(*path) {
		return "", invalid("The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	}
	return *path, nil
}

func invalidInput(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidInput", format, args...)
}
