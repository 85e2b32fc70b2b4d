//go:build unix

package lambda_test

import (
	"encoding/base64"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

var hostArchitecture = map[string]types.Architecture{"amd64": types.ArchitectureX8664, "arm64": types.ArchitectureArm64}[goruntime.GOARCH]

// fast is a clock on which settling takes no real time worth mentioning, while
// timeouts of 20 seconds still leave a process time to start.
func fast() *clock.Scaled { return clock.NewScaled(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 10) }

func newProcessClient(t *testing.T, c clock.Clock) *client {
	t.Helper()
	e, err := lambda.NewProcess(t.TempDir())
	noError(t, err)
	return newClient(t, c, e)
}

func TestProcessRunsTheUploadedCode(t *testing.T) {
	c := newProcessClient(t, fast())
	c.create(t, "f", nil)
	out := c.invoke(t, "f", `{"do":"print"}`)
	if out.StatusCode != 200 || out.FunctionError != nil || aws.ToString(out.ExecutedVersion) != "$LATEST" {
		t.Fatalf("status %d, error %q, version %q: %s", out.StatusCode, aws.ToString(out.FunctionError), aws.ToString(out.ExecutedVersion), out.Payload)
	}
	a := decode(t, out.Payload)
	for _, want := range []string{
		"TAG=one", "AWS_LAMBDA_FUNCTION_NAME=f", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128", "_HANDLER=bootstrap",
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=ASIAf", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=token", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/f", clock.EnvVar + "=" + c.world.Clock.(*clock.Scaled).String(),
	} {
		if !slices.Contains(a.Env, want) {
			t.Errorf("the environment has no %s", want)
		}
	}
	if a.Arn != "arn:aws:lambda:eu-central-1:123456789012:function:f" || len(a.ID) != 36 {
		t.Errorf("the function sees ARN %q and request %q", a.Arn, a.ID)
	}
	// 20 s on a clock ten times as fast are 2 s on the host's.
	if a.Left <= 0 || a.Left > 2 {
		t.Errorf("%.2f s are left on the host's clock, want at most 2", a.Left)
	}
	if again := decode(t, c.invoke(t, "f", `{}`).Payload); again.Pid != a.Pid || again.Count != 2 {
		t.Errorf("second run in process %d as run %d, want a warm environment", again.Pid, again.Count)
	}
	tail, err := base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
	noError(t, err)
	for _, want := range []string{"START RequestId: " + a.ID + " Version: $LATEST", "END RequestId: " + a.ID, "REPORT RequestId: " + a.ID, "Init Duration"} {
		if !strings.Contains(string(tail), want) {
			t.Errorf("LogResult has no %q: %s", want, tail)
		}
	}
	eventually(t, func() bool {
		return strings.Contains(c.logs.String(), "/aws/lambda/f did print") && strings.Contains(c.logs.String(), "/aws/lambda/f on stderr")
	}, func() string { return "the log lacks what the function printed:\n" + c.logs.String() })
}

func TestProcessFailures(t *testing.T) {
	c := newProcessClient(t, fast())
	c.create(t, "f", func(in *api.CreateFunctionInput) { in.Timeout = aws.Int32(10) })
	check := func(function, event, errorType, message string) {
		t.Helper()
		out := c.invoke(t, function, event)
		a := decode(t, out.Payload)
		if out.StatusCode != 200 || aws.ToString(out.FunctionError) != "Unhandled" || a.ErrorType != errorType || !strings.Contains(a.ErrorMessage, message) {
			t.Errorf("%s %s: status %d, FunctionError %q, payload %s\nwant %s: %s", function, event, out.StatusCode, aws.ToString(out.FunctionError), out.Payload, errorType, message)
		}
	}
	first := decode(t, c.invoke(t, "f", `{}`).Payload)
	check("f", `{"do":"fail"}`, "errorString", "told to fail")
	if a := decode(t, c.invoke(t, "f", `{}`).Payload); a.Pid != first.Pid {
		t.Error("an error of the handler ended the environment")
	}
	check("f", `{"do":"exit"}`, "Runtime.ExitError", "Runtime exited with error: exit status 7")
	second := decode(t, c.invoke(t, "f", `{}`).Payload)
	if second.Pid == first.Pid || second.Count != 1 {
		t.Error("the environment outlived its process")
	}
	check("f", `{"do":"sleep","ms":60000}`, "Sandbox.Timedout", "Task timed out after 10.00 seconds")
	if err := syscall.Kill(second.Pid, 0); err == nil {
		t.Error("the process outlived its timeout")
	}

	c.create(t, "init", func(in *api.CreateFunctionInput) { in.Environment.Variables["INIT"] = "exit" })
	check("init", `{}`, "Runtime.ExitError", "Error: Runtime exited with error: exit status 3")
	other := map[types.Architecture]types.Architecture{"arm64": "x86_64", "x86_64": "arm64"}[hostArchitecture]
	c.create(t, "other", func(in *api.CreateFunctionInput) { in.Architectures = []types.Architecture{other} })
	check("other", `{}`, "Runtime.InvalidEntrypoint", "cannot run code for "+string(other))
	c.create(t, "empty", func(in *api.CreateFunctionInput) { in.Code.ZipFile = zipped(t, map[string]string{"README": "x"}) })
	check("empty", `{}`, "Runtime.InvalidEntrypoint", "Couldn't find valid bootstrap")
	if log := c.logs.String(); !strings.Contains(log, "/aws/lambda/init cannot start") || !strings.Contains(log, "Status: timeout") {
		t.Errorf("the log lacks the start or the timeout:\n%s", log)
	}
}

// Events at the same time run in an environment each; reserved concurrency
// bounds them.
func TestProcessConcurrency(t *testing.T) {
	c := newProcessClient(t, fast())
	c.create(t, "f", nil)
	var wg sync.WaitGroup
	pids := make([]int, 2)
	for i := range pids {
		wg.Go(func() { pids[i] = decode(t, c.invoke(t, "f", `{"do":"sleep","ms":300}`).Payload).Pid })
	}
	wg.Wait()
	if pids[0] == pids[1] {
		t.Error("two events ran in one environment")
	}
	_, err := c.PutFunctionConcurrency(t.Context(), &api.PutFunctionConcurrencyInput{FunctionName: aws.String("f"), ReservedConcurrentExecutions: aws.Int32(0)})
	noError(t, err)
	_, err = c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f")})
	wantCode(t, err, "TooManyRequestsException")
}

func TestCloseEndsProcesses(t *testing.T) {
	c := newProcessClient(t, fast())
	c.create(t, "f", func(in *api.CreateFunctionInput) { in.Timeout = aws.Int32(900) })
	idle := decode(t, c.invoke(t, "f", `{}`).Payload).Pid
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f"), Payload: []byte(`{"do":"sleep","ms":60000}`)})
	}()
	eventually(t, func() bool { return strings.Count(c.logs.String(), "START") == 2 }, func() string { return c.logs.String() })
	c.lambda.Close()
	<-done
	if err := syscall.Kill(idle, 0); err == nil {
		t.Errorf("process %d is still there", idle)
	}
	_, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f")})
	wantCode(t, err, "ServiceException")
}

// eventually polls for what another process does; it fails after 10 seconds.
func eventually(t *testing.T, ok func() bool, why func() string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatal(fmt.Sprint("not in time: ", why()))
}
