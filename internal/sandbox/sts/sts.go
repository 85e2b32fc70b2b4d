// Package sts is the sandbox's Security Token Service: who am I, and sessions
// of roles. Roles and credentials themselves belong to IAM.
//
// https://docs.aws.amazon.com/STS/latest/APIReference/welcome.html
package sts

import (
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/schemas"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Roles opens sessions of roles; IAM implements it.
type Roles interface {
	// AssumeRole returns credentials of a session, its ARN and its unique
	// identifier (AROA...:NAME), if the role trusts caller.
	AssumeRole(caller wire.Caller, want world.RoleSession) (creds world.Credentials, arn, id string, err error)
}

// STS serves the API.
type STS struct{ roles Roles }

// New returns an STS for the given roles.
func New(roles Roles) *STS { return &STS{roles: roles} }

// Service returns the STS API.
func (s *STS) Service() *wire.Service {
	v := &wire.Service{
		Name: "sts", Version: "2011-06-15", Namespace: "https://sts.amazonaws.com/doc/2011-06-15/",
		Default: wire.Query, Schema: schemas.AWSSecurityTokenServiceV20110615, Types: api.TypeRegistry,
	}
	wire.Handle(v, "GetCallerIdentity", nil, nil, s.getCallerIdentity)
	wire.Handle(v, "AssumeRole", nil, nil, s.assumeRole)
	return v
}

func (s *STS) getCallerIdentity(r *wire.Request, _ *api.GetCallerIdentityInput) (*api.GetCallerIdentityOutput, error) {
	return &api.GetCallerIdentityOutput{Account: aws.String(r.Caller.Account), Arn: aws.String(r.Caller.ARN), UserId: aws.String(r.Caller.UserID)}, nil
}

// Limits of AssumeRole.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const (
	minDuration = 900
	maxDuration = 43200

	maxExternalID = 1224
)

var (
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	externalID  = regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`)
)

func (s *STS) assumeRole(r *wire.Request, in *api.AssumeRoleInput) (*api.AssumeRoleOutput, error) {
	if err := validate(in); err != nil {
		return nil, err
	}
	creds, arn, id, err := s.roles.AssumeRole(r.Caller, world.RoleSession{
		RoleARN: aws.ToString(in.RoleArn), Name: aws.ToString(in.RoleSessionName), ExternalID: aws.ToString(in.ExternalId),
		Policy: aws.ToString(in.Policy), Duration: time.Duration(aws.ToInt32(in.DurationSeconds)) * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return &api.AssumeRoleOutput{
		AssumedRoleUser: &types.AssumedRoleUser{Arn: &arn, AssumedRoleId: &id},
		Credentials: &types.Credentials{
			AccessKeyId: &creds.AccessKey, SecretAccessKey: &creds.SecretKey, SessionToken: &creds.SessionToken, Expiration: &creds.Expiration,
		},
	}, nil
}

func validate(in *api.AssumeRoleInput) error {
	switch arn, name := aws.ToString(in.RoleArn), aws.ToString(in.RoleSessionName); {
	case len(arn) < 20 || !strings.HasPrefix(arn, "arn:"):
		return wire.Errorf("ValidationError", "%s is invalid", arn)
	case !sessionName.MatchString(name):
		return constraint(name, "roleSessionName", `Member must satisfy regular expression pattern: [\w+=,.@-]* and have length between 2 and 64`)
	case in.ExternalId != nil && (len(*in.ExternalId) > maxExternalID || !externalID.MatchString(*in.ExternalId)):
		return constraint(*in.ExternalId, "externalId", `Member must satisfy regular expression pattern: [\w+=,.@:\/-]* and have length between 2 and 1224`)
	case in.DurationSeconds != nil && *in.DurationSeconds < minDuration:
		return wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to %d", *in.DurationSeconds, minDuration)
	case in.DurationSeconds != nil && *in.DurationSeconds > maxDuration:
		return wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'durationSeconds' failed to satisfy constraint: Member must have value less than or equal to %d", *in.DurationSeconds, maxDuration)
	}
	return nil
}

func constraint(value, member, text string) error {
	return wire.Errorf("ValidationError", "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, member, text)
}
