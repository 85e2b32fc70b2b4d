package iam

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// clients have a method for every operation of their service.
var clients = map[string][]any{
	"dynamodb": {&dynamodb.Client{}, &dynamodbstreams.Client{}}, "ec2": {&ec2.Client{}}, "ssm": {&ssm.Client{}}, "monitoring": {&cloudwatch.Client{}}, "logs": {&cloudwatchlogs.Client{}},
	"lambda": {&lambda.Client{}}, "iam": {&api.Client{}}, "sts": {&sts.Client{}}, "sns": {&sns.Client{}}, "sqs": {&sqs.Client{}}, "scheduler": {&scheduler.Client{}}, "events": {&eventbridge.Client{}},
	"route53": {&route53.Client{}}, "kms": {&kms.Client{}},
}

// inputs returns an input of each operation in which everything is "x".
func inputs(service string) map[string]any {
	out := map[string]any{}
	for _, client := range clients[service] {
		addInputs(out, service, reflect.TypeOf(client))
	}
	return out
}

func addInputs(out map[string]any, service string, client reflect.Type) {
	for n := range client.NumMethod() {
		m := client.Method(n)
		if m.Type.NumIn() != 4 || m.Type.In(1) != reflect.TypeFor[context.Context]() || !strings.HasSuffix(m.Type.In(2).String(), "."+m.Name+"Input") {
			continue
		}
		if _, mapped := rules[service][m.Name]; mapped {
			v := reflect.New(m.Type.In(2).Elem())
			fill(v.Elem(), 5)
			out[m.Name] = v.Interface()
		}
	}
}

func fill(v reflect.Value, depth int) {
	if depth == 0 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for n := range v.NumField() {
			fill(v.Field(n), depth-1)
		}
	default: // numbers say nothing about resources
	}
}

func newCall(t *testing.T, service, operation string, input any) *call {
	t.Helper()
	prefix := service
	if p := prefixes[service]; p != "" {
		prefix = p
	}
	return &call{
		Request: &wire.Request{Service: service, Operation: operation, Region: "eu-west-1", Account: "111122223333"},
		input:   input, prefix: prefix, auth: New(world.New(clock.System())).Authorizer(),
	}
}

// anywhere are actions that may be asked on all resources of a type.
var anywhere = map[string]bool{"ec2:CreateTags": true, "ssm:SendCommand": true}

// Every rule is about an operation that the SDK has, and finds its resources
// in the input: a misspelt field would leave "*" behind.
func TestRulesFitTheSDK(t *testing.T) {
	for service, byName := range rules {
		all := inputs(service)
		for operation, r := range byName {
			input, ok := all[operation]
			if !ok {
				t.Errorf("%s has no operation %s", service, operation)
				continue
			}
			stars := strings.Join(r.resources, " ")
			for _, p := range r.permissions(newCall(t, service, operation, input)) {
				name := p.resource[strings.LastIndexAny(p.resource, ":/")+1:]
				tail := strings.HasSuffix(p.resource, ":log-stream:")
				if p.resource != "*" && !tail && (name == "" || name == "*" && !strings.Contains(stars, "*") && !anywhere[p.action]) {
					t.Errorf("%s: %s on %s: the resource is not taken from the input", operation, p.action, p.resource)
				}
				if p.resource == "*" && len(r.resources) > 0 {
					t.Errorf("%s: %s has no resource", operation, p.action)
				}
			}
			for _, template := range r.resources {
				for _, part := range strings.Split(template, "{")[1:] {
					field, _, _ := strings.Cut(part, "}")
					if field = strings.TrimSuffix(field, "?"); field != "region" && field != "account" && len(fields(input, field)) == 0 {
						t.Errorf("%s has no field %s", operation, field)
					}
				}
			}
		}
	}
}
