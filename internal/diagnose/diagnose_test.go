package diagnose

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Every diagnostic has one form: what was tried on which object, the cause, and
// the next step.
func TestForm(t *testing.T) {
	started := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	at := path.Root("name")
	tests := map[string]struct {
		got             diag.Diagnostic
		summary, detail string
	}{
		"failed call": {
			Failed("creating metric alarm", "orders-a", &smithy.OperationError{ServiceID: "CloudWatch", OperationName: "PutMetricAlarm",
				Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "User is not authorized"}}),
			"Creating metric alarm orders-a",
			"Cause: CloudWatch PutMetricAlarm answered AccessDenied: User is not authorized.\n" +
				"Next step: Allow the action named above for the identity that runs Terraform (`aws sts get-caller-identity` shows it), then apply again.",
		},
		"no way to AWS": {
			Failed("reading group", "hadr/orders", fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")})),
			"Reading group hadr/orders",
			"Cause: dial: dial: connection refused.\n" +
				"Next step: AWS could not be reached: check region, endpoints and AWS_ENDPOINT_URL, and the network, then apply again.",
		},
		"running operation": {
			Busy("changing group", "hadr/orders", Operation{Group: "orders", ID: "01X", Kind: "takeover", Step: "promote", Started: started}, ""),
			"Changing group hadr/orders",
			"Cause: Operation 01X (takeover, step promote) of group orders runs since 2026-11-29T12:00:00Z.\n" +
				"Next step: Apply again when the operation has ended.",
		},
		"blocked operation": {
			Busy("deleting group", "hadr/orders", Operation{Group: "orders", ID: "01X", Kind: "takeover", Step: "fence", Started: started,
				Blocked: "the stop was rejected", Next: "Run `hadr resume`"}, "To force it, do this"),
			"Deleting group hadr/orders",
			"Cause: Operation 01X (takeover, step fence) of group orders runs since 2026-11-29T12:00:00Z and is blocked: the stop was rejected.\n" +
				"Next step: Run `hadr resume`. To force it, do this.",
		},
		"an object that is left over": {
			Left("execution role", "orders-takeover", &smithy.OperationError{ServiceID: "IAM", OperationName: "DeleteRole",
				Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "User is not authorized."}}),
			"Deleting execution role orders-takeover",
			"Cause: IAM DeleteRole answered AccessDenied: User is not authorized. Nothing uses this execution role, and no state names it.\n" +
				"Next step: Delete it by hand: the next apply would find its name taken.",
		},
		"invalid value": {
			Invalid(at, "Orders", "must be lower-case", "Write orders"),
			"Checking name", "Cause: \"Orders\" must be lower-case.\nNext step: Write orders.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.got.Summary() != tt.summary {
				t.Errorf("summary %q, want %q", tt.got.Summary(), tt.summary)
			}
			if tt.got.Detail() != tt.detail {
				t.Errorf("detail:\n%s\nwant:\n%s", tt.got.Detail(), tt.detail)
			}
		})
	}
}

func TestNextStepFollowsTheClassOfTheError(t *testing.T) {
	for code, want := range map[string]string{
		"ThrottlingException":       "throttles",
		"ExpiredToken":              "log in again",
		"InvalidClientTokenId":      "does not know these credentials",
		"LimitExceededException":    "quota",
		"EntityAlreadyExists":       "terraform import",
		"ResourceNotFoundException": "Check the name or id",
		"SomethingNew":              "Correct what AWS names above",
	} {
		if got := nextStep(&smithy.GenericAPIError{Code: code}); !strings.Contains(got, want) {
			t.Errorf("next step after %s is %q, want %q in it", code, got, want)
		}
	}
}

func TestSeverityAndPath(t *testing.T) {
	at := path.Root("nodes").AtMapKey("a").AtName("instance_id")
	for name, tt := range map[string]struct {
		got  diag.Diagnostic
		want diag.Severity
	}{
		"error":   {Unsafe(at, true, "s", "d"), diag.SeverityError},
		"warning": {Unsafe(at, false, "s", "d"), diag.SeverityWarning},
	} {
		if tt.got.Severity() != tt.want {
			t.Errorf("%s has severity %s", name, tt.got.Severity())
		}
		if p, ok := tt.got.(diag.DiagnosticWithPath); !ok || !p.Path().Equal(at) {
			t.Errorf("%s does not point at %s", name, at)
		}
	}
	if d := Gone("group", "hadr/orders"); d.Severity() != diag.SeverityWarning {
		t.Errorf("an object that is gone is %s, want a warning", d.Severity())
	}
}
