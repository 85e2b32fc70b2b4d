package lambda

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// URLPath is where the sandbox serves the URLs of functions, which on AWS have
// a host name each.
const URLPath = "/lambda-url/"

// functionURL is the HTTP endpoint of a function or an alias.
// https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html
type functionURL struct {
	id        string
	qualifier string // "" for the function itself
	auth      types.FunctionUrlAuthType
	mode      types.InvokeMode
	cors      *types.Cors
	created   string
	modified  string
}

func (l *Lambda) timestamp() string {
	return l.world.Clock.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
}

func checkURL(qualifier string, auth types.FunctionUrlAuthType, f *function) error {
	if qualifier != "" && f.aliases[qualifier] == nil {
		return invalid("A function URL belongs to the function or to an alias, not to %q.", qualifier)
	}
	if !slices.Contains(auth.Values(), auth) {
		return invalid("Value %q at 'authType' failed to satisfy constraint: Member must satisfy enum value set: %v", auth, auth.Values())
	}
	return nil
}

func (l *Lambda) address(u *functionURL) *string {
	return aws.String(l.world.Endpoint + URLPath + u.id + "/")
}

func (l *Lambda) createURL(r *wire.Request, in *api.CreateFunctionUrlConfigInput) (*api.CreateFunctionUrlConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	if err := checkURL(qualifier, in.AuthType, f); err != nil {
		return nil, err
	}
	if f.urls[qualifier] != nil {
		return nil, conflict("Failed to create function url config for [functionArn = %s]. Error message: FunctionUrlConfig exists for this Lambda function", f.qualifiedARN(qualifier))
	}
	u := &functionURL{id: l.world.Hex(32), qualifier: qualifier, auth: in.AuthType, mode: in.InvokeMode, cors: in.Cors, created: l.timestamp()}
	u.modified = u.created
	if u.mode == "" {
		u.mode = types.InvokeModeBuffered
	}
	f.urls[qualifier] = u
	return &api.CreateFunctionUrlConfigOutput{FunctionUrl: l.address(u), FunctionArn: aws.String(f.qualifiedARN(qualifier)), AuthType: u.auth,
		Cors: u.cors, InvokeMode: u.mode, CreationTime: aws.String(u.created)}, nil
}

// urlOf finds the URL that a request names.
func (l *Lambda) urlOf(r *wire.Request, name, qualifier *string) (*function, *functionURL, error) {
	f, _, q, err := l.find(r, name, qualifier)
	if err != nil {
		return nil, nil, err
	}
	u := f.urls[q]
	if u == nil {
		return nil, nil, noPolicy()
	}
	return f, u, nil
}

func (l *Lambda) getURL(r *wire.Request, in *api.GetFunctionUrlConfigInput) (*api.GetFunctionUrlConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, u, err := l.urlOf(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	return &api.GetFunctionUrlConfigOutput{FunctionUrl: l.address(u), FunctionArn: aws.String(f.qualifiedARN(u.qualifier)), AuthType: u.auth,
		Cors: u.cors, InvokeMode: u.mode, CreationTime: aws.String(u.created), LastModifiedTime: aws.String(u.modified)}, nil
}

func (l *Lambda) updateURL(r *wire.Request, in *api.UpdateFunctionUrlConfigInput) (*api.UpdateFunctionUrlConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, u, err := l.urlOf(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	auth := u.auth
	if in.AuthType != "" {
		auth = in.AuthType
	}
	if err := checkURL(u.qualifier, auth, f); err != nil {
		return nil, err
	}
	u.auth, u.modified = auth, l.timestamp()
	set(&u.cors, in.Cors)
	if in.InvokeMode != "" {
		u.mode = in.InvokeMode
	}
	return &api.UpdateFunctionUrlConfigOutput{FunctionUrl: l.address(u), FunctionArn: aws.String(f.qualifiedARN(u.qualifier)), AuthType: u.auth,
		Cors: u.cors, InvokeMode: u.mode, CreationTime: aws.String(u.created), LastModifiedTime: aws.String(u.modified)}, nil
}

func (l *Lambda) deleteURL(r *wire.Request, in *api.DeleteFunctionUrlConfigInput) (*api.DeleteFunctionUrlConfigOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, u, err := l.urlOf(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	delete(f.urls, u.qualifier)
	return nil, nil
}

// allowsURL reports whether everybody may call the URL. Since October 2025 that
// takes two statements.
// https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html
func (p *policy) allowsURL() bool {
	if p == nil {
		return false
	}
	open := func(action, operator, key, want string) bool {
		return slices.ContainsFunc(p.statements, func(s statement) bool {
			if s.Principal != "*" || s.Action != action && s.Action != "lambda:*" && s.Action != "*" {
				return false
			}
			for o, keys := range s.Condition {
				for k, v := range keys {
					if o != operator || k != key || v != want {
						return false
					}
				}
			}
			return true
		})
	}
	return open("lambda:InvokeFunctionUrl", "StringEquals", "lambda:FunctionUrlAuthType", string(types.FunctionUrlAuthTypeNone)) &&
		open("lambda:InvokeFunction", "Bool", "lambda:InvokedViaFunctionUrl", "true")
}
