package ec2

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// kind is a kind of resource and the error codes of a bad identifier.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
type kind struct {
	prefix    string
	noun      string
	missing   string
	malformed string // "" = such an identifier is only missing
}

var (
	kindVPC         = kind{"vpc-", "vpc", "InvalidVpcID.NotFound", ""}
	kindSubnet      = kind{"subnet-", "subnet", "InvalidSubnetID.NotFound", ""}
	kindTable       = kind{"rtb-", "route table", "InvalidRouteTableID.NotFound", "InvalidRouteTableId.Malformed"}
	kindAssociation = kind{"rtbassoc-", "association", "InvalidAssociationID.NotFound", ""}
	kindGroup       = kind{"sg-", "security group", "InvalidGroup.NotFound", "InvalidGroupId.Malformed"}
	kindRule        = kind{"sgr-", "security group rule", "InvalidSecurityGroupRuleId.NotFound", "InvalidSecurityGroupRuleId.Malformed"}
	kindInterface   = kind{"eni-", "network interface", "InvalidNetworkInterfaceID.NotFound", "InvalidNetworkInterfaceId.Malformed"}
	kindAttachment  = kind{"eni-attach-", "attachment", "InvalidAttachmentID.NotFound", ""}
	kindInstance    = kind{"i-", "instance", "InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"}
)

var hexID = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)

func (k kind) wellFormed(id string) bool {
	digits, ok := strings.CutPrefix(id, k.prefix)
	return ok && hexID.MatchString(digits)
}

// unknown is the error for identifiers that name nothing.
func (k kind) unknown(ids ...string) *wire.Error {
	for _, id := range ids {
		if k.malformed != "" && !k.wellFormed(id) {
			return wire.Errorf(k.malformed, "Invalid id: %q (expecting %q)", id, k.prefix+"...")
		}
	}
	if len(ids) == 1 {
		return wire.Errorf(k.missing, "The %s ID '%s' does not exist", k.noun, ids[0])
	}
	return wire.Errorf(k.missing, "The %s IDs '%s' do not exist", k.noun, strings.Join(ids, ", "))
}

func missingParameter(name string) *wire.Error {
	return wire.Errorf("MissingParameter", "The request must contain the parameter %s", name)
}

func invalidValue(name, value, why string) *wire.Error {
	return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", value, name, why)
}

// notSimulated refuses an input that the sandbox would otherwise ignore.
func notSimulated(what string) *wire.Error {
	return wire.Errorf("UnsupportedOperation", "The sandbox does not simulate %s", what)
}

func inUse(noun, id, why string) *wire.Error {
	return wire.Errorf("DependencyViolation", "The %s '%s' has dependencies and cannot be deleted: %s", noun, id, why)
}

// dryRun is the answer of a call that would have succeeded.
func dryRun(flag *bool) error {
	if !aws.ToBool(flag) {
		return nil
	}
	return wire.Errorf("DryRunOperation", "Request would have succeeded, but DryRun flag is set.").WithStatus(http.StatusPreconditionFailed)
}

// find returns the resources named by ids, or an error that names those which
// do not exist. Nothing is returned unless all exist.
func find[T any](t *table[T], k kind, ids []string) ([]T, error) {
	var found []T
	var missing []string
	for _, id := range ids {
		if v, ok := t.get(id); ok {
			found = append(found, v)
		} else {
			missing = append(missing, id)
		}
	}
	if missing != nil {
		return nil, k.unknown(missing...)
	}
	return found, nil
}

// one returns the resource of a required parameter.
func one[T any](t *table[T], k kind, parameter string, id *string) (T, error) {
	var zero T
	if aws.ToString(id) == "" {
		return zero, missingParameter(parameter)
	}
	found, err := find(t, k, []string{*id})
	if err != nil {
		return zero, err
	}
	return found[0], nil
}
