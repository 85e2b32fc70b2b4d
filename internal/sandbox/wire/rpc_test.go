package wire_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// nasty is text that breaks encoders.
const nasty = "Größe <&>\"' \u2028 日本 \U0001F600 a+b=c%20;d"

func ignoreSDK() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && (f.Name() == "ResultMetadata" || f.Name() == "noSmithyDocumentSerde")
	}, cmp.Ignore())
}

// The SDK speaks CBOR to CloudWatch, the AWS CLI speaks JSON, older clients
// speak Query: all reach the same operation with the same input and answer.
func TestCloudWatchSpeaksThreeProtocols(t *testing.T) {
	protocols := map[string]func(*cloudwatch.Options){
		"CBOR":  func(*cloudwatch.Options) {},
		"JSON":  func(o *cloudwatch.Options) { o.Protocol = awsjson.New10(cwschemas.GraniteServiceVersion20100801) },
		"Query": func(o *cloudwatch.Options) { o.Protocol = awsquery.New(cwschemas.GraniteServiceVersion20100801) },
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
	in := &cloudwatch.PutMetricDataInput{
		Namespace: aws.String("HADR"),
		MetricData: []cwtypes.MetricDatum{
			{MetricName: aws.String(nasty), Timestamp: &at, Value: aws.Float64(-0.25), Unit: "Milliseconds", StorageResolution: aws.Int32(1),
				Dimensions: []cwtypes.Dimension{{Name: aws.String("Group"), Value: aws.String("payments")}, {Name: aws.String("Node"), Value: aws.String("a")}}},
			{MetricName: aws.String("m2"), Values: []float64{1, 2.5, 1e-9}, Counts: []float64{1, 2, 3},
				StatisticValues: &cwtypes.StatisticSet{Maximum: aws.Float64(1), Minimum: aws.Float64(0), SampleCount: aws.Float64(2), Sum: aws.Float64(3)}},
		},
	}
	alarms := &cloudwatch.DescribeAlarmsOutput{
		MetricAlarms: []cwtypes.MetricAlarm{{
			AlarmName: aws.String(nasty), AlarmDescription: aws.String(""), ActionsEnabled: aws.Bool(false), Period: aws.Int32(20), Threshold: aws.Float64(1e6),
			StateValue: "ALARM", StateUpdatedTimestamp: &at, AlarmActions: []string{"arn:1", "arn:2"},
			Metrics: []cwtypes.MetricDataQuery{{Id: aws.String("e"), Expression: aws.String("IF(a<b,1,0)"), ReturnData: aws.Bool(true)}},
		}},
		CompositeAlarms: []cwtypes.CompositeAlarm{{AlarmName: aws.String("c"), AlarmRule: aws.String(`ALARM("x") AND NOT OK(y)`)}},
	}
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			svc := cloudWatch()
			var got *cloudwatch.PutMetricDataInput
			wire.Handle(svc, "PutMetricData", nil, nil, func(_ *wire.Request, in *cloudwatch.PutMetricDataInput) (*cloudwatch.PutMetricDataOutput, error) {
				got = in
				return nil, nil
			})
			wire.Handle(svc, "DescribeAlarms", nil, nil, func(*wire.Request, *cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error) {
				return alarms, nil
			})
			wire.Handle(svc, "DeleteAlarms", nil, nil, func(*wire.Request, *cloudwatch.DeleteAlarmsInput) (*cloudwatch.DeleteAlarmsOutput, error) {
				return nil, &cwtypes.ResourceNotFound{Message: aws.String(nasty)}
			})
			wire.Handle(svc, "DescribeAlarmHistory", nil, nil, func(*wire.Request, *cloudwatch.DescribeAlarmHistoryInput) (*cloudwatch.DescribeAlarmHistoryOutput, error) {
				return nil, wire.Errorf("InvalidNextToken", "bad token")
			})
			cfg, _ := serve(t, wire.Options{}, svc)
			c := cloudwatch.NewFromConfig(cfg, protocol)
			must[*cloudwatch.PutMetricDataOutput](t)(c.PutMetricData(ctx, in))
			if diff := cmp.Diff(in, got, ignoreSDK(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("input (-sent +received):\n%s", diff)
			}
			out := must[*cloudwatch.DescribeAlarmsOutput](t)(c.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{}))
			if diff := cmp.Diff(alarms, out, ignoreSDK(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("output (-sent +received):\n%s", diff)
			}
			_, err := c.DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{"x"}})
			var notFound *cwtypes.ResourceNotFound
			if !errors.As(err, &notFound) || notFound.ErrorMessage() != nasty {
				t.Errorf("DeleteAlarms = %v, want *types.ResourceNotFound with the message", err)
			}
			_, err = c.DescribeAlarmHistory(ctx, &cloudwatch.DescribeAlarmHistoryInput{})
			var token *cwtypes.InvalidNextToken
			if !errors.As(err, &token) || token.ErrorMessage() != "bad token" {
				t.Errorf("DescribeAlarmHistory = %v, want *types.InvalidNextToken", err)
			}
		})
	}
}

