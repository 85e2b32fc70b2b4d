package lambda

import (
	"regexp"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// The patterns of names.
// https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
var (
	functionName  = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,64}$`)
	qualifierName = regexp.MustCompile(`^(\$LATEST|[a-zA-Z0-9-_]{1,128})$`)
	aliasName     = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,128}$`)
	onlyDigits    = regexp.MustCompile(`^[0-9]+$`)
)

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterValueException", format, args...)
}

func notFound(arn string) *wire.Error {
	return wire.Errorf("ResourceNotFoundException", "Function not found: %s", arn)
}

func conflict(format string, args ...any) *wire.Error {
	return wire.Errorf("ResourceConflictException", format, args...)
}

func staleRevision() *wire.Error {
	return wire.Errorf("PreconditionFailedException", "The Revision Id provided does not match the latest Revision Id. Call the GetFunction/GetAlias API to retrieve the latest Revision Id")
}

// parseARN reads the ARN of a function, with or without a qualifier.
func parseARN(arn string) (key functionKey, qualifier string, ok bool) {
	p := strings.Split(arn, ":")
	if len(p) < 7 || len(p) > 8 || p[0] != "arn" || p[2] != "lambda" || p[5] != "function" {
		return functionKey{}, "", false
	}
	if len(p) == 8 {
		qualifier = p[7]
	}
	return functionKey{account: p[4], region: p[3], name: p[6]}, qualifier, true
}

// parseName reads a FunctionName: NAME, ACCOUNT:function:NAME or an ARN, each
// with or without a qualifier, which must not contradict the other one.
func parseName(r *wire.Request, name, qualifier *string) (functionKey, string, error) {
	key, inName := functionKey{account: r.Account, region: r.Region}, ""
	full := deref(name)
	if k, q, ok := parseARN(full); ok {
		key, inName = k, q
	} else {
		short := full
		if account, rest, ok := strings.Cut(full, ":function:"); ok {
			key.account, short = account, rest
		}
		key.name, inName, _ = strings.Cut(short, ":")
	}
	if !functionName.MatchString(key.name) {
		return functionKey{}, "", invalid("Value %q at 'functionName' failed to satisfy constraint: Member must satisfy regular expression pattern of a function name or ARN", full)
	}
	q := deref(qualifier)
	if q != "" && inName != "" && q != inName {
		return functionKey{}, "", invalid("The derived qualifier from the function name does not match the specified qualifier.")
	}
	if q == "" {
		q = inName
	}
	if q != "" && !qualifierName.MatchString(q) {
		return functionKey{}, "", invalid("Value %q at 'qualifier' failed to satisfy constraint: Member must satisfy regular expression pattern: (\\$LATEST|[a-zA-Z0-9-_]+)", q)
	}
	return key, q, nil
}

func (k functionKey) arn() string {
	return "arn:aws:lambda:" + k.region + ":" + k.account + ":function:" + k.name
}

// find returns the function and the version that a request names. The caller
// holds l.mu.
func (l *Lambda) find(r *wire.Request, name, qualifier *string) (*function, *version, string, error) {
	key, q, err := parseName(r, name, qualifier)
	if err != nil {
		return nil, nil, "", err
	}
	f, v, err := l.lookup(key, q)
	return f, v, q, err
}

func (l *Lambda) lookup(key functionKey, qualifier string) (*function, *version, error) {
	f := l.functions[key]
	if f == nil {
		return nil, nil, notFound(key.arn() + suffix(qualifier))
	}
	v := f.resolve(qualifier)
	if v == nil {
		return nil, nil, notFound(key.arn() + suffix(qualifier))
	}
	return f, v, nil
}

func suffix(qualifier string) string {
	if qualifier == "" {
		return ""
	}
	return ":" + qualifier
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
