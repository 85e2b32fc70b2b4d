package agent

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// wireFunc is the way to AWS.
type wireFunc func(*http.Request) (*http.Response, error)

func (f wireFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestValueIsSentOnce: whatever becomes of it, the SDK's own repetitions
// included: a value that arrives twice would inflate the sample count.
func TestValueIsSentOnce(t *testing.T) {
	answer := func(status int, code string) wireFunc {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"X-Amzn-Query-Error": {code + ";Sender"}, "X-Amzn-Errortype": {code}},
				Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		}
	}
	for name, wire := range map[string]wireFunc{
		"it arrives":                   answer(200, ""),
		"AWS fails":                    answer(500, "InternalServiceFault"),
		"AWS is not there":             answer(503, "ServiceUnavailable"),
		"AWS throttles":                answer(400, "Throttling"),
		"the answer is lost":           func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset by peer") },
		"the answer comes to an end":   func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"AWS refuses":                  answer(403, "AccessDenied"),
		"the connection is not opened": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			client := cloudwatch.New(cloudwatch.Options{
				Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), RetryMaxAttempts: 5, BaseEndpoint: aws.String("http://127.0.0.1:1"),
				HTTPClient: &http.Client{Transport: wireFunc(func(r *http.Request) (*http.Response, error) { sent++; return wire(r) })},
			})
			p := statetable.Probe{Group: "orders", Node: "a", Namespace: "HADR", Metric: "SQLLatency"}
			err := CloudWatch{client}.Put(t.Context(), p, time.Unix(1800000000, 0), 20001)
			if sent != 1 || err == nil && name != "it arrives" {
				t.Errorf("sent %d times: %v", sent, err)
			}
		})
	}
}
