package lambda

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
func (l *Lambda) publishVersion(r *wire.Request, in *api.PublishVersionInput) (*api.PublishVersionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	if err := l.changeable(f); err != nil {
		return nil, err
	}
	if in.RevisionId != nil && *in.RevisionId != *f.latest.config.RevisionId {
		return nil, staleRevision()
	}
	if in.CodeSha256 != nil && *in.CodeSha256 != f.latest.code.SHA256 {
		return nil, invalid("CodeSHA256 (%s) is different from current CodeSHA256 in $LATEST (%s). Please try again with the CodeSHA256 in $LATEST.", *in.CodeSha256, f.latest.code.SHA256)
	}
	p := l.publish(f, in.Description)
	return shape[api.PublishVersionOutput](f.view(p, *p.config.Version, l.world.Clock.Now())), nil
}

// publish returns the published version of what is the latest now; a new one
// only if something changed since the last.
func (l *Lambda) publish(f *function, description *string) *version {
	if p := f.latest.publishedAs; p != nil && f.resolve(*p.config.Version) == p {
		return p
	}
	f.last++
	p := &version{config: f.latest.config, code: f.latest.code, created: f.latest.created, ready: f.latest.ready, pool: &pool{}}
	p.config.Version = aws.String(strconv.Itoa(f.last))
	p.config.RevisionId = aws.String(l.world.UUID())
	set(&p.config.Description, description)
	f.published[f.last] = p
	f.latest.publishedAs = p
	return p
}

func (l *Lambda) versionsOf(f *function) []types.FunctionConfiguration {
	var out []types.FunctionConfiguration
	for _, v := range f.all() {
		out = append(out, f.view(v, *v.config.Version, l.world.Clock.Now()))
	}
	return out
}

func (l *Lambda) listVersions(r *wire.Request, in *api.ListVersionsByFunctionInput) (*api.ListVersionsByFunctionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	part, next, err := page(l.versionsOf(f), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &api.ListVersionsByFunctionOutput{Versions: part, NextMarker: next}, nil
}

// checkTarget checks what an alias points to.
func (f *function) checkTarget(v *string, routing *types.AliasRoutingConfiguration) error {
	if f.aliases[deref(v)] != nil || f.resolve(deref(v)) == nil {
		return notFound(f.qualifiedARN(deref(v)))
	}
	if routing != nil && len(routing.AdditionalVersionWeights) > 0 {
		return invalid("The sandbox does not split the traffic of an alias.")
	}
	return nil
}

func (f *function) alias(name *string) (*alias, error) {
	a := f.aliases[deref(name)]
	if a == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "Cannot find alias arn: %s", f.qualifiedARN(deref(name)))
	}
	return a, nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_CreateAlias.html
func (l *Lambda) createAlias(r *wire.Request, in *api.CreateAliasInput) (*api.CreateAliasOutput, error) {
	name := deref(in.Name)
	if !aliasName.MatchString(name) || onlyDigits.MatchString(name) {
		return nil, invalid("Value %q at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: (?!^[0-9]+$)([a-zA-Z0-9-_]+)", name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	if f.aliases[name] != nil {
		return nil, conflict("Alias already exists: %s", f.qualifiedARN(name))
	}
	if deref(in.FunctionVersion) == "" {
		return nil, invalid("Function version is required to create an alias.")
	}
	if err := f.checkTarget(in.FunctionVersion, in.RoutingConfig); err != nil {
		return nil, err
	}
	c := types.AliasConfiguration{AliasArn: aws.String(f.qualifiedARN(name)), Name: aws.String(name), FunctionVersion: in.FunctionVersion,
		Description: or(in.Description, ""), RevisionId: aws.String(l.world.UUID())}
	f.aliases[name] = &alias{c}
	return &api.CreateAliasOutput{AliasArn: c.AliasArn, Name: c.Name, FunctionVersion: c.FunctionVersion, Description: c.Description, RevisionId: c.RevisionId}, nil
}

func (l *Lambda) getAlias(r *wire.Request, in *api.GetAliasInput) (*api.GetAliasOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	a, err := f.alias(in.Name)
	if err != nil {
		return nil, err
	}
	c := a.config
	return &api.GetAliasOutput{AliasArn: c.AliasArn, Name: c.Name, FunctionVersion: c.FunctionVersion, Description: c.Description, RevisionId: c.RevisionId}, nil
}

func (l *Lambda) updateAlias(r *wire.Request, in *api.UpdateAliasInput) (*api.UpdateAliasOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	a, err := f.alias(in.Name)
	if err != nil {
		return nil, err
	}
	c := a.config
	if in.RevisionId != nil && *in.RevisionId != *c.RevisionId {
		return nil, staleRevision()
	}
	set(&c.FunctionVersion, in.FunctionVersion)
	set(&c.Description, in.Description)
	if err := f.checkTarget(c.FunctionVersion, in.RoutingConfig); err != nil {
		return nil, err
	}
	c.RevisionId = aws.String(l.world.UUID())
	a.config = c
	return &api.UpdateAliasOutput{AliasArn: c.AliasArn, Name: c.Name, FunctionVersion: c.FunctionVersion, Description: c.Description, RevisionId: c.RevisionId}, nil
}

// deleteAlias succeeds for a missing alias too, as Lambda does.
func (l *Lambda) deleteAlias(r *wire.Request, in *api.DeleteAliasInput) (*api.DeleteAliasOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	name := deref(in.Name)
	if f.aliases[name] != nil {
		delete(f.aliases, name)
		delete(f.policies, name)
		delete(f.events, name)
		delete(f.urls, name)
	}
	return nil, nil
}

func (l *Lambda) listAliases(r *wire.Request, in *api.ListAliasesInput) (*api.ListAliasesOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	var all []types.AliasConfiguration
	for _, name := range sortedKeys(f.aliases) {
		if c := f.aliases[name].config; in.FunctionVersion == nil || *in.FunctionVersion == *c.FunctionVersion {
			all = append(all, c)
		}
	}
	part, next, err := page(all, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &api.ListAliasesOutput{Aliases: part, NextMarker: next}, nil
}
