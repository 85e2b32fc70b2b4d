package provider

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type stateTableModel struct {
	ID                  types.String `tfsdk:"id"`
	ARN                 types.String `tfsdk:"arn"`
	Name                types.String `tfsdk:"name"`
	DeletionProtection  types.Bool   `tfsdk:"deletion_protection"`
	PointInTimeRecovery types.Bool   `tfsdk:"point_in_time_recovery"`
	KMSKeyARN           types.String `tfsdk:"kms_key_arn"`
	Tags                types.Map    `tfsdk:"tags"`
	TagsAll             types.Map    `tfsdk:"tags_all"`
}

// The key of every item of the record.
const (
	partitionKey = "pk"
	sortKey      = "sk"
)

func (m stateTableModel) expand() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   goString(m.Name),
		BillingMode: ddb.BillingModePayPerRequest,
		AttributeDefinitions: []ddb.AttributeDefinition{
			{AttributeName: aws.String(partitionKey), AttributeType: ddb.ScalarAttributeTypeS},
			{AttributeName: aws.String(sortKey), AttributeType: ddb.ScalarAttributeTypeS},
		},
		KeySchema: []ddb.KeySchemaElement{
			{AttributeName: aws.String(partitionKey), KeyType: ddb.KeyTypeHash},
			{AttributeName: aws.String(sortKey), KeyType: ddb.KeyTypeRange},
		},
		DeletionProtectionEnabled: aws.Bool(m.DeletionProtection.ValueBool()),
		SSESpecification:          m.encryption(),
	}
}

func (m stateTableModel) encryption() *ddb.SSESpecification {
	return &ddb.SSESpecification{Enabled: aws.Bool(true), SSEType: ddb.SSETypeKms, KMSMasterKeyId: goString(m.KMSKeyARN)}
}

// flatten reads all but backups and tags, which are not in the description.
// The key that AWS manages is no setting: only a key that was declared is kept.
func (m *stateTableModel) flatten(t *ddb.TableDescription) {
	m.ID = tfString(t.TableName)
	m.Name = tfString(t.TableName)
	m.ARN = tfString(t.TableArn)
	m.DeletionProtection = types.BoolValue(aws.ToBool(t.DeletionProtectionEnabled))
	if !m.KMSKeyARN.IsNull() {
		m.KMSKeyARN = tfString(aws.String(keyOf(t)))
	}
}

// keyOf is the ARN of a table's KMS key, "" for the one that AWS owns.
func keyOf(t *ddb.TableDescription) string {
	if t.SSEDescription == nil {
		return ""
	}
	return aws.ToString(t.SSEDescription.KMSMasterKeyArn)
}

func recoveryOn(d *ddb.ContinuousBackupsDescription) bool {
	return d != nil && d.PointInTimeRecoveryDescription != nil &&
		d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == ddb.PointInTimeRecoveryStatusEnabled
}

func dynamoTags(tags map[string]string) []ddb.Tag {
	out := make([]ddb.Tag, 0, len(tags))
	for _, k := range sortedKeys(tags) {
		out = append(out, ddb.Tag{Key: &k, Value: aws.String(tags[k])})
	}
	return out
}
