package iam

import (
	api "github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// CreateRole creates a role without a network.
func (i *IAM) CreateRole(account string, in *api.CreateRoleInput) error {
	_, err := i.createRole(&wire.Request{Account: account}, in)
	return err
}
