package provider

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

func (r *groupResource) describeTable(ctx context.Context, table string) (*ddb.TableDescription, error) {
	out, err := r.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (r *groupResource) tableARN(ctx context.Context, table string) (string, error) {
	t, err := r.describeTable(ctx, table)
	if err != nil {
		return "", err
	}
	return aws.ToString(t.TableArn), nil
}

// checkTableInPlan reports a table that no group may be created in as early as it can be read. A group that is
// there is warned of it.
func (r *groupResource) checkTableInPlan(ctx context.Context, m groupModel, creating bool) diag.Diagnostics {
	if m.TableName.IsUnknown() {
		return nil
	}
	t, err := r.describeTable(ctx, m.TableName.ValueString())
	if err != nil {
		return nil
	}
	return checkTable(t, creating)
}

// checkTable tells of a global table whose Regions each decide by their own copy, so that a conditional write
// decides nothing: assumption A3 of the guide on guarantees.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html#V2globaltables_HowItWorks.consistency-modes
func checkTable(t *ddb.TableDescription, fatal bool) (diags diag.Diagnostics) {
	if len(t.Replicas) == 0 || t.MultiRegionConsistency == ddb.MultiRegionConsistencyStrong {
		return nil
	}
	var regions []string
	for _, r := range t.Replicas {
		regions = append(regions, aws.ToString(r.RegionName))
	}
	diags.Append(diagnose.EventualTable(path.Root("table_name"), fatal, aws.ToString(t.TableName), strings.Join(regions, ", ")))
	return diags
}
