// Package awsclient builds the configuration of AWS clients and sorts their
// errors by what a caller may conclude from them.
package awsclient

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// Options say how to reach AWS. Everything that is left out comes from where
// the AWS CLI takes it: environment, shared files, the role of the machine or
// function. Endpoints come from AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_<SERVICE>
// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html).
type Options struct {
	Version string // of hadr, for the user agent

	Region          string
	OnMachine       bool // this is an EC2 instance: without a Region, its own one counts
	Profile         string
	ConfigFiles     []string // instead of ~/.aws/config
	CredentialFiles []string // instead of ~/.aws/credentials

	AccessKey    string
	SecretKey    string
	SessionToken string

	AssumeRole *AssumeRole
	MaxRetries int // attempts beyond the first; 0 = the SDK's own number
}

// AssumeRole is a role to take with the credentials found otherwise.
type AssumeRole struct {
	ARN         string
	SessionName string // "hadr" if empty
	ExternalID  string
	Duration    time.Duration // the service's default if zero
	Policy      string        // session policy, JSON
}

// Load builds the configuration that all clients of a process share.
func Load(ctx context.Context, o Options) (aws.Config, error) {
	load := []func(*config.LoadOptions) error{
		config.WithAPIOptions([]func(*smithymiddleware.Stack) error{
			middleware.AddUserAgentKeyValue("hadr", o.Version),
			PlainBody,
		}),
	}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if len(o.ConfigFiles) > 0 {
		load = append(load, config.WithSharedConfigFiles(o.ConfigFiles))
	}
	if len(o.CredentialFiles) > 0 {
		load = append(load, config.WithSharedCredentialsFiles(o.CredentialFiles))
	}
	if o.AccessKey != "" {
		load = append(load, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, o.SessionToken)))
	}
	if o.MaxRetries > 0 {
		load = append(load, config.WithRetryMaxAttempts(o.MaxRetries+1))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS configuration (region %q, profile %q): %w", o.Region, o.Profile, err)
	}
	if cfg.Region == "" && o.OnMachine {
		if cfg.Region, err = machineRegion(ctx, cfg); err != nil {
			return aws.Config{}, fmt.Errorf("no AWS Region is configured, and this machine does not know its own: %w: set AWS_REGION", err)
		}
	}
	if cfg.Region == "" {
		return aws.Config{}, fmt.Errorf("no AWS Region is configured: set region, AWS_REGION, or region in the profile %q", o.Profile)
	}
	if o.AssumeRole != nil {
		cfg.Credentials = assume(cfg, *o.AssumeRole)
	}
	return cfg, nil
}

// metadataLimit bounds how long a machine that is none of AWS's is asked.
const metadataLimit = 3 * time.Second

// machineRegion is where this instance runs. Nothing else tells a service of
// systemd, which has no AWS_REGION unless its unit names one:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html
func machineRegion(ctx context.Context, cfg aws.Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataLimit)
	defer cancel()
	out, err := imds.NewFromConfig(cfg).GetRegion(ctx, &imds.GetRegionInput{})
	if err != nil {
		return "", fmt.Errorf("reading the Region from the instance metadata: %w", err)
	}
	return out.Region, nil
}

func assume(cfg aws.Config, r AssumeRole) aws.CredentialsProvider {
	return aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), r.ARN,
		func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "hadr"
			if r.SessionName != "" {
				o.RoleSessionName = r.SessionName
			}
			if r.ExternalID != "" {
				o.ExternalID = aws.String(r.ExternalID)
			}
			if r.Duration > 0 {
				o.Duration = r.Duration
			}
			if r.Policy != "" {
				o.Policy = aws.String(r.Policy)
			}
		}))
}
