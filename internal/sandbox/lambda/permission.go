package lambda

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxPolicy is the size of a resource policy in bytes.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxPolicy = 20 << 10

var (
	statementID = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,100}$`)
	action      = regexp.MustCompile(`^(lambda:[*]|lambda:[a-zA-Z]+|[*])$`)
	accountID   = regexp.MustCompile(`^[0-9]{12}$`)
)

// policy is the resource policy of a function, or of one version or alias.
type policy struct {
	revision   string
	statements []statement
}

// statement is one AddPermission, in the form in which GetPolicy shows it.
type statement struct {
	Sid       string
	Effect    string
	Principal any // "*", {"Service": ...} or {"AWS": ...}
	Action    string
	Resource  string
	Condition map[string]map[string]string `json:",omitempty"`
}

func (p *policy) String() string {
	b, err := json.Marshal(struct {
		Version   string
		Id        string
		Statement []statement
	}{"2012-10-17", "default", p.statements})
	if err != nil { // text always marshals
		return ""
	}
	return string(b)
}

// The condition keys of AddPermission, as Lambda writes them.
const (
	sourceARN     = "AWS:SourceArn"
	sourceAccount = "AWS:SourceAccount"
)

func newStatement(resource string, in *api.AddPermissionInput) (statement, error) {
	s := statement{Sid: deref(in.StatementId), Effect: "Allow", Action: deref(in.Action), Resource: resource, Condition: map[string]map[string]string{}}
	principal := deref(in.Principal)
	switch {
	case !statementID.MatchString(s.Sid):
		return s, invalid("Value %q at 'statementId' failed to satisfy constraint: Member must satisfy regular expression pattern: ([a-zA-Z0-9-_]+)", s.Sid)
	case !action.MatchString(s.Action):
		return s, invalid("Value %q at 'action' failed to satisfy constraint: Member must satisfy regular expression pattern: (lambda:[*]|lambda:[a-zA-Z]+|[*])", s.Action)
	case in.SourceAccount != nil && !accountID.MatchString(*in.SourceAccount):
		return s, invalid("Value %q at 'sourceAccount' failed to satisfy constraint: Member must satisfy regular expression pattern: \\d{12}", *in.SourceAccount)
	case in.SourceArn != nil && !strings.HasPrefix(*in.SourceArn, "arn:"):
		return s, invalid("Value %q at 'sourceArn' is not an ARN.", *in.SourceArn)
	}
	switch {
	case principal == "*":
		s.Principal = "*"
	case accountID.MatchString(principal):
		s.Principal = map[string]string{"AWS": "arn:aws:iam::" + principal + ":root"}
	case strings.HasPrefix(principal, "arn:"):
		s.Principal = map[string]string{"AWS": principal}
	case strings.HasSuffix(principal, ".amazonaws.com"):
		s.Principal = map[string]string{"Service": principal}
	default:
		return s, invalid("The provided principal was invalid. Please check the principal and try again.")
	}
	condition := func(operator, key string, value *string) {
		if value == nil {
			return
		}
		if s.Condition[operator] == nil {
			s.Condition[operator] = map[string]string{}
		}
		s.Condition[operator][key] = *value
	}
	condition("ArnLike", sourceARN, in.SourceArn)
	condition("StringEquals", sourceAccount, in.SourceAccount)
	condition("StringEquals", "aws:PrincipalOrgID", in.PrincipalOrgID)
	condition("StringEquals", "lambda:EventSourceToken", in.EventSourceToken)
	if in.FunctionUrlAuthType != "" {
		condition("StringEquals", "lambda:FunctionUrlAuthType", aws.String(string(in.FunctionUrlAuthType)))
	}
	if in.InvokedViaFunctionUrl != nil {
		condition("Bool", "lambda:InvokedViaFunctionUrl", aws.String(fmt.Sprint(*in.InvokedViaFunctionUrl)))
	}
	return s, nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html
func (l *Lambda) addPermission(r *wire.Request, in *api.AddPermissionInput) (*api.AddPermissionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	if qualifier == latest {
		return nil, invalid("We currently do not support adding policies for $LATEST.")
	}
	s, err := newStatement(f.qualifiedARN(qualifier), in)
	if err != nil {
		return nil, err
	}
	old := f.policies[qualifier]
	if old == nil {
		old = &policy{}
	}
	if in.RevisionId != nil && *in.RevisionId != old.revision {
		return nil, staleRevision()
	}
	if slices.ContainsFunc(old.statements, func(o statement) bool { return o.Sid == s.Sid }) {
		return nil, conflict("The statement id (%s) provided already exists. Please provide a new statement id, or remove the existing statement.", s.Sid)
	}
	p := &policy{revision: l.world.UUID(), statements: append(slices.Clone(old.statements), s)}
	if len(p.String()) > maxPolicy {
		return nil, wire.Errorf("PolicyLengthExceededException", "The final policy size (%d) is bigger than the limit (%d).", len(p.String()), maxPolicy)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("writing statement %s of %s: %w", s.Sid, f.arn, err)
	}
	f.policies[qualifier] = p
	return &api.AddPermissionOutput{Statement: aws.String(string(text))}, nil
}

func noPolicy() *wire.Error {
	return wire.Errorf("ResourceNotFoundException", "The resource you requested does not exist.")
}

func (l *Lambda) removePermission(r *wire.Request, in *api.RemovePermissionInput) (*api.RemovePermissionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	p := f.policies[qualifier]
	if p == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "No policy is associated with the given resource.")
	}
	if in.RevisionId != nil && *in.RevisionId != p.revision {
		return nil, staleRevision()
	}
	i := slices.IndexFunc(p.statements, func(s statement) bool { return s.Sid == deref(in.StatementId) })
	if i < 0 {
		return nil, wire.Errorf("ResourceNotFoundException", "Statement %s is not found in resource policy.", deref(in.StatementId))
	}
	if len(p.statements) == 1 {
		delete(f.policies, qualifier)
		return nil, nil
	}
	f.policies[qualifier] = &policy{revision: l.world.UUID(), statements: slices.Delete(slices.Clone(p.statements), i, i+1)}
	return nil, nil
}

func (l *Lambda) getPolicy(r *wire.Request, in *api.GetPolicyInput) (*api.GetPolicyOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	p := f.policies[qualifier]
	if p == nil {
		return nil, noPolicy()
	}
	return &api.GetPolicyOutput{Policy: aws.String(p.String()), RevisionId: aws.String(p.revision)}, nil
}

// Policy returns the resource policy of a function, version or alias, by its
// ARN, for authorization; "" if there is none.
func (l *Lambda) Policy(arn string) string {
	key, qualifier, ok := parseARN(arn)
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.functions[key]
	if !ok || f == nil || f.policies[qualifier] == nil {
		return ""
	}
	return f.policies[qualifier].String()
}

// allows reports whether a service may invoke the resource of p on behalf of a
// source. Conditions that a service does not meet, such as one on a function
// URL, refuse it.
// https://docs.aws.amazon.com/lambda/latest/dg/permissions-function-services.html
func (p *policy) allows(principal, source, account string) bool {
	if p == nil {
		return false
	}
	return slices.ContainsFunc(p.statements, func(s statement) bool {
		if s.Action != "lambda:InvokeFunction" && s.Action != "lambda:*" && s.Action != "*" {
			return false
		}
		if m, ok := s.Principal.(map[string]string); s.Principal != "*" && (!ok || m["Service"] != principal) {
			return false
		}
		for operator, keys := range s.Condition {
			for key, want := range keys {
				switch {
				case operator == "ArnLike" && key == sourceARN && arnLike(want, source):
				case operator == "StringEquals" && key == sourceAccount && want == account:
				default:
					return false
				}
			}
		}
		return true
	})
}

// arnLike matches each of the six parts of an ARN by itself, with * and ?.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
func arnLike(pattern, arn string) bool {
	p, a := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(p) != 6 || len(a) != 6 {
		return false
	}
	for i := range p {
		if !glob(p[i], a[i]) {
			return false
		}
	}
	return true
}

// glob is path.Match, with * for slashes too and no other special characters.
func glob(pattern, s string) bool {
	hide := strings.NewReplacer("/", "\x00", "[", "\\[", "\\", "\\\\")
	ok, err := path.Match(hide.Replace(pattern), strings.ReplaceAll(s, "/", "\x00"))
	return err == nil && ok
}
