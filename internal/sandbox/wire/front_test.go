package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdaschemas "github.com/aws/aws-sdk-go-v2/service/lambda/schemas"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("error is %v, want code %s", err, code)
	}
}

const signature = "AWS4-HMAC-SHA256 Credential=AKID/20260301/eu-central-1/%s/aws4_request, SignedHeaders=host, Signature=00"

func everything() *wire.Server {
	s := wire.NewServer(wire.Options{Account: "123456789012"})
	cw, ddb, im, e, l := cloudWatch(), dynamoDB(), iamService(), ec2Service(), lambdaService()
	wire.Handle(cw, "PutMetricData", nil, nil, func(*wire.Request, *cloudwatch.PutMetricDataInput) (*cloudwatch.PutMetricDataOutput, error) {
		return nil, nil
	})
	wire.Handle(ddb, "PutItem", nil, nil, func(*wire.Request, *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) { return nil, nil })
	wire.Handle(im, "CreateRole", nil, nil, func(*wire.Request, *iam.CreateRoleInput) (*iam.CreateRoleOutput, error) { return nil, nil })
	wire.Handle(e, "RunInstances", nil, nil, func(*wire.Request, *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) { return nil, nil })
	wire.Handle(l, "CreateFunction", lambdaschemas.CreateFunction, nil, func(*wire.Request, *lambda.CreateFunctionInput) (*lambda.CreateFunctionOutput, error) {
		return nil, nil
	})
	r := &wire.Service{Name: "route53", Default: wire.RestXML}
	wire.HandleRoute(r, "ChangeResourceRecordSets", wire.Route{Method: http.MethodPost, Path: "/2013-04-01/hostedzone/{HostedZoneId}/rrset"}, func(*wire.Request, *route53.ChangeResourceRecordSetsInput) (*route53.ChangeResourceRecordSetsOutput, error) {
		return nil, nil
	})
	for _, svc := range []*wire.Service{cw, ddb, im, e, l, r} {
		s.Register(svc)
	}
	return s
}

