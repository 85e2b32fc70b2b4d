package wire_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbschemas "github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamschemas "github.com/aws/aws-sdk-go-v2/service/iam/schemas"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdaschemas "github.com/aws/aws-sdk-go-v2/service/lambda/schemas"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	stsschemas "github.com/aws/aws-sdk-go-v2/service/sts/schemas"
	"github.com/aws/smithy-go/middleware"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func init() {
	wire.RegisterUnion[ddbtypes.AttributeValue](
		&ddbtypes.AttributeValueMemberB{}, &ddbtypes.AttributeValueMemberBOOL{}, &ddbtypes.AttributeValueMemberBS{},
		&ddbtypes.AttributeValueMemberL{}, &ddbtypes.AttributeValueMemberM{}, &ddbtypes.AttributeValueMemberN{},
		&ddbtypes.AttributeValueMemberNS{}, &ddbtypes.AttributeValueMemberNULL{}, &ddbtypes.AttributeValueMemberS{},
		&ddbtypes.AttributeValueMemberSS{})
}

// The services as the sandbox declares them.

func cloudWatch() *wire.Service {
	return &wire.Service{Name: "monitoring", Target: "GraniteServiceVersion20100801", Version: "2010-08-01",
		Namespace: "http://monitoring.amazonaws.com/doc/2010-08-01/", Default: wire.CBOR,
		Schema: cwschemas.GraniteServiceVersion20100801, Types: cloudwatch.TypeRegistry}
}

func dynamoDB() *wire.Service {
	return &wire.Service{Name: "dynamodb", Target: "DynamoDB_20120810", Version: "2012-08-10", Default: wire.JSON10,
		Schema: ddbschemas.DynamoDB_20120810, Types: dynamodb.TypeRegistry}
}

func iamService() *wire.Service {
	return &wire.Service{Name: "iam", Version: "2010-05-08", Namespace: "https://iam.amazonaws.com/doc/2010-05-08/",
		Default: wire.Query, Schema: iamschemas.AWSIdentityManagementV20100508, Types: iam.TypeRegistry}
}

func stsService() *wire.Service {
	return &wire.Service{Name: "sts", Version: "2011-06-15", Namespace: "https://sts.amazonaws.com/doc/2011-06-15/",
		Default: wire.Query, Schema: stsschemas.AWSSecurityTokenServiceV20110615, Types: sts.TypeRegistry}
}

func ec2Service() *wire.Service {
	return &wire.Service{Name: "ec2", Version: "2016-11-15", Namespace: "http://ec2.amazonaws.com/doc/2016-11-15/", Default: wire.EC2Query}
}

func lambdaService() *wire.Service {
	return &wire.Service{Name: "lambda", Version: "2015-03-31", Default: wire.RestJSON,
		Schema: lambdaschemas.AWSGirApiService, Types: lambda.TypeRegistry}
}

// serve starts a server with svc and returns the configuration of its clients.
func serve(t *testing.T, opt wire.Options, svc ...*wire.Service) (aws.Config, *wire.Server) {
	t.Helper()
	if opt.Account == "" {
		opt.Account = "123456789012"
	}
	s := wire.NewServer(opt)
	for _, v := range svc {
		s.Register(v)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return aws.Config{
		Region:           "eu-central-1",
		Credentials:      credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "token"),
		BaseEndpoint:     aws.String(h.URL),
		RetryMaxAttempts: 1,
		HTTPClient:       &http.Client{},
		APIOptions:       []func(*middleware.Stack) error{awsclient.PlainBody},
	}, s
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var ctx = context.Background()
