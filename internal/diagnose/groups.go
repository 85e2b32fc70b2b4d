package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// FailedOver is the warning of a plan while a group's primary is not the
// preferred one. Terraform leaves the target alone.
func FailedOver(group, preferred, active string, epoch uint64, since time.Time) diag.Diagnostic {
	when := ""
	if !since.IsZero() {
		when = " since " + since.UTC().Format(time.RFC3339)
	}
	return diag.NewWarningDiagnostic(
		fmt.Sprintf("Group is failed over: %s runs on node %s", group, active),
		fmt.Sprintf("Node %s is primary of group %s%s (epoch %d); the preferred node is %s. "+
			"The control plane owns the target, so this plan leaves it alone.\n"+
			"Next step: none is needed. To go back, let %s rejoin and switch over on purpose; a plan never moves a database.",
			active, group, when, epoch, preferred, preferred))
}

// Operation is a running change of primary that stands in the way.
type Operation struct {
	Group   string
	ID      string
	Kind    string
	Step    string
	Started time.Time
	Blocked string // why it does not go on, "" if it does
	Next    string // what a person does about that
}

// Busy refuses a change of something that a running operation uses (R13).
func Busy(tried, object string, op Operation, force string) diag.Diagnostic {
	cause := fmt.Sprintf("Operation %s (%s, step %s) of group %s runs since %s",
		op.ID, op.Kind, op.Step, op.Group, op.Started.UTC().Format(time.RFC3339))
	next := "Apply again when the operation has ended"
	if op.Blocked != "" {
		cause += " and is blocked: " + op.Blocked
		next = op.Next
	}
	if force != "" {
		next = strings.TrimSuffix(next, ".") + ". " + force
	}
	return Problem{Tried: tried, Object: object, Cause: cause, Next: next}.Error()
}

// GroupTaken is a second declaration of a group's name in one table.
func GroupTaken(at path.Path, group, table, other string) diag.Diagnostic {
	return Problem{
		Tried:  "creating group",
		Object: group,
		Cause:  fmt.Sprintf("Table %s already holds a group %q: %s", table, group, other),
		Next:   fmt.Sprintf("Give this group another name or another table, or take the existing one over with `terraform import hadr_group.<name> %s/%s`", table, group),
	}.ErrorAt(at)
}

// EventualTable is a global table in which a conditional write decides for one
// Region only: an error for a new group, a warning for one that is there.
func EventualTable(at path.Path, fatal bool, table, replicas string) diag.Diagnostic {
	p := Problem{
		Tried:  "checking state table",
		Object: table,
		Cause: fmt.Sprintf("It is a global table with eventual consistency (replicas: %s). Each Region of such a table decides by its own copy, "+
			"so that two operations could claim one group at once", replicas),
		Next: "Name a table of this Region alone, such as one of hadr_state_table, or a global table with multi-Region strong consistency, which is chosen when its replicas are made",
	}
	if fatal {
		return p.ErrorAt(at)
	}
	return p.WarningAt(at)
}

// GroupInPart is the warning of a read that finds only a part of a group.
func GroupInPart(id, left string) diag.Diagnostic {
	return Problem{
		Tried:  "reading group",
		Object: id,
		Cause:  fmt.Sprintf("Only a part of it is on the table (%s): its creation or its removal broke off, or somebody deleted the rest. Nobody takes it over as it is", left),
		Next:   "Apply: that completes the group, or makes it anew where its state is gone. To remove it, destroy: that goes on where it broke off",
	}.Warning()
}

// ForeignNode is an instance or interface that belongs to another control
// plane's group (R12).
func ForeignNode(at path.Path, id, table, group string) diag.Diagnostic {
	return Problem{
		Tried:  "binding",
		Object: id,
		Cause:  fmt.Sprintf("Its tags hadr:table and hadr:group say that it belongs to group %q of table %s. Two control planes of one node would work against each other", group, table),
		Next:   "Destroy the other group first, or name another instance here. If the other group is gone for certain, delete the two tags",
	}.ErrorAt(at)
}

// WrongNode is a node whose declared machine does not exist or does not fit.
func WrongNode(at path.Path, id, why, next string) diag.Diagnostic {
	return Problem{Tried: "checking node", Object: id, Cause: why, Next: next}.ErrorAt(at)
}

// VIPInsideVPC is an endpoint that the VPC's own routing would swallow.
func VIPInsideVPC(at path.Path, vip, cidr, vpc string) diag.Diagnostic {
	return Problem{
		Tried:  "checking endpoint",
		Object: vip,
		Cause: fmt.Sprintf("%s lies inside %s, a CIDR block of %s. The local route of a VPC covers its CIDR blocks, and a route to a "+
			"network interface must be at least as specific as a subnet's block, so the address could not move between zones", vip, cidr, vpc),
		Next: "Choose an address outside of every CIDR block of the VPC and of the networks that it is connected with, such as 192.168.170.10",
	}.ErrorAt(at)
}

// NoRouteTable is a declared route table that does not exist: an error where its
// route is made, a warning before.
func NoRouteTable(at path.Path, fatal bool, tables, region string) diag.Diagnostic {
	p := Problem{
		Tried:  "reading route tables",
		Object: tables,
		Cause:  fmt.Sprintf("There is no such route table in %s; it may have been deleted outside of Terraform", region),
		Next:   "Take it out of route_table_ids, or correct the id (`aws ec2 describe-route-tables` lists them), and check region and account of the provider",
	}
	if fatal {
		return p.ErrorAt(at)
	}
	return p.WarningAt(at)
}

// ForeignRoute is a route for the endpoint that leads somewhere else.
func ForeignRoute(at path.Path, table, destination, target string) diag.Diagnostic {
	return Problem{
		Tried:  "creating route " + destination + " in",
		Object: table,
		Cause:  fmt.Sprintf("The route exists and leads to %s, which is none of network_interface_ids", target),
		Next:   "Delete that route if nobody needs it, or choose another address",
	}.ErrorAt(at)
}

// NoCode is a function whose code is not in this build of the provider.
func NoCode(kind, architecture string) diag.Diagnostic {
	return Problem{
		Tried:  "creating function",
		Object: kind,
		Cause:  fmt.Sprintf("This build of the provider does not contain the function code for %s (provider/zips/bootstrap_%s.zip)", architecture, architecture),
		Next:   "Run `make build` in the provider's repository, which builds the code and embeds it, or install a released provider",
	}.ErrorAt(path.Root("architecture"))
}

// WrongAccount is a provider that points at an account that it must not change.
func WrongAccount(at path.Path, account, why string) diag.Diagnostic {
	return Problem{
		Tried:  "configuring provider",
		Object: "hadr",
		Cause:  fmt.Sprintf("The credentials belong to account %s, which %s", account, why),
		Next:   "Use the credentials of the right account, or correct the list",
	}.ErrorAt(at)
}

// Unsafe is a declared timing or setting under which a takeover loses commits
// or comes too late: an error under the policy automatic, a warning otherwise.
func Unsafe(at path.Path, fatal bool, summary, detail string) diag.Diagnostic {
	if fatal {
		return diag.NewAttributeErrorDiagnostic(at, summary, detail)
	}
	return diag.NewAttributeWarningDiagnostic(at, summary, detail)
}
