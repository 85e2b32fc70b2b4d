// Package lambda is AWS Lambda for the sandbox. It runs the uploaded code: as
// processes through the Lambda runtime API, or as Go functions in this process
// for tests under virtual time.
package lambda

import (
	"context"
	"sync"

	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Lambda holds the functions of all accounts and Regions. It implements
// world.Functions.
type Lambda struct {
	world    *world.World
	executor Executor

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	events sync.WaitGroup // asynchronous invocations under way

	mu        sync.Mutex
	closed    bool
	functions map[functionKey]*function
}

var _ world.Functions = (*Lambda)(nil)

type functionKey struct{ account, region, name string }

// New returns Lambda without functions. Close must be called at the end.
func New(w *world.World, executor Executor) *Lambda {
	ctx, cancel := context.WithCancel(context.Background())
	return &Lambda{world: w, executor: executor, ctx: ctx, cancel: cancel, functions: map[functionKey]*function{}}
}

// Close ends all invocations and execution environments and waits for them.
func (l *Lambda) Close() {
	l.mu.Lock()
	l.closed = true
	var all []*version
	for _, f := range l.functions {
		all = append(all, f.all()...)
	}
	l.mu.Unlock()
	l.cancel()
	for _, v := range all {
		v.pool.retire()
	}
	l.events.Wait()
	l.executor.Close()
}

// Service returns the operations for a wire.Server.
func (l *Lambda) Service() *wire.Service {
	s := &wire.Service{Name: "lambda", Version: "2015-03-31", Default: wire.RestJSON, Schema: schemas.AWSGirApiService, Types: api.TypeRegistry}
	wire.Handle(s, "CreateFunction", schemas.CreateFunction, nil, l.createFunction)
	wire.Handle(s, "GetFunction", schemas.GetFunction, nil, l.getFunction)
	wire.Handle(s, "GetFunctionConfiguration", schemas.GetFunctionConfiguration, nil, l.getFunctionConfiguration)
	wire.Handle(s, "UpdateFunctionCode", schemas.UpdateFunctionCode, nil, l.updateFunctionCode)
	wire.Handle(s, "UpdateFunctionConfiguration", schemas.UpdateFunctionConfiguration, nil, l.updateFunctionConfiguration)
	wire.Handle(s, "DeleteFunction", schemas.DeleteFunction, nil, l.deleteFunction)
	wire.Handle(s, "ListFunctions", schemas.ListFunctions, nil, l.listFunctions)

	wire.Handle(s, "PublishVersion", schemas.PublishVersion, nil, l.publishVersion)
	wire.Handle(s, "ListVersionsByFunction", schemas.ListVersionsByFunction, nil, l.listVersions)
	wire.Handle(s, "CreateAlias", schemas.CreateAlias, nil, l.createAlias)
	wire.Handle(s, "GetAlias", schemas.GetAlias, nil, l.getAlias)
	wire.Handle(s, "UpdateAlias", schemas.UpdateAlias, nil, l.updateAlias)
	wire.Handle(s, "DeleteAlias", schemas.DeleteAlias, nil, l.deleteAlias)
	wire.Handle(s, "ListAliases", schemas.ListAliases, nil, l.listAliases)

	wire.Handle(s, "AddPermission", schemas.AddPermission, nil, l.addPermission)
	wire.Handle(s, "RemovePermission", schemas.RemovePermission, nil, l.removePermission)
	wire.Handle(s, "GetPolicy", schemas.GetPolicy, nil, l.getPolicy)

	wire.Handle(s, "Invoke", schemas.Invoke, nil, l.invoke)
	wire.Handle(s, "PutFunctionEventInvokeConfig", schemas.PutFunctionEventInvokeConfig, nil, l.putEventInvokeConfig)
	wire.Handle(s, "UpdateFunctionEventInvokeConfig", schemas.UpdateFunctionEventInvokeConfig, nil, l.updateEventInvokeConfig)
	wire.Handle(s, "GetFunctionEventInvokeConfig", schemas.GetFunctionEventInvokeConfig, nil, l.getEventInvokeConfig)
	wire.Handle(s, "DeleteFunctionEventInvokeConfig", schemas.DeleteFunctionEventInvokeConfig, nil, l.deleteEventInvokeConfig)
	wire.Handle(s, "ListFunctionEventInvokeConfigs", schemas.ListFunctionEventInvokeConfigs, nil, l.listEventInvokeConfigs)

	wire.Handle(s, "CreateFunctionUrlConfig", schemas.CreateFunctionUrlConfig, nil, l.createURL)
	wire.Handle(s, "GetFunctionUrlConfig", schemas.GetFunctionUrlConfig, nil, l.getURL)
	wire.Handle(s, "UpdateFunctionUrlConfig", schemas.UpdateFunctionUrlConfig, nil, l.updateURL)
	wire.Handle(s, "DeleteFunctionUrlConfig", schemas.DeleteFunctionUrlConfig, nil, l.deleteURL)

	wire.Handle(s, "PutFunctionConcurrency", schemas.PutFunctionConcurrency, nil, l.putConcurrency)
	wire.Handle(s, "GetFunctionConcurrency", schemas.GetFunctionConcurrency, nil, l.getConcurrency)
	wire.Handle(s, "DeleteFunctionConcurrency", schemas.DeleteFunctionConcurrency, nil, l.deleteConcurrency)
	wire.Handle(s, "TagResource", schemas.TagResource, nil, l.tagResource)
	wire.Handle(s, "UntagResource", schemas.UntagResource, nil, l.untagResource)
	wire.Handle(s, "ListTags", schemas.ListTags, nil, l.listTags)
	return s
}
