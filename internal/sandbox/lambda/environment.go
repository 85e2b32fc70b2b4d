package lambda

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// start makes an environment for a version.
func (l *Lambda) start(f *function, v *version) (*warm, error) {
	c := &v.config
	w := &warm{log: l.newStream(f, v)}
	spec := Spec{
		Function:     f.key.name,
		Handler:      *c.Handler,
		Architecture: string(c.Architectures[0]),
		Code:         v.code,
		Clock:        l.world.Clock,
		Log:          w.log.print,
		Env:          map[string]string{},
	}
	if l.world.Identity != nil {
		credentials, err := l.world.Identity.ServiceSession(*c.Role, servicePrincipal, f.key.name)
		if err != nil {
			return nil, &Failure{Type: "AccessDeniedException", Message: fmt.Sprintf("Lambda cannot assume %s: %v", *c.Role, err), Fatal: true}
		}
		spec.Credentials, w.expires = credentials, credentials.Expiration
	}
	if c.Environment != nil {
		maps.Copy(spec.Env, c.Environment.Variables)
	}
	maps.Copy(spec.Env, l.variables(f, v, w.log, spec.Credentials))
	env, err := l.executor.Start(l.ctx, spec)
	if err != nil {
		return nil, err
	}
	w.env = env
	return w, nil
}

// variables are what Lambda sets itself.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func (l *Lambda) variables(f *function, v *version, log *stream, c world.Credentials) map[string]string {
	env := map[string]string{
		"_HANDLER":                        *v.config.Handler,
		"AWS_DEFAULT_REGION":              f.key.region,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": fmt.Sprint(*v.config.MemorySize),
		"AWS_LAMBDA_FUNCTION_NAME":        f.key.name,
		"AWS_LAMBDA_FUNCTION_VERSION":     *v.config.Version,
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_FORMAT":           string(v.config.LoggingConfig.LogFormat),
		"AWS_LAMBDA_LOG_GROUP_NAME":       log.group,
		"AWS_LAMBDA_LOG_STREAM_NAME":      log.name,
		"AWS_REGION":                      f.key.region,
		"LANG":                            "en_US.UTF-8",
		"PATH":                            "/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		"TZ":                              ":UTC",
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID":     c.AccessKey,
		"AWS_ENDPOINT_URL":      l.world.Endpoint,
		"AWS_SECRET_ACCESS_KEY": c.SecretKey,
		"AWS_SESSION_TOKEN":     c.SessionToken,
	} {
		if value != "" {
			env[name] = value
		}
	}
	if v := clock.Env(l.world.Clock); v != "" {
		env[clock.EnvVar] = v
	}
	return env
}

// timedOut is the failure of a run over its timeout.
func timedOut(requestID string, timeout time.Duration) *Failure {
	return &Failure{Type: "Sandbox.Timedout", Message: fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", requestID, timeout.Seconds()), Fatal: true}
}

// forRequest names the request in the message of a failure of the runtime.
func (f *Failure) forRequest(id string) *Failure {
	if f.Payload != nil || strings.HasPrefix(f.Message, "RequestId: ") {
		return f
	}
	named := *f
	named.Message = "RequestId: " + id + " Error: " + f.Message
	return &named
}