// message is a request in the form of one protocol.
func message(protocol, body string) *http.Request {
	path, header, service := "/", http.Header{}, ""
	switch protocol {
	case "cbor":
		path, service = "/service/GraniteServiceVersion20100801/operation/PutMetricData", "monitoring"
		header.Set("Smithy-Protocol", "rpc-v2-cbor")
		header.Set("Content-Type", "application/cbor")
	case "json":
		service = "dynamodb"
		header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
		header.Set("Content-Type", "application/x-amz-json-1.0")
	case "query", "ec2":
		service = map[string]string{"query": "iam", "ec2": "ec2"}[protocol]
		header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	case "xml":
		path, service = "/2013-04-01/hostedzone/Z1/rrset", "route53"
		header.Set("Content-Type", "application/xml")
	case "rest":
		path, service = "/2015-03-31/functions", "lambda"
		header.Set("Content-Type", "application/json")
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	header.Set("Authorization", strings.Replace(signature, "%s", service, 1))
	r.Header = header
	return r
}

func TestFrontDoor(t *testing.T) {
	tests := []struct {
		name   string
		req    func() *http.Request
		status int
		want   string
	}{
		{"JSON that is none", func() *http.Request { return message("json", `{"Item":`) }, 400, `"__type":"SerializationException"`},
		{"XML that is none", func() *http.Request { return message("xml", `<r><a>`) }, 400, "<Code>SerializationException</Code>"},
		{"XML of another type", func() *http.Request {
			return message("xml", `<r><ChangeBatch><Comment><a/></Comment></ChangeBatch></r>`)
		}, 400, "ChangeBatch: Comment: expected a string, got a structure"},
		{"XML that is too deep", func() *http.Request { return message("xml", strings.Repeat("<a>", 40)) }, 400, "nested too deep"},
		{"JSON of another type", func() *http.Request { return message("json", `[1]`) }, 400, "expected a structure, got a list"},
		{"number for a string", func() *http.Request { return message("json", `{"TableName":1}`) }, 400, "TableName: expected a string, got a number"},
		{"unknown member of a union", func() *http.Request { return message("json", `{"Item":{"a":{"X":"1"}}}`) }, 400, "AttributeValue has no member X"},
		{"union with two members", func() *http.Request { return message("json", `{"Item":{"a":{"S":"1","N":"1"}}}`) }, 400, "more than one member"},
		{"union without members", func() *http.Request { return message("json", `{"Item":{"a":{}}}`) }, 400, "AttributeValue has no member"},
		{"union that is null", func() *http.Request { return message("json", `{"Item":{"a":null}}`) }, 400, "a: AttributeValue is null"},
		{"two JSON values", func() *http.Request { return message("json", `{} {}`) }, 400, "more than one JSON value"},
		{"unknown members are ignored", func() *http.Request { return message("json", `{"Later":{"x":[1]}}`) }, 200, "{}"},
		{"CBOR that is none", func() *http.Request { return message("cbor", "\xbf\x61") }, 400, "SerializationException"},
		{"CBOR nested too deep", func() *http.Request { return message("cbor", strings.Repeat("\x81", 1e6)) }, 400, "SerializationException"},
		{"form nested too deep", func() *http.Request { return message("query", "Action=CreateRole&"+strings.Repeat("a.", 100)+"b=1") }, 400, "MalformedQueryString"},
		{"text for a number in a form", func() *http.Request { return message("query", "Action=CreateRole&MaxSessionDuration=x") }, 400, "&#34;x&#34; is not an integer"},
		{"number out of range", func() *http.Request { return message("ec2", "Action=RunInstances&MinCount=3000000000") }, 400, "<Message>The query cannot be read: MinCount: 3000000000 is out of range</Message>"},
		{"REST body that is none", func() *http.Request { return message("rest", "{") }, 400, "unexpected EOF"},
		{"bad base64", func() *http.Request { return message("rest", `{"Code":{"ZipFile":"%"}}`) }, 400, "invalid base64"},
		{"unknown target", func() *http.Request {
			r := message("json", "{}")
			r.Header.Set("X-Amz-Target", "Kinesis_20131202.PutRecord")
			return r
		}, 501, "Kinesis_20131202.PutRecord"},
		{"unknown operation in JSON", func() *http.Request {
			r := message("json", "{}")
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ExportTable")
			return r
		}, 501, "does not serve the operation ExportTable of dynamodb"},
		{"unknown operation in a query", func() *http.Request { return message("query", "Action=CreateUser") }, 501, "<Code>UnknownOperationException</Code>"},
		{"unknown operation in an EC2 query", func() *http.Request { return message("ec2", "Action=CreateVpc") }, 501, "<Errors><Error><Code>UnknownOperationException</Code>"},
		{"unknown path", func() *http.Request {
			r := message("rest", "{}")
			r.URL.Path = "/2015-03-31/other"
			return r
		}, 501, "POST /2015-03-31/other"},
		{"not AWS at all", func() *http.Request { return httptest.NewRequest(http.MethodGet, "/favicon.ico", nil) }, 403, "Missing Authentication Token"},
		{"not signed, JSON", func() *http.Request {
			r := message("json", "{}")
			r.Header.Del("Authorization")
			return r
		}, 403, `"__type":"MissingAuthenticationTokenException"`},
		{"not signed, query", func() *http.Request {
			r := message("query", "Action=CreateRole&Version=2010-05-08")
			r.Header.Del("Authorization")
			return r
		}, 403, "<Code>MissingAuthenticationToken</Code>"},
		{"presigned query", func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/?Action=CreateRole&Version=2010-05-08&X-Amz-Credential=AKID/20260301/us-east-1/iam/aws4_request&X-Amz-Signature=0", nil)
		}, 200, "<CreateRoleResponse"},
		{"gzip that is none", func() *http.Request {
			r := message("json", "{}")
			r.Header.Set("Content-Encoding", "gzip")
			return r
		}, 400, "SerializationException"},
		{"gzip", func() *http.Request {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = io.WriteString(z, `{"TableName":7}`)
			_ = z.Close()
			r := message("json", b.String())
			r.Header.Set("Content-Encoding", "gzip")
			return r
		}, 400, "TableName"},
	}
	s := everything()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, tt.req())
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s\nwant %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
			if w.Header().Get("x-amzn-RequestId") == "" {
				t.Error("the answer has no x-amzn-RequestId")
			}
		})
	}
}

