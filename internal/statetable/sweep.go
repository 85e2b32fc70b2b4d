package statetable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
)

// Sweep removes the SEEN items that expired before now and returns how many it
// removed. Strongly consistent global tables have no time to live
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html),
// so the control plane does it itself.
func (t *Table) Sweep(ctx context.Context, now time.Time) (int, error) {
	swept := 0
	var from item
	for {
		out, err := t.api.Scan(ctx, &dynamodb.ScanInput{
			TableName: &t.name, ExclusiveStartKey: from,
			FilterExpression:          ptr("begins_with(#pk, :seen) AND #sk = :sk AND #expires < :now"),
			ProjectionExpression:      ptr("#pk, #sk"),
			ExpressionAttributeNames:  map[string]string{"#pk": "pk", "#sk": "sk", "#expires": "expires_at"},
			ExpressionAttributeValues: item{":seen": str("SEEN#"), ":sk": str(skSeen), ":now": number(now.Unix())},
		})
		if err != nil {
			return swept, fmt.Errorf("look for expired events in table %s: %w", t.name, err)
		}
		for _, it := range out.Items {
			pk, ok := it["pk"].(*types.AttributeValueMemberS)
			if !ok {
				continue
			}
			err := t.delete(ctx, pk.Value, skSeen, condition{text: "#expires_at < :now", values: item{":now": number(now.Unix())}})
			if err != nil && !awsclient.IsConditionFailed(err) {
				return swept, errors.Join(fmt.Errorf("sweep %s", pk.Value), err)
			}
			swept++
		}
		if from = out.LastEvaluatedKey; len(from) == 0 {
			return swept, nil
		}
	}
}

func ptr(s string) *string { return &s }
