// Package diagnose is the only place that words Terraform diagnostics. All of
// them have one form: what was tried on which object, the cause, and the next
// step.
package diagnose

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Problem is what a person needs to know about something that did not work.
type Problem struct {
	Tried  string // verb with -ing and the kind of object, such as "creating metric alarm"
	Object string // its name or ARN, "" if the kind says it all
	Cause  string // one or more sentences, without the final stop
	Next   string // what the reader does now, "" if there is nothing to do
}

// Summary is one line, such as "Creating metric alarm orders-a".
func (p Problem) Summary() string {
	s := p.Tried
	if s == "" {
		return p.Object
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if p.Object != "" {
		s += " " + p.Object
	}
	return s
}

// Detail is the cause and the next step.
func (p Problem) Detail() string {
	d := "Cause: " + stop(p.Cause)
	if p.Next != "" {
		d += "\nNext step: " + stop(p.Next)
	}
	return d
}

// Error makes it an error of the whole object.
func (p Problem) Error() diag.Diagnostic {
	return diag.NewErrorDiagnostic(p.Summary(), p.Detail())
}

// ErrorAt makes it an error of one attribute.
func (p Problem) ErrorAt(at path.Path) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, p.Summary(), p.Detail())
}

// Warning makes it a warning of the whole object.
func (p Problem) Warning() diag.Diagnostic {
	return diag.NewWarningDiagnostic(p.Summary(), p.Detail())
}

// WarningAt makes it a warning of one attribute.
func (p Problem) WarningAt(at path.Path) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(at, p.Summary(), p.Detail())
}

// Failed is a call that AWS, or the way to it, did not complete. The next step
// follows from the class of the error.
func Failed(tried, object string, err error) diag.Diagnostic {
	return Problem{Tried: tried, Object: object, Cause: cause(err), Next: nextStep(err)}.Error()
}

// FailedAt is Failed for an attribute that names the object of the call.
func FailedAt(at path.Path, tried, object string, err error) diag.Diagnostic {
	return Problem{Tried: tried, Object: object, Cause: cause(err), Next: nextStep(err)}.ErrorAt(at)
}

// Left is an object that could not be deleted though nothing uses it and no
// state names it.
func Left(kind, object string, err error) diag.Diagnostic {
	return Problem{
		Tried:  "deleting " + kind,
		Object: object,
		Cause:  stop(cause(err)) + fmt.Sprintf(" Nothing uses this %s, and no state names it", kind),
		Next:   "Delete it by hand: the next apply would find its name taken",
	}.Error()
}

// KeyNotRead is the warning of an import that could not learn who manages the
// KMS key of a table.
func KeyNotRead(arn string, err error) diag.Diagnostic {
	return Problem{
		Tried:  "importing state table: reading KMS key",
		Object: arn,
		Cause:  stop(cause(err)) + " Whether it is a customer managed key is not known, and kms_key_arn is taken for not set",
		Next:   "If it is one, set kms_key_arn to its ARN: the next apply records it and changes nothing",
	}.Warning()
}

// RoleMadeAnew is the warning of a function whose execution role was missing.
// The grant names the role that is gone:
// https://repost.aws/knowledge-center/lambda-kmsaccessdeniedexception-errors
func RoleMadeAnew(function, role string) diag.Diagnostic {
	return Problem{
		Tried:  "changing function",
		Object: function,
		Cause: fmt.Sprintf("Its execution role %s was missing, and is made anew. The grant by which the old one could decrypt the environment "+
			"may not count for the new one: then the function ends with KMSAccessDeniedException before it starts", role),
		Next: "See in the function's log that it runs. If it does not, make it anew with `terraform apply -replace`",
	}.Warning()
}

// Gone is the warning of a read that finds nothing: the object leaves the state.
func Gone(kind, object string) diag.Diagnostic {
	return Problem{
		Tried:  "reading " + kind,
		Object: object,
		Cause:  fmt.Sprintf("The %s does not exist any more; somebody deleted it outside of Terraform. It is removed from the state", kind),
		Next:   "Plan again: the next apply creates it anew. If that is not wanted, remove it from the configuration",
	}.Warning()
}

// Invalid is a value that cannot be accepted.
func Invalid(at path.Path, value, why, next string) diag.Diagnostic {
	return Problem{Tried: "checking", Object: at.String(), Cause: fmt.Sprintf("%q %s", value, why), Next: next}.ErrorAt(at)
}

// Unreadable is an import identifier of the wrong form.
func Unreadable(kind, id, form string) diag.Diagnostic {
	return Problem{
		Tried:  "importing " + kind,
		Object: id,
		Cause:  fmt.Sprintf("%q is not an identifier of a %s", id, kind),
		Next:   "Use the form " + form,
	}.Error()
}

// NotConfigured is a resource that was asked before the provider knew its AWS
// account: a defect that a user cannot cause.
func NotConfigured(got any) diag.Diagnostic {
	return Problem{
		Tried:  "configuring",
		Object: "a resource of hadr",
		Cause:  fmt.Sprintf("The provider handed over %T instead of its clients", got),
		Next:   "Report this as a defect of the provider, with the configuration",
	}.Error()
}

func stop(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "`") {
		return s
	}
	return s + "."
}
