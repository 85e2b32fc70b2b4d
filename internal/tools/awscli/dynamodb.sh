for t in one two; do
	aws dynamodb create-table --table-name "cli-$t" --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=pk,AttributeType=S \
		--key-schema AttributeName=pk,KeyType=HASH --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES >/dev/null
done
aws dynamodb wait table-exists --table-name cli-two
want "dynamodb: tables, a page each" 2 "$(all aws dynamodb list-tables --page-size 1 --query TableNames)"
want "dynamodb: a page of tables has a next one" "$one_and_more" "$(first TableNames aws dynamodb list-tables)"
aws dynamodb put-item --table-name cli-one --item '{"pk":{"S":"x"},"n":{"N":"1"}}'
aws dynamodb put-item --table-name cli-one --item '{"pk":{"S":"y"},"n":{"N":"2"}}'
want "dynamodb: an update gives its result" 6 "$(aws dynamodb update-item --table-name cli-one --key '{"pk":{"S":"x"}}' --update-expression 'ADD n :n' \
	--expression-attribute-values '{":n":{"N":"5"}}' --return-values UPDATED_NEW --query Attributes.n.N --output text)"
want "dynamodb: a scan turns its pages" 2 "$(all aws dynamodb scan --table-name cli-one --page-size 1 --query 'Items[].pk.S')"
refused "dynamodb: a condition that does not hold" ConditionalCheckFailedException \
	aws dynamodb put-item --table-name cli-one --item '{"pk":{"S":"x"}}' --condition-expression 'attribute_not_exists(pk)'
refused "dynamodb: a table that does not exist" ResourceNotFoundException aws dynamodb get-item --table-name no-such --key '{"pk":{"S":"x"}}'

stream=$(aws dynamodbstreams list-streams --table-name cli-one --query 'Streams[0].StreamArn' --output text)
shard=$(aws dynamodbstreams describe-stream --stream-arn "$stream" --query 'StreamDescription.Shards[0].ShardId' --output text)
iterator=$(aws dynamodbstreams get-shard-iterator --stream-arn "$stream" --shard-id "$shard" --shard-iterator-type TRIM_HORIZON --query ShardIterator --output text)
want "dynamodbstreams: what was written, in order" "INSERT INSERT MODIFY" \
	"$(aws dynamodbstreams get-records --shard-iterator "$iterator" --query 'Records[].eventName' --output text | tr '\t' ' ')"
want "dynamodbstreams: a page of records" 1 "$(aws dynamodbstreams get-records --shard-iterator "$iterator" --limit 1 --query 'length(Records)')"
refused "dynamodbstreams: a stream that does not exist" ResourceNotFoundException \
	aws dynamodbstreams describe-stream --stream-arn "${stream%/*}/2000-01-01T00:00:00.000"

aws dynamodb delete-item --table-name cli-one --key '{"pk":{"S":"y"}}'
want "dynamodb: a deleted item is gone" None "$(aws dynamodb get-item --table-name cli-one --key '{"pk":{"S":"y"}}' --query Item.pk.S --output text)"
for t in one two; do aws dynamodb delete-table --table-name "cli-$t" >/dev/null; done
aws dynamodb wait table-not-exists --table-name cli-two
