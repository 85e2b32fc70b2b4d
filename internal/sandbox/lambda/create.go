package lambda

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// servicePrincipal is who assumes the roles of functions.
const servicePrincipal = "lambda.amazonaws.com"

// https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
func (l *Lambda) createFunction(r *wire.Request, in *api.CreateFunctionInput) (*api.CreateFunctionOutput, error) {
	key, qualifier, err := parseName(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	if qualifier != "" || key.account != r.Account || key.region != r.Region {
		return nil, invalid("The function name %q belongs to another account or Region, or has a qualifier.", deref(in.FunctionName))
	}
	v, err := newVersion(key, in)
	if err != nil {
		return nil, err
	}
	if err := l.checkRole(r, *v.config.Role); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.functions[key] != nil {
		return nil, conflict("Function already exist: %s", key.name)
	}
	f := &function{
		key: key, arn: key.arn(), published: map[int]*version{}, aliases: map[string]*alias{},
		policies: map[string]*policy{}, events: map[string]*eventSettings{}, urls: map[string]*functionURL{}, tags: map[string]string{},
	}
	maps.Copy(f.tags, in.Tags)
	v.created = true
	l.replace(f, v)
	l.functions[key] = f
	now := l.world.Clock.Now()
	if in.Publish {
		p := l.publish(f, in.Description)
		return shape[api.CreateFunctionOutput](f.view(p, *p.config.Version, now)), nil
	}
	return shape[api.CreateFunctionOutput](f.view(f.latest, "", now)), nil
}

func newVersion(key functionKey, in *api.CreateFunctionInput) (*version, error) {
	if len(in.Layers) > 0 {
		return nil, invalid("The sandbox does not serve layers.")
	}
	c := types.FunctionConfiguration{
		FunctionName:     aws.String(key.name),
		FunctionArn:      aws.String(key.arn()),
		Architectures:    in.Architectures,
		DeadLetterConfig: in.DeadLetterConfig,
		Description:      or(in.Description, ""),
		EphemeralStorage: in.EphemeralStorage,
		Handler:          in.Handler,
		KMSKeyArn:        in.KMSKeyArn,
		LoggingConfig:    loggingOf(key, in.LoggingConfig),
		MemorySize:       or(in.MemorySize, minMemory),
		PackageType:      in.PackageType,
		Role:             in.Role,
		Runtime:          in.Runtime,
		SnapStart:        &types.SnapStartResponse{ApplyOn: types.SnapStartApplyOnNone, OptimizationStatus: types.SnapStartOptimizationStatusOff},
		Timeout:          or(in.Timeout, 3),
		TracingConfig:    tracingOf(in.TracingConfig),
		VpcConfig:        vpcOf(in.VpcConfig),
		Environment:      environmentOf(in.Environment),
	}
	if c.PackageType == "" {
		c.PackageType = types.PackageTypeZip
	}
	if len(c.Architectures) == 0 {
		c.Architectures = []types.Architecture{types.ArchitectureX8664}
	}
	if c.EphemeralStorage == nil {
		c.EphemeralStorage = &types.EphemeralStorage{Size: aws.Int32(minStorage)}
	}
	if err := validate(&c); err != nil {
		return nil, err
	}
	code, err := newCode(in.Code)
	if err != nil {
		return nil, err
	}
	v := &version{config: c}
	v.setCode(code)
	return v, nil
}

func (v *version) setCode(c *Code) {
	v.code = c
	v.config.CodeSha256 = aws.String(c.SHA256)
	v.config.CodeSize = int64(len(c.Zip))
}

// checkRole makes sure that the caller may hand over the role and that Lambda
// can assume it.
func (l *Lambda) checkRole(r *wire.Request, role string) error {
	if l.world.Identity == nil {
		return nil
	}
	if err := l.world.Identity.CheckPassRole(r.Caller.ARN, role, servicePrincipal); err != nil {
		return err
	}
	if _, err := l.world.Identity.ServiceSession(role, servicePrincipal, "check"); err != nil {
		return invalid("The role defined for the function cannot be assumed by Lambda.")
	}
	return nil
}

func or[T any](p *T, otherwise T) *T {
	if p == nil {
		return &otherwise
	}
	return p
}

func environmentOf(e *types.Environment) *types.EnvironmentResponse {
	if e == nil || len(e.Variables) == 0 {
		return nil
	}
	return &types.EnvironmentResponse{Variables: e.Variables}
}

func tracingOf(t *types.TracingConfig) *types.TracingConfigResponse {
	if t == nil || t.Mode == "" {
		return &types.TracingConfigResponse{Mode: types.TracingModePassThrough}
	}
	return &types.TracingConfigResponse{Mode: t.Mode}
}

func vpcOf(v *types.VpcConfig) *types.VpcConfigResponse {
	if v == nil || len(v.SubnetIds) == 0 && len(v.SecurityGroupIds) == 0 {
		return nil
	}
	return &types.VpcConfigResponse{SubnetIds: v.SubnetIds, SecurityGroupIds: v.SecurityGroupIds, Ipv6AllowedForDualStack: v.Ipv6AllowedForDualStack}
}

func loggingOf(key functionKey, in *types.LoggingConfig) *types.LoggingConfig {
	out := types.LoggingConfig{LogFormat: types.LogFormatText, LogGroup: aws.String("/aws/lambda/" + key.name)}
	if in == nil {
		return &out
	}
	if in.LogFormat != "" {
		out.LogFormat = in.LogFormat
	}
	if deref(in.LogGroup) != "" {
		out.LogGroup = in.LogGroup
	}
	out.ApplicationLogLevel, out.SystemLogLevel = in.ApplicationLogLevel, in.SystemLogLevel
	return &out
}
