package lambda

import (
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// changeable refuses a change while another one is under way.
// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
func (l *Lambda) changeable(f *function) error {
	now := l.world.Clock.Now()
	if f.latest.pending(now) {
		return conflict("The operation cannot be performed at this time. The function is currently in the following state: Pending")
	}
	if f.latest.updating(now) {
		return conflict("The operation cannot be performed at this time. An update is in progress for resource: %s", f.arn)
	}
	return nil
}

// change finds the function of an update and returns a copy of its latest
// version to work on. The caller holds l.mu.
func (l *Lambda) change(r *wire.Request, name, revision *string) (*function, *version, error) {
	f, _, qualifier, err := l.find(r, name, nil)
	if err != nil {
		return nil, nil, err
	}
	if qualifier != "" && qualifier != latest {
		return nil, nil, invalid("A version or an alias cannot be updated: %s", deref(name))
	}
	if err := l.changeable(f); err != nil {
		return nil, nil, err
	}
	if revision != nil && *revision != *f.latest.config.RevisionId {
		return nil, nil, staleRevision()
	}
	return f, &version{config: f.latest.config, code: f.latest.code}, nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionConfiguration.html
func (l *Lambda) updateFunctionConfiguration(r *wire.Request, in *api.UpdateFunctionConfigurationInput) (*api.UpdateFunctionConfigurationOutput, error) {
	if in.Role != nil {
		if err := l.checkRole(r, *in.Role); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, err := l.change(r, in.FunctionName, in.RevisionId)
	if err != nil {
		return nil, err
	}
	if len(in.Layers) > 0 {
		return nil, invalid("The sandbox does not serve layers.")
	}
	c := &v.config
	set(&c.DeadLetterConfig, in.DeadLetterConfig)
	set(&c.Description, in.Description)
	set(&c.EphemeralStorage, in.EphemeralStorage)
	set(&c.Handler, in.Handler)
	set(&c.KMSKeyArn, in.KMSKeyArn)
	set(&c.MemorySize, in.MemorySize)
	set(&c.Role, in.Role)
	set(&c.Timeout, in.Timeout)
	if in.Runtime != "" {
		c.Runtime = in.Runtime
	}
	if in.Environment != nil {
		c.Environment = environmentOf(in.Environment)
	}
	if in.LoggingConfig != nil {
		c.LoggingConfig = loggingOf(f.key, in.LoggingConfig)
	}
	if in.TracingConfig != nil {
		c.TracingConfig = tracingOf(in.TracingConfig)
	}
	if in.VpcConfig != nil {
		c.VpcConfig = vpcOf(in.VpcConfig)
	}
	if err := validate(c); err != nil {
		return nil, err
	}
	l.replace(f, v)
	return shape[api.UpdateFunctionConfigurationOutput](f.view(v, "", l.world.Clock.Now())), nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionCode.html
func (l *Lambda) updateFunctionCode(r *wire.Request, in *api.UpdateFunctionCodeInput) (*api.UpdateFunctionCodeOutput, error) {
	code, err := newCode(&types.FunctionCode{ZipFile: in.ZipFile, S3Bucket: in.S3Bucket, ImageUri: in.ImageUri})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, err := l.change(r, in.FunctionName, in.RevisionId)
	if err != nil {
		return nil, err
	}
	v.setCode(code)
	if len(in.Architectures) > 0 {
		v.config.Architectures = in.Architectures
	}
	if err := validate(&v.config); err != nil {
		return nil, err
	}
	now := l.world.Clock.Now()
	if in.DryRun {
		return shape[api.UpdateFunctionCodeOutput](f.view(v, "", now)), nil
	}
	l.replace(f, v)
	if in.Publish {
		p := l.publish(f, nil)
		return shape[api.UpdateFunctionCodeOutput](f.view(p, *p.config.Version, now)), nil
	}
	return shape[api.UpdateFunctionCodeOutput](f.view(v, "", now)), nil
}

// set changes a setting if it was given.
func set[T any](setting **T, given *T) {
	if given != nil {
		*setting = given
	}
}
