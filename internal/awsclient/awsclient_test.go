package awsclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/imds"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func api(code string, fault smithy.ErrorFault) error {
	return fmt.Errorf("operation error: %w", &smithy.GenericAPIError{Code: code, Fault: fault})
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want failover.Outcome
	}{
		{"no error", nil, failover.OK},
		{"rejected by AWS", api("IncorrectInstanceState", smithy.FaultClient), failover.Failed},
		{"denied", api("UnauthorizedOperation", smithy.FaultUnknown), failover.Failed},
		{"throttled", api("RequestLimitExceeded", smithy.FaultClient), failover.Failed},
		{"fault of the service", api("InternalError", smithy.FaultServer), failover.Unknown},
		{"time-out of the service", api("RequestTimeoutException", smithy.FaultClient), failover.Unknown},
		{"status 503 without a code of its own", &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 503}},
			Err:      &smithy.GenericAPIError{Code: "UnknownError"},
		}, failover.Unknown},
		{"response lost", errors.New("read tcp: connection reset by peer"), failover.Unknown},
		{"time is up", context.DeadlineExceeded, failover.Unknown},
		{"parameters refused before sending", smithy.InvalidParamsError{}, failover.Failed},
		{"could not connect", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, failover.Failed},
		{"connection broke while reading", &net.OpError{Op: "read", Err: errors.New("reset")}, failover.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Outcome(tt.err); got != tt.want {
				t.Errorf("Outcome(%v) = %s, want %s", tt.err, got, tt.want)
			}
		})
	}
}

func TestClasses(t *testing.T) {
	tests := []struct {
		code                                     string
		notFound, denied, throttle, conditionBad bool
	}{
		{code: "InvalidInstanceID.NotFound", notFound: true},
		{code: "ResourceNotFoundException", notFound: true},
		{code: "NoSuchEntity", notFound: true},
		{code: "AccessDeniedException", denied: true},
		{code: "UnauthorizedOperation", denied: true},
		{code: "ThrottlingException", throttle: true},
		{code: "RequestLimitExceeded", throttle: true},
		{code: "ConditionalCheckFailedException", conditionBad: true},
		{code: "ValidationException"},
		{code: ""},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			err := api(tt.code, smithy.FaultClient)
			if IsNotFound(err) != tt.notFound || IsAccessDenied(err) != tt.denied ||
				IsThrottle(err) != tt.throttle || IsConditionFailed(err) != tt.conditionBad {
				t.Errorf("classes of %q: not found %v, denied %v, throttle %v, condition %v", tt.code,
					IsNotFound(err), IsAccessDenied(err), IsThrottle(err), IsConditionFailed(err))
			}
		})
	}
}

// isolate keeps the configuration of the machine that runs the tests out.
func isolate(t *testing.T) {
	t.Helper()
	for _, k := range []string{"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"} {
		t.Setenv(k, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
}

func TestLoadNamesTheMissingRegion(t *testing.T) {
	isolate(t)
	_, err := Load(t.Context(), Options{Version: "1.2.3"})
	if err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("Load without a Region: %v, want an error that says where to set it", err)
	}
}

// TestLoadOnAMachine: a service on an EC2 instance finds its Region where nobody
// has configured one, and only there.
func TestLoadOnAMachine(t *testing.T) {
	metadata := imds.New(world.New(clock.System()), func(string) (imds.Instance, bool) {
		return imds.Instance{Machine: world.Machine{InstanceID: "i-0a", Region: "eu-west-3", Zone: "eu-west-3a"}}, true
	})
	here := httptest.NewServer(metadata.Handler("i-0a"))
	defer here.Close()
	nowhere := httptest.NewServer(http.NotFoundHandler())
	defer nowhere.Close()
	tests := []struct {
		name     string
		metadata string
		machine  bool
		declared string
		want     string // "" = an error that says what to set
	}{
		{"on an instance", here.URL, true, "", "eu-west-3"},
		{"a configured Region comes first", here.URL, true, "eu-central-1", "eu-central-1"},
		{"not on an instance", nowhere.URL, true, "", ""},
		{"a command for people, which guesses nothing", here.URL, false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", tt.metadata)
			t.Setenv("AWS_REGION", tt.declared)
			cfg, err := Load(t.Context(), Options{OnMachine: tt.machine})
			if cfg.Region != tt.want || (err == nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), "AWS_REGION") {
				t.Errorf("Region %q, %v; want %q", cfg.Region, err, tt.want)
			}
		})
	}
}

func TestLoadUsesEndpointAndUserAgent(t *testing.T) {
	isolate(t)
	var agent, auth string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, auth = r.UserAgent(), r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	}))
	defer srv.Close()
	t.Setenv("AWS_ENDPOINT_URL", srv.URL)

	cfg, err := Load(t.Context(), Options{Version: "1.2.3", Region: "eu-central-1", AccessKey: "AKIDEXAMPLE", SecretKey: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err == nil {
		t.Error("a call answered with 403 succeeded")
	}
	if !strings.Contains(agent, "hadr/1.2.3") {
		t.Errorf("user agent %q does not name hadr/1.2.3", agent)
	}
	if !strings.Contains(auth, "AKIDEXAMPLE") || !strings.Contains(auth, "eu-central-1") {
		t.Errorf("request is not signed with the given key and Region: %q", auth)
	}
}

func TestLoadTakesARole(t *testing.T) {
	isolate(t)
	var asked, auth string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if r.Form.Get("Action") == "AssumeRole" {
			asked = r.Form.Encode()
			fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
				<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
				<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
			return
		}
		auth = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	}))
	defer srv.Close()
	t.Setenv("AWS_ENDPOINT_URL", srv.URL)

	cfg, err := Load(t.Context(), Options{
		Region: "eu-central-1", AccessKey: "AKIDEXAMPLE", SecretKey: "secret",
		AssumeRole: &AssumeRole{ARN: "arn:aws:iam::123456789012:role/hadr", ExternalID: "ext", Duration: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	for _, want := range []string{"role%2Fhadr", "ExternalId=ext", "DurationSeconds=3600", "RoleSessionName=hadr"} {
		if !strings.Contains(asked, want) {
			t.Errorf("AssumeRole was asked for with %q, without %s", asked, want)
		}
	}
	if !strings.Contains(auth, "ASIAROLE") {
		t.Errorf("the call is signed with %q, not as the role", auth)
	}
}

func TestLoadReadsAProfile(t *testing.T) {
	isolate(t)
	file := t.TempDir() + "/config"
	if err := os.WriteFile(file, []byte("[profile ops]\nregion = us-west-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(t.Context(), Options{Profile: "ops", ConfigFiles: []string{file}, MaxRetries: 4})
	if err != nil || cfg.Region != "us-west-2" || cfg.RetryMaxAttempts != 5 {
		t.Errorf("Region %q, %d attempts, %v", cfg.Region, cfg.RetryMaxAttempts, err)
	}
	_, err = Load(t.Context(), Options{Profile: "nobody", ConfigFiles: []string{file}})
	if err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a profile that does not exist: %v", err)
	}
}
