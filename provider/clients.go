package provider

import (
	"context"
	"io/fs"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// clients are what the resources share: one client per service, the provider's
// default tags and the time.
type clients struct {
	region      string
	defaultTags map[string]string
	clock       clock.Clock
	code        fs.FS // of the functions, see embedded

	cloudwatch *cloudwatch.Client
	logs       *cloudwatchlogs.Client
	dynamodb   *dynamodb.Client
	ec2        *ec2.Client
	iam        *iam.Client
	kms        *kms.Client
	lambda     *lambda.Client
	scheduler  *scheduler.Client
	ssm        *ssm.Client
	sts        *sts.Client

	mu sync.Mutex
	id *identity
}

// identity is who the provider is for AWS.
type identity struct{ Account, Partition string }

func newClients(cfg aws.Config, s settings, c clock.Clock, code fs.FS) *clients {
	at := func(service string, found **string) { *found = endpoint(s, service, *found) }
	return &clients{
		region:      cfg.Region,
		defaultTags: s.DefaultTags,
		clock:       c,
		code:        code,
		cloudwatch:  cloudwatch.NewFromConfig(cfg, func(o *cloudwatch.Options) { at("cloudwatch", &o.BaseEndpoint) }),
		logs:        cloudwatchlogs.NewFromConfig(cfg, func(o *cloudwatchlogs.Options) { at("cloudwatchlogs", &o.BaseEndpoint) }),
		dynamodb:    dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { at("dynamodb", &o.BaseEndpoint) }),
		ec2:         ec2.NewFromConfig(cfg, func(o *ec2.Options) { at("ec2", &o.BaseEndpoint) }),
		iam:         iam.NewFromConfig(cfg, func(o *iam.Options) { at("iam", &o.BaseEndpoint) }),
		kms:         kms.NewFromConfig(cfg, func(o *kms.Options) { at("kms", &o.BaseEndpoint) }),
		lambda:      lambda.NewFromConfig(cfg, func(o *lambda.Options) { at("lambda", &o.BaseEndpoint) }),
		scheduler:   scheduler.NewFromConfig(cfg, func(o *scheduler.Options) { at("scheduler", &o.BaseEndpoint) }),
		ssm:         ssm.NewFromConfig(cfg, func(o *ssm.Options) { at("ssm", &o.BaseEndpoint) }),
		sts:         sts.NewFromConfig(cfg, func(o *sts.Options) { at("sts", &o.BaseEndpoint) }),
	}
}

// identity asks once, at first use, so that a plan without AWS needs no
// credentials.
func (c *clients) identity(ctx context.Context) (identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id != nil {
		return *c.id, nil
	}
	out, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return identity{}, err
	}
	id := identity{Account: aws.ToString(out.Account), Partition: "aws"}
	if a, err := awsarn.Parse(aws.ToString(out.Arn)); err == nil && a.Partition != "" {
		id.Partition = a.Partition
	}
	c.id = &id
	return id, nil
}

// arn builds the ARN of a resource in the provider's account and Region.
func (c *clients) arn(id identity, service, resource string) string {
	return awsarn.ARN{Partition: id.Partition, Service: service, Region: c.region, AccountID: id.Account, Resource: resource}.String()
}

func (c *clients) checkAccount(ctx context.Context, allowed, forbidden []string) (diags diag.Diagnostics) {
	if len(allowed) == 0 && len(forbidden) == 0 {
		return nil
	}
	id, err := c.identity(ctx)
	switch {
	case err != nil:
		diags.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
	case len(allowed) > 0 && !slices.Contains(allowed, id.Account):
		diags.Append(diagnose.WrongAccount(path.Root("allowed_account_ids"), id.Account, "is not in allowed_account_ids"))
	case slices.Contains(forbidden, id.Account):
		diags.Append(diagnose.WrongAccount(path.Root("forbidden_account_ids"), id.Account, "is in forbidden_account_ids"))
	}
	return diags
}

// configured gives a resource its clients. They are nil while Terraform only
// validates.
type configured struct{ *clients }

func (r *configured) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	if req.ProviderData == nil {
		return
	}
	c, ok := req.ProviderData.(*clients)
	if !ok {
		resp.Diagnostics.Append(diagnose.NotConfigured(req.ProviderData))
		return
	}
	r.clients = c
}
