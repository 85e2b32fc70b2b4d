package cloudwatch

import (
	"context"
	"errors"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// TestWithTheSDK drives the service through the SDK, in all protocols and in
// virtual time: an alarm with an expression and a composite alarm over it.
func TestWithTheSDK(t *testing.T) {
	for name, protocol := range map[string]func(*api.Options){
		"CBOR":  func(*api.Options) {},
		"JSON":  func(o *api.Options) { o.Protocol = awsjson.New10(schemas.GraniteServiceVersion20100801) },
		"Query": func(o *api.Options) { o.Protocol = awsquery.New(schemas.GraniteServiceVersion20100801) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				server := wire.NewServer(wire.Options{Account: account})
				server.Register(f.Service())
				client := api.New(api.Options{
					Region: region, BaseEndpoint: aws.String("http://sandbox"), HTTPClient: &http.Client{Transport: server.RoundTripper()},
					Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""), RetryMaxAttempts: 1,
				}, protocol)
				throughSDK(t, client)
			})
		})
	}
}

func throughSDK(t *testing.T, client *api.Client) {
	ctx := context.Background()
	m := statQuery("m1", "hb", "SampleCount", dims("Node", "a")...)
	m.ReturnData = aws.Bool(false)
	must[*api.PutMetricAlarmOutput](t)(client.PutMetricAlarm(ctx, &api.PutMetricAlarmInput{
		AlarmName: aws.String("silent"), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(2), ComparisonOperator: "LessThanThreshold",
		Metrics: []types.MetricDataQuery{exprQuery("e", "FILL(m1, 0)"), m}, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
	}))
	must[*api.PutCompositeAlarmOutput](t)(client.PutCompositeAlarm(ctx, &api.PutCompositeAlarmInput{
		AlarmName: aws.String("down"), AlarmRule: aws.String(`ALARM("silent")`), AlarmActions: []string{function},
	}))
	state := func() types.StateValue {
		o := must[*api.DescribeAlarmsOutput](t)(client.DescribeAlarms(ctx, &api.DescribeAlarmsInput{AlarmTypes: []types.AlarmType{"CompositeAlarm"}}))
		return o.CompositeAlarms[0].StateValue
	}
	var data []types.MetricDatum
	for range 300 { // over 10 KB: the SDK compresses it
		data = append(data, types.MetricDatum{MetricName: aws.String("hb"), Value: aws.Float64(1), Dimensions: dims("Node", "a")})
	}
	must[*api.PutMetricDataOutput](t)(client.PutMetricData(ctx, &api.PutMetricDataInput{Namespace: aws.String(space), MetricData: data}))
	time.Sleep(91 * time.Second)
	if got := state(); got != "OK" {
		t.Errorf("composite alarm is %s with 300 samples", got)
	}
	time.Sleep(time.Minute)
	if got := state(); got != "ALARM" {
		t.Errorf("composite alarm is %s after an empty minute", got)
	}
	o := must[*api.GetMetricDataOutput](t)(client.GetMetricData(ctx, &api.GetMetricDataInput{
		StartTime: aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now()), MetricDataQueries: []types.MetricDataQuery{statQuery("m1", "hb", "Sum", dims("Node", "a")...)},
	}))
	if v := o.MetricDataResults[0].Values; len(v) != 1 || v[0] != 300 {
		t.Errorf("sums are %v", v)
	}
	_, err := client.PutMetricData(ctx, &api.PutMetricDataInput{Namespace: aws.String(space), MetricData: []types.MetricDatum{{MetricName: aws.String("hb"), Value: aws.Float64(math.NaN())}}})
	var fault smithy.APIError
	if !errors.As(err, &fault) || fault.ErrorFault() == smithy.FaultServer {
		t.Errorf("NaN: %v", err)
	}
	_, err = client.SetAlarmState(ctx, &api.SetAlarmStateInput{AlarmName: aws.String("nobody"), StateValue: "OK", StateReason: aws.String("x")})
	var unknown *types.ResourceNotFound
	if !errors.As(err, &unknown) {
		t.Errorf("unknown alarm: %v", err)
	}
}
