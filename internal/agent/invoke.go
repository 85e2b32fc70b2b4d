package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
)

// InvokeAPI is what Function needs of the SDK's client.
type InvokeAPI interface {
	Invoke(ctx context.Context, in *lambda.InvokeInput, opts ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Function invokes the takeover function.
type Function struct{ API InvokeAPI }

// Report implements Takeover. The invocation is asynchronous: Lambda keeps the
// event and tries it again
// (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async.html).
func (f Function) Report(ctx context.Context, function string, r evidence.Report) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the report for function %s: %w", function, err)
	}
	if _, err := f.API.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &function, InvocationType: types.InvocationTypeEvent, Payload: payload,
	}); err != nil {
		return fmt.Errorf("report node %s of group %s to function %s: %w", r.Node, r.Group, function, err)
	}
	return nil
}
