package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdaschemas "github.com/aws/aws-sdk-go-v2/service/lambda/schemas"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func TestLambdaREST(t *testing.T) {
	svc := lambdaService()
	var invoked *lambda.InvokeInput
	var created *lambda.CreateFunctionInput
	var permitted *lambda.AddPermissionInput
	var untagged *lambda.UntagResourceInput
	wire.Handle(svc, "Invoke", lambdaschemas.Invoke, lambdaschemas.InvocationResponse, func(_ *wire.Request, in *lambda.InvokeInput) (*lambda.InvokeOutput, error) {
		invoked = in
		switch in.InvocationType {
		case lambdatypes.InvocationTypeDryRun:
			return &lambda.InvokeOutput{StatusCode: 204}, nil
		case lambdatypes.InvocationTypeEvent:
			return &lambda.InvokeOutput{StatusCode: 202}, nil
		}
		return &lambda.InvokeOutput{StatusCode: 200, Payload: in.Payload, FunctionError: aws.String("Unhandled"), ExecutedVersion: aws.String("$LATEST"), LogResult: aws.String("bG9n")}, nil
	})
	wire.Handle(svc, "CreateFunction", lambdaschemas.CreateFunction, nil, func(_ *wire.Request, in *lambda.CreateFunctionInput) (*lambda.CreateFunctionOutput, error) {
		created = in
		return &lambda.CreateFunctionOutput{FunctionName: in.FunctionName, Environment: &lambdatypes.EnvironmentResponse{Variables: in.Environment.Variables}}, nil
	})
	wire.Handle(svc, "AddPermission", lambdaschemas.AddPermission, nil, func(_ *wire.Request, in *lambda.AddPermissionInput) (*lambda.AddPermissionOutput, error) {
		permitted = in
		return nil, nil
	})
	wire.Handle(svc, "DeleteFunction", lambdaschemas.DeleteFunction, nil, func(*wire.Request, *lambda.DeleteFunctionInput) (*lambda.DeleteFunctionOutput, error) {
		return &lambda.DeleteFunctionOutput{StatusCode: 204}, nil
	})
	wire.Handle(svc, "UntagResource", lambdaschemas.UntagResource, nil, func(_ *wire.Request, in *lambda.UntagResourceInput) (*lambda.UntagResourceOutput, error) {
		untagged = in
		return nil, nil
	})
	wire.Handle(svc, "GetFunction", lambdaschemas.GetFunction, nil, func(*wire.Request, *lambda.GetFunctionInput) (*lambda.GetFunctionOutput, error) {
		return nil, &lambdatypes.ResourceNotFoundException{Message: aws.String("Function not found: " + nasty), Type: aws.String("User")}
	})
	wire.Handle(svc, "GetFunctionConfiguration", lambdaschemas.GetFunctionConfiguration, nil, func(*wire.Request, *lambda.GetFunctionConfigurationInput) (*lambda.GetFunctionConfigurationOutput, error) {
		return nil, &lambdatypes.TooManyRequestsException{Message: aws.String("Rate Exceeded."), RetryAfterSeconds: aws.String("7"), Reason: "ConcurrentInvocationLimitExceeded"}
	})
	wire.Handle(svc, "ListFunctions", lambdaschemas.ListFunctions, nil, func(_ *wire.Request, in *lambda.ListFunctionsInput) (*lambda.ListFunctionsOutput, error) {
		return &lambda.ListFunctionsOutput{NextMarker: aws.String(*in.Marker + string(in.FunctionVersion)), Functions: make([]lambdatypes.FunctionConfiguration, *in.MaxItems)}, nil
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := lambda.NewFromConfig(cfg)

	payload := []byte("\x00 not JSON " + nasty)
	iin := &lambda.InvokeInput{FunctionName: aws.String("arn:aws:lambda:eu-central-1:123456789012:function:f"), Qualifier: aws.String("live"), Payload: payload, LogType: "Tail"}
	iout := must[*lambda.InvokeOutput](t)(c.Invoke(ctx, iin))
	if diff := cmp.Diff(iin, invoked, ignoreSDK()); diff != "" {
		t.Errorf("Invoke input (-sent +received):\n%s", diff)
	}
	if !bytes.Equal(iout.Payload, payload) || iout.StatusCode != 200 || aws.ToString(iout.FunctionError) != "Unhandled" || aws.ToString(iout.ExecutedVersion) != "$LATEST" || aws.ToString(iout.LogResult) != "bG9n" {
		t.Errorf("Invoke output is %+v", iout)
	}
	for kind, status := range map[lambdatypes.InvocationType]int32{"Event": 202, "DryRun": 204} {
		if o := must[*lambda.InvokeOutput](t)(c.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f"), InvocationType: kind})); o.StatusCode != status || len(o.Payload) != 0 {
			t.Errorf("%s: status %d with %q, want %d without", kind, o.StatusCode, o.Payload, status)
		}
	}

	cin := &lambda.CreateFunctionInput{FunctionName: aws.String("f"), Role: aws.String("r"), Code: &lambdatypes.FunctionCode{ZipFile: []byte("PK\x03\x04\xff")}, Timeout: aws.Int32(15), Publish: true,
		Architectures: []lambdatypes.Architecture{"arm64"}, Environment: &lambdatypes.Environment{Variables: map[string]string{"A": nasty, "B": ""}}, Tags: map[string]string{"t": "1"}}
	cout := must[*lambda.CreateFunctionOutput](t)(c.CreateFunction(ctx, cin))
	if diff := cmp.Diff(cin, created, ignoreSDK()); diff != "" {
		t.Errorf("CreateFunction input (-sent +received):\n%s", diff)
	}
	if diff := cmp.Diff(cin.Environment.Variables, cout.Environment.Variables); diff != "" {
		t.Errorf("environment (-sent +received):\n%s", diff)
	}

	pin := &lambda.AddPermissionInput{FunctionName: aws.String("f"), Qualifier: aws.String("live"), StatementId: aws.String("s"), Action: aws.String("lambda:InvokeFunction"), Principal: aws.String("p"), SourceArn: aws.String("arn")}
	must[*lambda.AddPermissionOutput](t)(c.AddPermission(ctx, pin))
	if diff := cmp.Diff(pin, permitted, ignoreSDK()); diff != "" {
		t.Errorf("AddPermission input (-sent +received):\n%s", diff)
	}
	if o := must[*lambda.DeleteFunctionOutput](t)(c.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: aws.String("f")})); o.StatusCode != 204 {
		t.Errorf("DeleteFunction: status %d, want 204", o.StatusCode)
	}
	uin := &lambda.UntagResourceInput{Resource: aws.String("arn:aws:lambda:eu-central-1:123456789012:function:a/b"), TagKeys: []string{"x", "y,z"}}
	must[*lambda.UntagResourceOutput](t)(c.UntagResource(ctx, uin))
	if diff := cmp.Diff(uin, untagged, ignoreSDK()); diff != "" {
		t.Errorf("UntagResource input (-sent +received):\n%s", diff)
	}
	if l := must[*lambda.ListFunctionsOutput](t)(c.ListFunctions(ctx, &lambda.ListFunctionsInput{Marker: aws.String("m&="), MaxItems: aws.Int32(2), FunctionVersion: "ALL"})); *l.NextMarker != "m&=ALL" || len(l.Functions) != 2 {
		t.Errorf("ListFunctions: marker %q, %d functions", *l.NextMarker, len(l.Functions))
	}

	_, err := c.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: aws.String("f")})
	var missing *lambdatypes.ResourceNotFoundException
	if !errors.As(err, &missing) || missing.ErrorMessage() != "Function not found: "+nasty || aws.ToString(missing.Type) != "User" {
		t.Errorf("GetFunction = %v, want ResourceNotFoundException with its members", err)
	}
	_, err = c.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String("f")})
	var slow *lambdatypes.TooManyRequestsException
	if !errors.As(err, &slow) || aws.ToString(slow.RetryAfterSeconds) != "7" || slow.Reason != "ConcurrentInvocationLimitExceeded" {
		t.Errorf("GetFunctionConfiguration = %v, want TooManyRequestsException with its header and reason", err)
	}
	_, err = c.ListLayers(ctx, &lambda.ListLayersInput{})
	wantCode(t, err, "UnknownOperationException")
}
