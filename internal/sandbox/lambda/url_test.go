package lambda_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
func TestFunctionURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var event string
		answer := `{"statusCode":201,"headers":{"X-One":"1"},"cookies":["a=b"],"body":"aGk=","isBase64Encoded":true}`
		c := newClient(t, clock.System(), lambda.NewInProcess(map[string]lambda.Handler{"bootstrap": func(_ context.Context, c lambda.Call) ([]byte, error) {
			event = string(c.Event)
			if answer == "" {
				return nil, errors.New("told to fail")
			}
			return []byte(answer), nil
		}}))
		c.create(t, "f", nil)
		f := aws.String("f")
		_, err := c.GetFunctionUrlConfig(t.Context(), &api.GetFunctionUrlConfigInput{FunctionName: f})
		wantCode(t, err, "ResourceNotFoundException")
		u, err := c.CreateFunctionUrlConfig(t.Context(), &api.CreateFunctionUrlConfigInput{FunctionName: f, AuthType: "NONE"})
		noError(t, err)
		_, err = c.CreateFunctionUrlConfig(t.Context(), &api.CreateFunctionUrlConfigInput{FunctionName: f, AuthType: "NONE"})
		wantCode(t, err, "ResourceConflictException")
		call := func(body string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			path := strings.TrimPrefix(*u.FunctionUrl, c.world.Endpoint) + "some/path?q=1"
			c.lambda.URLs().ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
			return w
		}
		permit := func(in api.AddPermissionInput) {
			in.FunctionName, in.Principal = f, aws.String("*")
			_, err := c.AddPermission(t.Context(), &in)
			noError(t, err)
		}
		if w := call(`{}`); w.Code != http.StatusForbidden || event != "" {
			t.Errorf("without a permission: status %d, event %s", w.Code, event)
		}
		permit(api.AddPermissionInput{StatementId: aws.String("url"), Action: aws.String("lambda:InvokeFunctionUrl"), FunctionUrlAuthType: "NONE"})
		if w := call(`{}`); w.Code != http.StatusForbidden {
			t.Errorf("with one of two permissions: status %d", w.Code)
		}
		permit(api.AddPermissionInput{StatementId: aws.String("invoke"), Action: aws.String("lambda:InvokeFunction"), InvokedViaFunctionUrl: aws.Bool(true)})
		w := call(`{"x":"ü"}`)
		if w.Code != 201 || w.Body.String() != "hi" || w.Header().Get("X-One") != "1" || w.Header().Get("Set-Cookie") != "a=b" {
			t.Errorf("answer is %d %v %s", w.Code, w.Header(), w.Body)
		}
		for _, want := range []string{`"version":"2.0"`, `"rawPath":"/some/path"`, `"rawQueryString":"q=1"`, `"queryStringParameters":{"q":"1"}`, `"method":"POST"`, `"body":"{\"x\":\"ü\"}"`} {
			if !strings.Contains(event, want) {
				t.Errorf("the event has no %s: %s", want, event)
			}
		}
		answer = `["plain"]`
		if w := call("\xff"); w.Code != 200 || w.Body.String() != answer || !strings.Contains(event, `"body":"/w==","headers"`) || !strings.Contains(event, `"isBase64Encoded":true`) {
			t.Errorf("answer is %d %s to %s", w.Code, w.Body, event)
		}
		answer = ""
		if w := call(""); w.Code != http.StatusBadGateway {
			t.Errorf("an error of the function is %d, want 502", w.Code)
		}
		_, err = c.UpdateFunctionUrlConfig(t.Context(), &api.UpdateFunctionUrlConfigInput{FunctionName: f, AuthType: "AWS_IAM"})
		noError(t, err)
		if w := call(""); w.Code != http.StatusForbidden {
			t.Errorf("AWS_IAM without a signature is %d, want 403", w.Code)
		}
		_, err = c.DeleteFunctionUrlConfig(t.Context(), &api.DeleteFunctionUrlConfigInput{FunctionName: f})
		noError(t, err)
		if w := call(""); w.Code != http.StatusNotFound {
			t.Errorf("a deleted URL is %d, want 404", w.Code)
		}
		c.lambda.Close()
	})
}
