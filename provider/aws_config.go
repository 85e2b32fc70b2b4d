package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
)

// loadAWSConfig resolves Region and credentials as the AWS CLI does, with the
// provider's own arguments before everything else. The role is assumed here,
// because its endpoint and its session tags are arguments of the provider.
func loadAWSConfig(ctx context.Context, s settings, version string) (aws.Config, error) {
	cfg, err := awsclient.Load(ctx, awsclient.Options{
		Version: version, Region: s.Region, Profile: s.Profile,
		ConfigFiles: s.ConfigFiles, CredentialFiles: s.CredentialsFiles,
		AccessKey: s.AccessKey, SecretKey: s.SecretKey, SessionToken: s.Token,
		MaxRetries: s.MaxRetries,
	})
	if err != nil || s.AssumeRole == nil {
		return cfg, err
	}
	client := sts.NewFromConfig(cfg, func(o *sts.Options) { o.BaseEndpoint = endpoint(s, "sts", o.BaseEndpoint) })
	cfg.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(client, s.AssumeRole.ARN, s.AssumeRole.apply))
	return cfg, nil
}

func (r *assumeRole) apply(o *stscreds.AssumeRoleOptions) {
	o.RoleSessionName = r.SessionName
	o.Duration = r.Duration
	if r.ExternalID != "" {
		o.ExternalID = &r.ExternalID
	}
	if r.Policy != "" {
		o.Policy = &r.Policy
	}
	for _, k := range sortedKeys(r.Tags) {
		o.Tags = append(o.Tags, ststypes.Tag{Key: &k, Value: aws.String(r.Tags[k])})
	}
}

// endpoint is the declared address of a service, or what the conventions gave.
func endpoint(s settings, service string, found *string) *string {
	if url := s.Endpoints[service]; url != "" {
		return &url
	}
	return found
}