// A body over 10 kB arrives compressed.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-compression.html
func TestCompressedBody(t *testing.T) {
	svc := cloudWatch()
	var n int
	var encoding string
	wire.Handle(svc, "PutMetricData", nil, nil, func(r *wire.Request, in *cloudwatch.PutMetricDataInput) (*cloudwatch.PutMetricDataOutput, error) {
		n, encoding = len(in.MetricData), r.HTTP.Header.Get("Content-Encoding")
		return nil, nil
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	in := &cloudwatch.PutMetricDataInput{Namespace: aws.String("n")}
	for i := range 1000 {
		in.MetricData = append(in.MetricData, cwtypes.MetricDatum{MetricName: aws.String(fmt.Sprint("metric", i)), Value: aws.Float64(float64(i))})
	}
	must[*cloudwatch.PutMetricDataOutput](t)(cloudwatch.NewFromConfig(cfg).PutMetricData(ctx, in))
	if n != 1000 || encoding != "gzip" {
		t.Errorf("%d data with encoding %q, want 1000 with gzip", n, encoding)
	}
}

func TestDynamoDBAttributeValues(t *testing.T) {
	item := map[string]ddbtypes.AttributeValue{
		"s":    &ddbtypes.AttributeValueMemberS{Value: nasty},
		"zero": &ddbtypes.AttributeValueMemberS{Value: ""},
		"n":    &ddbtypes.AttributeValueMemberN{Value: "123456789012345678901234567890.5"},
		"b":    &ddbtypes.AttributeValueMemberB{Value: []byte{0, 255, 1}},
		"bool": &ddbtypes.AttributeValueMemberBOOL{Value: true},
		"null": &ddbtypes.AttributeValueMemberNULL{Value: true},
		"ss":   &ddbtypes.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"ns":   &ddbtypes.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"bs":   &ddbtypes.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"m": &ddbtypes.AttributeValueMemberM{Value: map[string]ddbtypes.AttributeValue{
			"l": &ddbtypes.AttributeValueMemberL{Value: []ddbtypes.AttributeValue{&ddbtypes.AttributeValueMemberN{Value: "1"}, &ddbtypes.AttributeValueMemberM{Value: map[string]ddbtypes.AttributeValue{}}}},
		}},
	}
	svc := dynamoDB()
	wire.Handle(svc, "PutItem", nil, nil, func(_ *wire.Request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		return &dynamodb.PutItemOutput{Attributes: in.Item}, nil
	})
	wire.Handle(svc, "UpdateItem", nil, nil, func(*wire.Request, *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
		return nil, &ddbtypes.ConditionalCheckFailedException{Message: aws.String("The conditional request failed"), Item: item}
	})
	wire.Handle(svc, "DeleteItem", nil, nil, func(*wire.Request, *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
		e := wire.Errorf("ConditionalCheckFailedException", "The conditional request failed")
		e.Fields = map[string]any{"Item": item}
		return nil, e
	})
	reasons := []ddbtypes.CancellationReason{{Code: aws.String("None")}, {Code: aws.String("ConditionalCheckFailed"), Item: item, Message: aws.String("m")}}
	wire.Handle(svc, "TransactWriteItems", nil, nil, func(*wire.Request, *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
		return nil, fmt.Errorf("in a transaction: %w", &ddbtypes.TransactionCanceledException{Message: aws.String("cancelled"), CancellationReasons: reasons})
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	wire.Handle(svc, "DescribeTable", nil, nil, func(*wire.Request, *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
		return &dynamodb.DescribeTableOutput{Table: &ddbtypes.TableDescription{CreationDateTime: &at, ItemCount: aws.Int64(math.MaxInt64), TableStatus: "ACTIVE"}}, nil
	})
	wire.Handle(svc, "GetItem", nil, nil, func(*wire.Request, *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
		return nil, errors.New("disk full")
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := dynamodb.NewFromConfig(cfg)

	out := must[*dynamodb.PutItemOutput](t)(c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("t"), Item: item}))
	if diff := cmp.Diff(item, out.Attributes, ignoreSDK(), cmpopts.IgnoreUnexported(
		ddbtypes.AttributeValueMemberS{}, ddbtypes.AttributeValueMemberN{}, ddbtypes.AttributeValueMemberB{}, ddbtypes.AttributeValueMemberBOOL{},
		ddbtypes.AttributeValueMemberNULL{}, ddbtypes.AttributeValueMemberSS{}, ddbtypes.AttributeValueMemberNS{}, ddbtypes.AttributeValueMemberBS{},
		ddbtypes.AttributeValueMemberM{}, ddbtypes.AttributeValueMemberL{})); diff != "" {
		t.Errorf("item (-sent +received):\n%s", diff)
	}
	for name, call := range map[string]func() error{
		"modelled exception": func() error {
			_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("t"), Key: item})
			return err
		},
		"wire.Error": func() error {
			_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("t"), Key: item})
			return err
		},
	} {
		var failed *ddbtypes.ConditionalCheckFailedException
		if err := call(); !errors.As(err, &failed) || len(failed.Item) != len(item) || failed.ErrorMessage() != "The conditional request failed" {
			t.Errorf("%s: got %v, want ConditionalCheckFailedException with its item", name, err)
		}
	}
	_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []ddbtypes.TransactWriteItem{{}}})
	var cancelled *ddbtypes.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 || aws.ToString(cancelled.CancellationReasons[1].Code) != "ConditionalCheckFailed" || cancelled.ErrorMessage() != "cancelled" {
		t.Errorf("TransactWriteItems = %v, want TransactionCanceledException with its reasons", err)
	}
	d := must[*dynamodb.DescribeTableOutput](t)(c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("t")}))
	if !d.Table.CreationDateTime.Equal(at) || *d.Table.ItemCount != math.MaxInt64 {
		t.Errorf("created %v with %d items, want %v with %d", d.Table.CreationDateTime, *d.Table.ItemCount, at, math.MaxInt64)
	}
	_, err = c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("t"), Key: item})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "InternalFailure" || api.ErrorMessage() != "disk full" {
		t.Errorf("GetItem = %v, want InternalFailure: disk full", err)
	}
}