func TestHooks(t *testing.T) {
	svc := dynamoDB()
	calls := 0
	wire.Handle(svc, "PutItem", nil, nil, func(*wire.Request, *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		calls++
		if calls == 3 {
			panic("a bug")
		}
		return nil, nil
	})
	cfg, s := serve(t, wire.Options{Authorize: func(r *wire.Request, in any) *wire.Error {
		if *in.(*dynamodb.PutItemInput).TableName == "secret" {
			return wire.Errorf("AccessDeniedException", "%s may not %s:%s", r.Caller.ARN, r.Service, r.Operation)
		}
		return nil
	}}, svc)
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	c := dynamodb.NewFromConfig(cfg)
	put := func(table string) error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: map[string]ddbtypes.AttributeValue{}})
		return err
	}
	wantCode(t, put("secret"), "AccessDeniedException")
	if calls != 0 {
		t.Error("a denied operation ran")
	}
	fault := ""
	s.Intercept(func(_ *wire.Request, next func() (any, error)) (any, error) {
		switch fault {
		case "throttle":
			return nil, wire.Errorf("ThrottlingException", "Rate exceeded")
		case "lost":
			if _, err := next(); err != nil {
				return nil, err
			}
			return nil, wire.ErrLost
		}
		return next()
	})
	if err := put("t"); err != nil || calls != 1 {
		t.Errorf("without a fault: %v, %d calls", err, calls)
	}
	fault = "throttle"
	wantCode(t, put("t"), "ThrottlingException")
	fault = "lost"
	var api smithy.APIError
	if err := put("t"); err == nil || errors.As(err, &api) || calls != 2 {
		t.Errorf("lost answer: %v after %d calls, want a broken connection after 2", err, calls)
	}
	fault = ""
	wantCode(t, put("t"), "InternalFailure") // the third call panics
	if err := put("t"); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// In a bubble of synctest the clients reach the server without a socket, and
// the context of a client that gives up ends the operation.
func TestRoundTripper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := dynamoDB()
		ended := false
		wire.Handle(svc, "PutItem", nil, nil, func(r *wire.Request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
			if *in.TableName == "slow" {
				<-r.Context.Done()
				ended = true
			}
			time.Sleep(time.Second)
			return nil, nil
		})
		s := wire.NewServer(wire.Options{Account: "123456789012"})
		s.Register(svc)
		c := dynamodb.New(dynamodb.Options{
			Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), BaseEndpoint: aws.String("http://sandbox"),
			HTTPClient: &http.Client{Transport: s.RoundTripper()}, Retryer: aws.NopRetryer{},
		})
		start := time.Now()
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]ddbtypes.AttributeValue{}}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("took %v, want 1s", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("slow"), Item: map[string]ddbtypes.AttributeValue{}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want deadline exceeded", err)
		}
		time.Sleep(2 * time.Second)
		if !ended {
			t.Error("the operation outlived its client")
		}
		s.Intercept(func(*wire.Request, func() (any, error)) (any, error) { return nil, wire.ErrLost })
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]ddbtypes.AttributeValue{}}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("lost answer: %v, want unexpected EOF", err)
		}
	})
}

// No request may break the server, whatever it holds.
func FuzzServe(f *testing.F) {
	for _, p := range []string{"json", "cbor", "query", "ec2", "rest", "xml", ""} {
		f.Add(p, `{"Item":{"a":{"M":{"b":{"L":[{"N":"1"}]}}}},"Code":{"ZipFile":"UEs="}}`)
		f.Add(p, "Action=RunInstances&NetworkInterface.1.Groups.SecurityGroupId.1=a&Tags.member.1.Key=k&TagSpecification.99999999999.Tag.1.Key=")
		f.Add(p, "\xbf\x6aMetricData\x9f\xbf\x69Timestamp\xc1\xfb\x41\xd9\x60\x00\x00\x00\x00\x00\xff\xff\xff")
		f.Add(p, "<r><ChangeBatch><Changes><Change><Action>CREATE</Action><ResourceRecordSet><TTL>x</TTL></ResourceRecordSet></Change></Changes></ChangeBatch></r>")
		f.Add(p, "Action=CreateRole&Tags.member.1.Key.x=1&Tags=&Tags.member=1")
	}
	s := everything()
	f.Fuzz(func(t *testing.T, protocol, body string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, message(protocol, body))
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s: internal failure: %s", protocol, w.Body)
		}
	})
}

func BenchmarkPutMetricData(b *testing.B) {
	s := everything()
	body := "\xa2\x69Namespace\x61n\x6aMetricData\x98\xc8" + strings.Repeat("\xa2\x6aMetricName\x61m\x65Value\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", 200)
	for b.Loop() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, message("cbor", body))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
