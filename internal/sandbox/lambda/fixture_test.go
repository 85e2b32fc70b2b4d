package lambda_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	runtime "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// TestMain makes the test binary the bootstrap of the functions that the tests
// upload: in an execution environment it is the function.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		bootstrap()
		return
	}
	goleak.VerifyTestMain(m)
}

type instruction struct {
	Do string
	Ms int
}

// bootstrap is the function: it does what the event says.
func bootstrap() {
	if os.Getenv("INIT") == "exit" {
		fmt.Println("cannot start")
		os.Exit(3)
	}
	count := 0
	runtime.Start(func(ctx context.Context, in instruction) (map[string]any, error) {
		count++
		switch in.Do {
		case "fail":
			return nil, errors.New("told to fail")
		case "exit":
			os.Exit(7)
		case "sleep":
			time.Sleep(time.Duration(in.Ms) * time.Millisecond)
		case "wait":
			<-ctx.Done()
		}
		fmt.Println("did", in.Do)
		fmt.Fprintln(os.Stderr, "on stderr")
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return map[string]any{"env": os.Environ(), "count": count, "arn": lc.InvokedFunctionArn, "id": lc.AwsRequestID, "pid": os.Getpid(), "left": time.Until(deadline).Seconds()}, nil
	})
}

// zipped is a deployment package whose bootstrap is this test binary.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o755)
		w, err := z.CreateHeader(h)
		noError(t, err)
		_, err = w.Write([]byte(content))
		noError(t, err)
	}
	noError(t, z.Close())
	return b.Bytes()
}

const script = "#!/bin/sh\nexec \"$TEST_BINARY\" -test.run='^$'\n"

type client struct {
	*api.Client
	lambda *lambda.Lambda
	world  *world.World
	sent   *messages
	logs   *logLines
	role   *identity
}

func newClient(t *testing.T, c clock.Clock, e lambda.Executor) *client {
	t.Helper()
	w := world.New(c)
	k := &client{world: w, sent: &messages{}, logs: &logLines{}, role: &identity{}}
	w.Messages, w.Logs, w.Identity, w.Endpoint = k.sent, k.logs, k.role, "http://127.0.0.1:1"
	k.lambda = lambda.New(w, e)
	w.Functions = k.lambda
	s := wire.NewServer(wire.Options{Account: world.DefaultAccount, RequestID: w.UUID})
	s.Register(k.lambda.Service())
	k.Client = api.New(api.Options{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), BaseEndpoint: aws.String("http://sandbox"),
		HTTPClient: &http.Client{Transport: s.RoundTripper()}, Retryer: aws.NopRetryer{},
	})
	t.Cleanup(k.lambda.Close)
	return k
}

// create makes a function and waits until it is active.
func (c *client) create(t *testing.T, name string, more func(*api.CreateFunctionInput)) {
	t.Helper()
	_, err := c.CreateFunction(t.Context(), c.input(t, name, more))
	noError(t, err)
	noError(t, c.world.Clock.Sleep(t.Context(), time.Second))
}

func (c *client) input(t *testing.T, name string, more func(*api.CreateFunctionInput)) *api.CreateFunctionInput {
	t.Helper()
	binary, err := os.Executable()
	noError(t, err)
	in := &api.CreateFunctionInput{
		FunctionName: &name, Role: aws.String("arn:aws:iam::123456789012:role/fn"), Runtime: types.RuntimeProvidedal2023, Handler: aws.String("bootstrap"),
		Code: &types.FunctionCode{ZipFile: zipped(t, map[string]string{"bootstrap": script})}, Architectures: []types.Architecture{hostArchitecture},
		Environment: &types.Environment{Variables: map[string]string{"TEST_BINARY": binary, "TAG": "one"}}, Timeout: aws.Int32(20),
	}
	if more != nil {
		more(in)
	}
	return in
}

func (c *client) invoke(t *testing.T, name, event string) *api.InvokeOutput {
	t.Helper()
	out, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: &name, Payload: []byte(event), LogType: "Tail"})
	noError(t, err)
	return out
}

// answer is what the functions of the tests return.
type answer struct {
	Env          []string
	Count, Pid   int
	Arn, ID      string
	Left         float64
	ErrorType    string
	ErrorMessage string
}

func decode(t *testing.T, b []byte) (a answer) {
	t.Helper()
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return a
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e smithy.APIError
	var w *wire.Error
	if errors.As(err, &w) && w.Code == code || errors.As(err, &e) && e.ErrorCode() == code {
		return
	}
	t.Errorf("error is %v, want %s", err, code)
}

// messages records what destinations receive.
type messages struct {
	mu  sync.Mutex
	all []message
}

type message struct {
	target string
	body   []byte
	at     time.Time
}

func (m *messages) Deliver(target, _ string, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, message{target, body, time.Now()})
	return nil
}

func (m *messages) got() []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

type logLines struct {
	mu  sync.Mutex
	all []string // GROUP LINE
}

func (l *logLines) PutLog(_, _, group, stream string, _ time.Time, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !strings.Contains(stream, "[") {
		message = "bad stream " + stream
	}
	l.all = append(l.all, group+" "+strings.TrimSuffix(message, "\n"))
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// identity knows one role.
type identity struct{ denyPass bool }

func (i *identity) ServiceSession(role, service, session string) (world.Credentials, error) {
	if role != "arn:aws:iam::123456789012:role/fn" || service != "lambda.amazonaws.com" {
		return world.Credentials{}, errors.New("no trust")
	}
	return world.Credentials{AccessKey: "ASIA" + session, SecretKey: "secret", SessionToken: "token", RoleARN: role}, nil
}

func (i *identity) InstanceProfileRole(string) (string, error) { return "", errors.New("none") }

func (i *identity) CheckPassRole(caller, role, _ string) error {
	if i.denyPass {
		return wire.Errorf("AccessDeniedException", "%s may not pass %s", caller, role).WithStatus(403)
	}
	return nil
}
