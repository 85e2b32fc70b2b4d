package lambda

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (l *Lambda) getFunction(r *wire.Request, in *api.GetFunctionInput) (*api.GetFunctionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	config := f.view(v, qualifier, l.world.Clock.Now())
	out := &api.GetFunctionOutput{
		Configuration: &config,
		// The code itself cannot be fetched; tools only look at the type.
		Code: &types.FunctionCodeLocation{RepositoryType: aws.String("S3"), Location: aws.String(l.world.Endpoint + "/code/" + f.key.name)},
		Tags: maps.Clone(f.tags),
	}
	if f.reserved != nil {
		out.Concurrency = &types.Concurrency{ReservedConcurrentExecutions: f.reserved}
	}
	return out, nil
}

func (l *Lambda) getFunctionConfiguration(r *wire.Request, in *api.GetFunctionConfigurationInput) (*api.GetFunctionConfigurationOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	return shape[api.GetFunctionConfigurationOutput](f.view(v, qualifier, l.world.Clock.Now())), nil
}

// deleteFunction removes a function with all that belongs to it, or one of its
// versions if no alias needs it.
// https://docs.aws.amazon.com/lambda/latest/api/API_DeleteFunction.html
func (l *Lambda) deleteFunction(r *wire.Request, in *api.DeleteFunctionInput) (*api.DeleteFunctionOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, qualifier, err := l.find(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	done := &api.DeleteFunctionOutput{StatusCode: http.StatusNoContent}
	if qualifier == "" {
		for _, v := range f.all() {
			v.pool.retire()
		}
		delete(l.functions, f.key)
		return done, nil
	}
	n, err := strconv.Atoi(qualifier)
	if err != nil {
		return nil, invalid("$LATEST and aliases cannot be deleted without their function: %s", qualifier)
	}
	for _, name := range sortedKeys(f.aliases) {
		if *f.aliases[name].config.FunctionVersion == qualifier {
			return nil, conflict("The alias %s points to version %s.", name, qualifier)
		}
	}
	v.pool.retire()
	delete(f.published, n)
	delete(f.policies, qualifier)
	delete(f.events, qualifier)
	return done, nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_ListFunctions.html
func (l *Lambda) listFunctions(r *wire.Request, in *api.ListFunctionsInput) (*api.ListFunctionsOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine []*function
	for k, f := range l.functions {
		if k.account == r.Account && k.region == r.Region {
			mine = append(mine, f)
		}
	}
	slices.SortFunc(mine, func(a, b *function) int { return strings.Compare(a.key.name, b.key.name) })
	var all []types.FunctionConfiguration
	for _, f := range mine {
		if in.FunctionVersion == types.FunctionVersionAll {
			all = append(all, l.versionsOf(f)...)
			continue
		}
		all = append(all, f.view(f.latest, "", l.world.Clock.Now()))
	}
	part, next, err := page(all, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &api.ListFunctionsOutput{Functions: part, NextMarker: next}, nil
}

// maxPage is how many functions an answer holds at most.
const maxPage = 50

// page returns the part of list after the items that marker counts, and the
// marker of the next part; nil at the end.
func page[T any](list []T, marker *string, maxItems *int32) ([]T, *string, error) {
	from, limit := 0, maxPage
	if marker != nil {
		n, err := strconv.Atoi(*marker)
		if err != nil || n < 0 {
			return nil, nil, invalid("Invalid marker %q", *marker)
		}
		from = min(n, len(list))
	}
	if maxItems != nil {
		if *maxItems < 1 || *maxItems > 10000 {
			return nil, nil, invalid("Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 10000", *maxItems)
		}
		limit = min(limit, int(*maxItems))
	}
	to := min(from+limit, len(list))
	if to == len(list) {
		return list[from:], nil, nil
	}
	return list[from:to], aws.String(strconv.Itoa(to)), nil
}

func (l *Lambda) tagResource(r *wire.Request, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.Resource, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(f.tags, in.Tags)
	return nil, nil
}

func (l *Lambda) untagResource(r *wire.Request, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.Resource, nil)
	if err != nil {
		return nil, err
	}
	for _, k := range in.TagKeys {
		delete(f.tags, k)
	}
	return nil, nil
}

func (l *Lambda) listTags(r *wire.Request, in *api.ListTagsInput) (*api.ListTagsOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.Resource, nil)
	if err != nil {
		return nil, err
	}
	return &api.ListTagsOutput{Tags: maps.Clone(f.tags)}, nil
}

// Tags returns the tags of a function for authorization; nil if there is none.
func (l *Lambda) Tags(arn string) map[string]string {
	key, _, ok := parseARN(arn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.functions[key]; ok && f != nil {
		return maps.Clone(f.tags)
	}
	return nil
}

// https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionConcurrency.html
func (l *Lambda) putConcurrency(r *wire.Request, in *api.PutFunctionConcurrencyInput) (*api.PutFunctionConcurrencyOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	if in.ReservedConcurrentExecutions == nil || *in.ReservedConcurrentExecutions < 0 {
		return nil, invalid("Value at 'reservedConcurrentExecutions' failed to satisfy constraint: Member must have value greater than or equal to 0")
	}
	f.reserved = aws.Int32(*in.ReservedConcurrentExecutions)
	return &api.PutFunctionConcurrencyOutput{ReservedConcurrentExecutions: f.reserved}, nil
}

func (l *Lambda) getConcurrency(r *wire.Request, in *api.GetFunctionConcurrencyInput) (*api.GetFunctionConcurrencyOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	return &api.GetFunctionConcurrencyOutput{ReservedConcurrentExecutions: f.reserved}, nil
}

func (l *Lambda) deleteConcurrency(r *wire.Request, in *api.DeleteFunctionConcurrencyInput) (*api.DeleteFunctionConcurrencyOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, _, err := l.find(r, in.FunctionName, nil)
	if err != nil {
		return nil, err
	}
	f.reserved = nil
	return nil, nil
}
