package diagnose

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// founding is a problem of a group that is about to be created.
func founding(group, cause, next string) Problem {
	return Problem{Tried: "creating group", Object: group, Cause: cause, Next: next}
}

// NodeNotRead is a node that did not say what it is before its group was
// created; said names it and tells why.
func NodeNotRead(at path.Path, group, said string, words failover.Manual) diag.Diagnostic {
	return founding(group,
		"Who is primary is read on both nodes before a group is created, and "+said,
		"See that the instance runs, that its SSM agent is online (`aws ssm describe-instance-information`), that the database answers there (`"+words.Role+"`), "+
			"and that whoever applies may run the status document on it (ssm:SendCommand). "+
			"If the database is not built yet, or the node is down on purpose, set verify_on_create = false and preferred_primary to the node that is primary").ErrorAt(at)
}

// MarkedNode is a node whose mark names another state table (R12).
func MarkedNode(at path.Path, group, node, table string) diag.Diagnostic {
	return founding(group,
		fmt.Sprintf("Node %s is marked as one of a group %s of the state table %s. Two control planes of one node would work against each other", node, group, table),
		fmt.Sprintf("Destroy the group of the other table first. If that is gone for certain, remove /var/lib/hadr/%s/table on the host", group)).ErrorAt(at)
}

// TwoPrimaries is a pair that would be two writers.
func TwoPrimaries(at path.Path, group, read string, words failover.Manual) diag.Diagnostic {
	return founding(group,
		"Both nodes read PRIMARY, so that two databases may have taken commits: "+read,
		"Find out which of them has the data, keep clients away from the other and make it a standby again ("+words.Reseed+"), then apply again").ErrorAt(at)
}

// NoPrimary is a pair without a primary.
func NoPrimary(at path.Path, group, read string, words failover.Manual) diag.Diagnostic {
	return founding(group,
		"No node reads PRIMARY with an active database: "+read,
		"Start replication on both nodes, or the primary alone ("+words.Start+"), then apply again. "+
			"If the databases are not built yet, set verify_on_create = false").ErrorAt(at)
}

// NoStandby is the warning that the other node of a new group is no standby.
func NoStandby(at path.Path, group, said, next string) diag.Diagnostic {
	return founding(group, "The group has nobody to take over: "+said, next).WarningAt(at)
}

// OtherPrimary is the warning that a new group begins on the other node than
// the preferred one.
func OtherPrimary(at path.Path, group, preferred, read string) diag.Diagnostic {
	return founding(group,
		fmt.Sprintf("Node %s reads PRIMARY, and preferred_primary is %s. The group is recorded as it is: its primary is node %s", read, preferred, read),
		fmt.Sprintf("Switch over on purpose, or set preferred_primary to %s. Until then every plan says that the group is failed over", read)).WarningAt(at)
}

// NotVerified is the warning that nobody was asked who is primary.
func NotVerified(at path.Path, group, preferred string) diag.Diagnostic {
	return founding(group,
		fmt.Sprintf("verify_on_create is false: no node was read, and node %s is recorded as primary because preferred_primary says so", preferred),
		"See that the database is built as primary on this node before policy is automatic").WarningAt(at)
}
