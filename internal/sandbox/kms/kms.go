// Package kms is the sandbox's Key Management Service as far as it tells who
// manages a key. It holds no keys and encrypts nothing: every key is there.
//
// https://docs.aws.amazon.com/kms/latest/APIReference/Welcome.html
package kms

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	api "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/schemas"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// KMS serves the API.
type KMS struct{ managed func(arn string) bool }

// New returns a KMS. managed reports whether a service has made the key for
// itself in its caller's account.
func New(managed func(arn string) bool) *KMS { return &KMS{managed} }

// Service returns the KMS API.
func (k *KMS) Service() *wire.Service {
	s := &wire.Service{
		Name: "kms", Target: "TrentService", Version: "2014-11-01",
		Default: wire.JSON11, Schema: schemas.TrentService, Types: api.TypeRegistry,
	}
	wire.Handle(s, "DescribeKey", schemas.DescribeKey, schemas.DescribeKeyResponse, k.describeKey)
	return s
}

// https://docs.aws.amazon.com/kms/latest/APIReference/API_DescribeKey.html
func (k *KMS) describeKey(_ *wire.Request, in *api.DescribeKeyInput) (*api.DescribeKeyOutput, error) {
	key := aws.ToString(in.KeyId)
	a, err := awsarn.Parse(key)
	id, isKey := strings.CutPrefix(a.Resource, "key/")
	if err != nil || a.Service != "kms" || !isKey {
		return nil, wire.Errorf("NotFoundException", "The sandbox knows keys by their ARN, not %q.", key)
	}
	manager := types.KeyManagerTypeCustomer
	if k.managed(key) {
		manager = types.KeyManagerTypeAws
	}
	return &api.DescribeKeyOutput{KeyMetadata: &types.KeyMetadata{
		Arn: &key, KeyId: &id, AWSAccountId: &a.AccountID, KeyManager: manager,
		Enabled: true, KeyState: types.KeyStateEnabled, KeyUsage: types.KeyUsageTypeEncryptDecrypt,
	}}, nil
}
