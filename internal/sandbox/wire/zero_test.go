package wire

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// Zero numbers and false are told where AWS tells them, however deep, and
// nothing else is added.
func TestZerosAreTold(t *testing.T) {
	tests := []struct {
		name string
		out  any
		want string
	}{
		{"a number", &eventbridge.PutTargetsOutput{}, `{"FailedEntryCount":0}`},
		{"one that is there", &eventbridge.PutTargetsOutput{FailedEntryCount: 2}, `{"FailedEntryCount":2}`},
		{"numbers beside attribute values", &dynamodb.ScanOutput{Items: []map[string]dynamodbtypes.AttributeValue{{"b": &dynamodbtypes.AttributeValueMemberBOOL{}}}},
			`{"Items":[{"b":{"BOOL":false}}],"Count":0,"ScannedCount":0}`},
		{"a truth value", &iam.ListRolesOutput{}, `{"IsTruncated":false}`},
		{"what may be absent", &dynamodb.UpdateItemOutput{ConsumedCapacity: &dynamodbtypes.ConsumedCapacity{TableName: aws.String("t")}}, `{"ConsumedCapacity":{"TableName":"t"}}`},
		{"within a list", &ssm.GetParametersOutput{Parameters: []ssmtypes.Parameter{{Name: aws.String("p")}}}, `{"Parameters":[{"Name":"p","Version":0}]}`},
		{"the status of an answer", &lambda.InvokeOutput{}, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := describe(tt.out)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(appendJSON(nil, n, false)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
